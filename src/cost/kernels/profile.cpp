#include "cost/kernels/profile.hpp"

#include "config/fields.hpp"

namespace servecast::cost::kernels {

void describe(config::Fields& f, Source& s) {
  f.required("file", s.file, "operator table");
  f.required("sha256", s.sha256, "hash of the file as read");
  f.required("rows", s.rows, config::closed(0, 1e12), "rows in the file");
  f.required("used", s.used, config::closed(0, 1e12), "rows fitted");
  f.field("dropped", s.dropped, "rows left out, by reason");
}

void describe(config::Fields& f, KernelProfile& p) {
  f.required("gpu", p.gpu, "GPU that was measured");
  f.required("architecture", p.architecture, "architecture of that GPU");
  f.required("stack", p.stack, "engine and version that was measured");
  f.field("source", p.source, "where the numbers come from");
  f.field("note", p.note, "what to know before using it");
  f.required("sources", p.sources, "operator tables fitted");
  f.field("fits", p.fits, "fitted kernel families");
  f.field("curves", p.curves, "measured curves of collectives");
}

}  // namespace servecast::cost::kernels
