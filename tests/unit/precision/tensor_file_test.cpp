#include "precision/tensor_file.hpp"

#include "catch.hpp"
#include "core/error.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace servecast;
using namespace servecast::precision;

namespace {

class File {
 public:
  explicit File(const std::string& bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "servecast-tensor-XXXXXX").string();
    const int handle = mkstemp(name.data());
    REQUIRE(handle >= 0);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string npy(int version, std::string header, const std::string& data) {
  header += "\n";
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>(header.size() >> (8 * i));
  return out + header + data;
}

const std::string two_floats = std::string("\0\0\x80\x3F\0\0\0\xC0", 8);  // 1, -2
const std::string plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";

void refused(const std::string& bytes, const std::string& part) {
  const File file(bytes);
  try {
    read_npy(file.path());
    FAIL("not refused: " << part);
  } catch (const core::InputError& error) {
    INFO(error.what());
    REQUIRE(error.lines().size() == 1);
    CHECK(error.lines()[0].find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("all three versions of .npy are read") {
  for (const int version : {1, 2, 3}) {
    const File file(npy(version, plain, two_floats));
    const Tensor t = read_npy(file.path());
    CHECK(t.values == std::vector<float>{1.0F, -2.0F});
    CHECK(t.rows() == 1);
    CHECK(t.columns() == 2);
  }
}

TEST_CASE("half and double precision are read, the last dimension as columns") {
  const File half(npy(1, "{'shape': (2, 1, 2), 'descr': '<f2', 'fortran_order': False}",
                      std::string("\x00\x3C\x00\xC0\x01\x00\x00\x7C", 8)));
  const Tensor t = read_npy(half.path());
  CHECK(t.rows() == 2);
  CHECK(t.columns() == 2);
  CHECK(t.values[0] == 1.0F);
  CHECK(t.values[1] == -2.0F);
  CHECK(t.values[2] == 0x1p-24F);
  CHECK(std::isinf(t.values[3]));
  const File scalar(
      npy(1, "{\"descr\": \"<f8\", 'fortran_order': False, 'shape': ()}", std::string("\0\0\0\0\0\0\xF8\x3F", 8)));
  CHECK(read_npy(scalar.path()).values == std::vector<float>{1.5F});
}

TEST_CASE("raw values are read in the type and shape given") {
  const File file(std::string("\x80\x3F\x00\xC0\x00\x00\xC0\x7F", 8));
  const Tensor t = read_raw(file.path(), {FileType::BFloat16, {2, 2}});
  CHECK(t.values[0] == 1.0F);
  CHECK(t.values[1] == -2.0F);
  CHECK(std::isnan(t.values[3]));
  CHECK_THROWS_WITH(read_raw(file.path(), {FileType::Float32, {3}}), Catch::Contains("3 elements of float32 need 12"));
  CHECK_THROWS_WITH(read_raw(file.path(), {FileType::Float32, {0}}), Catch::Contains("has no element"));
  CHECK_THROWS_WITH(read_raw(file.path(), {FileType::Float32, {1 << 20, 1 << 20}}), Catch::Contains("more than"));
}

TEST_CASE("files that are not as they should be are refused by what is wrong") {
  refused("", "too short");
  refused("PK\x03\x04 something", "does not start with");
  refused(npy(4, plain, two_floats), "version 4");
  refused(npy(1, plain, two_floats).substr(0, 20), "ends inside its header");
  refused(npy(1, plain, two_floats.substr(1)), "7 bytes of values, but 2 elements of float32 need 8");
  refused(npy(1, plain, two_floats + "x"), "9 bytes of values");
  refused(npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}", two_floats), "Fortran order");
  refused(npy(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", two_floats), "\">f4\" is not read");
  refused(npy(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}", two_floats), "\"<i4\" is not read");
  refused(npy(1, "{'descr': '<V2', 'fortran_order': False, 'shape': (4,)}", two_floats), "--dtype bfloat16");
  refused(npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", two_floats), "structured");
  refused(npy(1, "{'descr': '<f4', 'fortran_order': False}", two_floats), "lacks");
  refused(npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", two_floats), "\"x\" is unknown");
  refused(npy(1, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", two_floats), "twice");
  refused(npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -1)}", two_floats), "whole numbers");
  refused(npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2)}", ""), "has no element");
  refused(npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} tail", two_floats), "after the header");
  refused(npy(1, "not a dictionary", two_floats), "no dictionary");
  refused(npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", std::string("\0\0\0\0\0\0\xF0\x7E", 8)),
          "beyond FP32");
}

TEST_CASE("a file that is not there is the outside world") {
  CHECK_THROWS_AS(read_npy("/no/such/file.npy"), core::Error);
  CHECK_THROWS_AS(read_npy("/"), core::Error);
}
