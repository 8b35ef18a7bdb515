// Memory for large arrays, on huge pages where the system grants them: in virtual machines the first touch of a small
// page costs microseconds, which for the records of a million requests would be a tenth of a second. Only a hint:
// results and limits do not depend on it.
#pragma once

#include <cstddef>

namespace servecast::metrics {

inline constexpr std::size_t huge_page = std::size_t{1} << 21;  // bytes, x86-64 and arm64 with 4 KiB base pages

// Uninitialised bytes, aligned to a huge page when they fill one. Throws std::bad_alloc.
void* allocate_pages(std::size_t bytes);
void free_pages(void* memory, std::size_t bytes);

// Asks for huge pages inside [memory, memory + bytes), before it is first touched.
void advise_huge_pages(void* memory, std::size_t bytes);

}  // namespace servecast::metrics
