// The answer for a person at a terminal, never wider than 80 columns: the verdict in a sentence, the numbers that
// matter, then tables. Plain text unless colour is asked for.
#pragma once

#include <string>

namespace servecast::metrics {
struct Result;
}

namespace servecast::report {

enum class Colour { Off, On };

std::string summary(const metrics::Result& result, Colour colour = Colour::Off);

}  // namespace servecast::report
