// Prints for which targets a CUDA program holds code, one a line: "elf sm_90a", "ptx sm_80". A reader of our own,
// because not every installation of the compiler brings cuobjdump. Usage: fatbin_targets PROGRAM.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace {

// Layout of embedded code as nvcc 13 writes it (observed): a header of 16 bytes - magic, version and its own size in
// two 16-bit words, bytes of all entries in 64 - and entries: kind (1 PTX, 2 ELF) in 16 bits, at byte 4 the size of the
// entry's header in 32, at 8 that of its content in 64, at 28 the architecture in 32, at 40 flags in 64, of which bit
// 20 says that the code is for this architecture alone.
constexpr std::uint32_t magic = 0xba55ed50;
constexpr std::uint64_t for_one_architecture = std::uint64_t{1} << 20;

template <class T>
T at(const std::vector<char>& data, std::size_t offset) {
  T value{};
  if (offset + sizeof(T) <= data.size()) std::memcpy(&value, data.data() + offset, sizeof(T));
  return value;
}

std::string target(const std::vector<char>& data, std::size_t entry) {
  const auto kind = at<std::uint16_t>(data, entry);
  const bool one = (at<std::uint64_t>(data, entry + 40) & for_one_architecture) != 0;
  return std::string(kind == 1 ? "ptx" : "elf") + " sm_" + std::to_string(at<std::uint32_t>(data, entry + 28)) +
         (one ? "a" : "");
}

std::set<std::string> targets(const std::vector<char>& data) {
  std::set<std::string> out;
  for (std::size_t i = 0; i + 16 <= data.size(); i += 4) {
    const auto header = at<std::uint16_t>(data, i + 6);
    if (at<std::uint32_t>(data, i) != magic || header != 16) continue;
    const std::size_t end = i + header + at<std::uint64_t>(data, i + 8);
    if (end > data.size()) continue;
    for (std::size_t entry = i + header; entry + 48 <= end;) {
      const auto kind = at<std::uint16_t>(data, entry);
      const std::uint64_t size = at<std::uint32_t>(data, entry + 4) + at<std::uint64_t>(data, entry + 8);
      if ((kind == 1 || kind == 2) && size <= end - entry) out.insert(target(data, entry));
      if (size < 48 || size > end - entry) break;
      entry += size;
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::cerr << "usage: fatbin_targets PROGRAM\n", 2;
  std::ifstream in(argv[1], std::ios::binary);
  if (!in) return std::cerr << "cannot read " << argv[1] << "\n", 1;
  const std::vector<char> data(std::istreambuf_iterator<char>(in), {});
  for (const std::string& line : targets(data)) std::cout << line << "\n";
  return 0;
}
