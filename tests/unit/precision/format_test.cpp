#include "precision/format.hpp"

#include "catch.hpp"

using namespace servecast::precision;

TEST_CASE("bytes per element include the block scales that travel with the elements") {
  CHECK(bytes_per_element(Format::Float32) == 4.0);
  CHECK(bytes_per_element(Format::BFloat16) == 2.0);
  CHECK(bytes_per_element(Format::Float16) == 2.0);
  CHECK(bytes_per_element(Format::Fp8) == 1.0);
  CHECK(bytes_per_element(Format::Int8) == 1.0);
  CHECK(bytes_per_element(Format::Fp8Block) == 1.0 + 4.0 / 16384.0);
  CHECK(bytes_per_element(Format::Nvfp4) == 0.5625);
  CHECK(bytes_per_element(Format::Mxfp4) == 0.53125);
  CHECK(bytes_per_element(Format::Mxfp8) == 1.03125);
  CHECK(bytes_per_element(Format::Int4Group128) == 0.515625);
  CHECK(bytes_per_element(Format::Int4Group32) == 0.5625);
}

TEST_CASE("block-scaled FP8 activations carry one FP32 scale per 128 elements") {
  CHECK(activation_bytes(Format::Fp8Block) == 1.03125);
  CHECK(activation_bytes(Format::BFloat16) == 2.0);
  CHECK(activation_bytes(Format::Nvfp4) == 0.5625);
}

TEST_CASE("an NVFP4 expert of DeepSeek-V3 takes 24.8 MB and three tensor scales") {
  const std::int64_t expert = 2 * matrix_bytes(Format::Nvfp4, 2048, 7168) + matrix_bytes(Format::Nvfp4, 7168, 2048);
  CHECK(expert == 3 * 7168 * 2048 / 16 * 9 + 3 * 4);
}

TEST_CASE("scale blocks are rounded up to whole ones") {
  CHECK(matrix_bytes(Format::Fp8Block, 576, 7168) == 576 * 7168 + 5 * 56 * 4);
  CHECK(matrix_bytes(Format::Mxfp4, 2, 40) == 40 + 2 * 2);
  CHECK(matrix_bytes(Format::Int4Group128, 1, 129) == 65 + 2 * 2);
  CHECK(matrix_bytes(Format::BFloat16, 3, 5) == 30);
  CHECK(matrix_bytes(Format::Fp8Block, 0, 128) == 0);
}

TEST_CASE("formats are named as users write them") {
  CHECK(name(Format::Fp8Block) == "fp8_block");
  CHECK(name(Format::Int4Group32) == "int4_g32");
  CHECK(names_of(Format{}).size() == static_cast<std::size_t>(Format::Int4Group32) + 1);
  CHECK(is_four_bit(Format::Mxfp4));
  CHECK_FALSE(is_four_bit(Format::Fp8));
}
