#include "cost/kernels/profile.hpp"

#include "config/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace servecast::cost::kernels {

namespace {

// Documents hold each list of knots once: fits of a family share theirs.
void number_axes(KernelProfile& p) {
  p.knots.clear();
  for (Fit& fit : p.fits)
    for (SurfaceData& s : fit.surfaces) {
      s.numbers.clear();
      for (const std::vector<double>& axis : s.axes) {
        const auto at = std::find(p.knots.begin(), p.knots.end(), axis);
        s.numbers.push_back(static_cast<std::int32_t>(at - p.knots.begin()));
        if (at == p.knots.end()) p.knots.push_back(axis);
      }
    }
}

void resolve_axes(config::Fields& f, KernelProfile& p) {
  for (std::size_t i = 0; i < p.fits.size(); ++i)
    for (std::size_t j = 0; j < p.fits[i].surfaces.size(); ++j) {
      SurfaceData& s = p.fits[i].surfaces[j];
      s.axes.clear();
      for (const std::int32_t n : s.numbers) {
        if (static_cast<std::size_t>(n) >= p.knots.size())
          return f.problem("fits",
                           fmt::format("surface {} of fit {}: axis {} of {} lists of knots", j, i, n, p.knots.size()));
        s.axes.push_back(p.knots[static_cast<std::size_t>(n)]);
      }
      if (const std::string what = flaw(s); !what.empty())
        f.problem("fits", fmt::format("surface {} of fit {}: {}", j, i, what));
    }
}

void describe_knots(config::Fields& f, std::vector<std::vector<double>>& knots) {
  f.on_list({"knots", "lists of ascending knots, which the axes of surfaces name by number", true},
            {[&knots] { return knots.size(); }, [&knots](std::size_t n) { knots.resize(n); },
             [&knots](std::size_t i, config::Fields& inner) {
               std::vector<double>& axis = knots[i];
               inner.on_list({"", "", false},
                             {[&axis] { return axis.size(); }, [&axis](std::size_t n) { axis.resize(n); },
                              [&axis](std::size_t j, config::Fields& knot) {
                                knot.on_number({"", "", false}, axis[j], config::above(0));
                              }});
             }});
}

}  // namespace

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
  if (!f.reading()) number_axes(p);
  describe_knots(f, p.knots);
  f.field("fits", p.fits, "fitted kernel families");
  if (f.reading()) resolve_axes(f, p);
  f.field("curves", p.curves, "measured curves of collectives");
}

}  // namespace servecast::cost::kernels
