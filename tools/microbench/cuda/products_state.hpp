// How cuBLASLt is called: out[m][n] = x[m][k] w[n][k]^T in row-major terms is, in its column-major ones, the n x m
// product of w transposed and x, both with leading dimension k. That is the one form in which it multiplies all
// formats.
#pragma once

#include "microbench/cuda/context.hpp"
#include "microbench/cuda/measures.hpp"

#include <cublasLt.h>
#include <optional>

namespace servecast::microbench::cuda {

struct Products::State {
  explicit State(Context& c);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Context& context;
  cublasLtHandle_t handle = nullptr;
  Buffer<std::uint8_t> workspace;
  Buffer<float> one;  // scale of FP8 tensors
};

struct Operands {
  Operands(const Gemm& g, Context& c);
  Buffer<std::uint8_t> x, w, x_scales, w_scales;

 private:
  static std::int64_t bytes(const Gemm& g, std::int64_t rows);
  static std::int64_t scales(const Gemm& g, std::int64_t rows);
  static void fill(const Gemm& g, std::int64_t rows, const Buffer<std::uint8_t>& to,
                   const Buffer<std::uint8_t>& to_scales, std::uint64_t stream, std::uint64_t scale_stream,
                   cudaStream_t s);
};

// One product with its chosen algorithm. Scale pointers are those of the operands it was found with.
class Product {
 public:
  static std::optional<Product> find(Products::State& s, const Gemm& g, const Operands& in);
  ~Product();
  Product(Product&& other) noexcept;
  Product& operator=(Product&&) = delete;
  void run(Products::State& s, const Operands& in, std::uint16_t* out, cudaStream_t stream) const;

 private:
  Product() = default;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t w_ = nullptr, x_ = nullptr, out_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace servecast::microbench::cuda
