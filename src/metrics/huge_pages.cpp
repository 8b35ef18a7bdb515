#include "metrics/huge_pages.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstdint>
#include <new>

namespace servecast::metrics {

namespace {

std::align_val_t alignment_for(std::size_t bytes) { return std::align_val_t{bytes >= huge_page ? huge_page : 64}; }

}  // namespace

void advise_huge_pages(void* memory, std::size_t bytes) {
#if defined(__linux__)
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + huge_page - 1) / huge_page * huge_page;
  const std::uintptr_t last = (begin + bytes) / huge_page * huge_page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  (void)memory, (void)bytes;
#endif
}

void* allocate_pages(std::size_t bytes) {
  void* memory = ::operator new(bytes, alignment_for(bytes));
  advise_huge_pages(memory, bytes);
  return memory;
}

void free_pages(void* memory, std::size_t bytes) { ::operator delete(memory, alignment_for(bytes)); }

}  // namespace servecast::metrics
