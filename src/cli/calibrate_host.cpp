// `calibrate host`: fits the host constants of a stack to measured serving rows.
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "core/error.hpp"
#include "fidelity/host_fit.hpp"

namespace servecast::cli {

int calibrate_host(const CalibrateOptions& o) {
  if (o.stack.empty()) throw core::InputError("--stack", "name the stack to fit, e.g. vllm-0.19");
  if (o.files.size() != 1) throw core::InputError("calibrate host", "give one file of measured rows");
  watch_signals();
  fidelity::HostFitOptions how;
  how.threads = o.threads;
  how.leave_one_out = !o.quick;
  how.stop = &interrupted();
  how.progress = [](const std::string& stage) { warn("fitting: " + stage); };
  const fidelity::HostFit fit = fidelity::fit_host(fidelity::load_csv(o.files[0]), o.files[0], o.stack, how);
  if (fit.interrupted) return exit_interrupted;
  print(fidelity::host_fit_text(fit));
  return exit_done;
}

}  // namespace servecast::cli
