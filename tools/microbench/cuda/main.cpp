// The program `microbench` on a real GPU.
#include "microbench/cuda/cuda_device.hpp"
#include "microbench/host/program.hpp"

#include <iostream>
#include <unistd.h>

int main(int argc, char** argv) {
  using namespace servecast::microbench;
  return run_program(std::vector<std::string>(argv + 1, argv + argc), cuda::open_device,
                     Console{std::cout, std::cerr, isatty(STDERR_FILENO) != 0});
}
