// Rules of a model that states its blocks one by one. Internal to model.
#pragma once

#include "model/architecture.hpp"

namespace servecast::model {

// Of one attention; complain takes keys inside it.
void check_attention(const Attention& a, const Complain& complain);

// Requires: a.blocks.
void check_blocks(const Architecture& a, const Complain& complain);

}  // namespace servecast::model
