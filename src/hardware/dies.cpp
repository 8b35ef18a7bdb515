#include "hardware/dies.hpp"

#include "core/error.hpp"

namespace servecast::hardware {

Gpu one_die(const Gpu& gpu) {
  SERVECAST_ENSURE(gpu.dies >= 1 && gpu.sm_count % gpu.dies == 0, "{} SMs on {} dies", gpu.sm_count, gpu.dies);
  Gpu die = gpu;
  die.whole = gpu.name;
  die.name = gpu.name + " die";
  die.dies = 1;
  die.sm_count /= gpu.dies;
  die.memory.stacks /= gpu.dies;
  const double part = 1.0 / gpu.dies;
  for (double* share :
       {&die.l2_mb, &die.memory_gib, &die.memory_tb_s, &die.scale_up_gb_s, &die.pcie_gb_s, &die.nic_gbit_s, &die.tdp_w,
        &die.idle_w, &die.gpu_hour_usd, &die.memory.bus_bits, &die.memory.label_tb_s, &die.memory.chip_gb,
        &die.memory.fitted_gb, &die.power.loaded_idle_w, &die.power.active_w})
    *share *= part;
  for (Peaks* peaks : {&die.dense, &die.sparse})
    for (double* peak : {&peaks->bf16, &peaks->fp8, &peaks->fp4, &peaks->int8}) *peak *= part;
  return die;
}

}  // namespace servecast::hardware
