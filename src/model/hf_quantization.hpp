// Number formats of a quantised checkpoint by tensor class, from a config's quantization_config or a hf_quant_config:
// block FP8, per-tensor FP8, compressed-tensors, ModelOpt (FP8, NVFP4), MXFP4, AWQ and GPTQ, with their lists of
// excluded modules. Routers, LM head and embedding stay in 16 bits, as engines load them. Schemes that mix formats
// layer by layer are refused.
#pragma once

#include "model/hf_families.hpp"

namespace servecast::model {

// Fills a.formats. r.view is the object that states the quantisation. Requires: a's counts are read and valid.
void read_quantization(HfReading& r, Architecture& a);

}  // namespace servecast::model
