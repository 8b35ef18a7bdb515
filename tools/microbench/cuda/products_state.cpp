#include "microbench/cuda/products_state.hpp"

#include <utility>

namespace servecast::microbench::cuda {

namespace {

constexpr std::int64_t workspace_bytes = std::int64_t{64} << 20;

void checked(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw core::Error(fmt::format("{} failed: cuBLASLt status {}", what, static_cast<int>(status)));
}

template <class T>
void set(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  checked(cublasLtMatmulDescSetAttribute(d, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
}

cudaDataType_t type(Format f) {
  return f == Format::Bf16 ? CUDA_R_16BF : f == Format::Fp8 ? CUDA_R_8F_E4M3 : CUDA_R_4F_E2M1;
}

cublasLtMatrixLayout_t matrix(cudaDataType_t t, std::int64_t rows, std::int64_t columns) {
  cublasLtMatrixLayout_t out = nullptr;
  checked(
      cublasLtMatrixLayoutCreate(&out, t, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), rows),
      "cublasLtMatrixLayoutCreate");
  return out;
}

void set_scales(cublasLtMatmulDesc_t d, const Gemm& g, const Operands& in, const float* one) {
  if (g.format == Format::Bf16) return;
  const bool fp4 = g.format == Format::Nvfp4;
  // FP8 sums in the tensor cores' own precision, as serving engines ask for it; only Hopper knows a difference.
  if (!fp4) set(d, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  const void* const a = fp4 ? static_cast<const void*>(in.w_scales.data()) : one;
  const void* const b = fp4 ? static_cast<const void*>(in.x_scales.data()) : one;
  if (fp4) {
    const cublasLtMatmulMatrixScale_t mode = CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
    set(d, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode);
    set(d, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
  }
  set(d, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, a);
  set(d, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, b);
}

class Preference {
 public:
  Preference() {
    checked(cublasLtMatmulPreferenceCreate(&preference_), "cublasLtMatmulPreferenceCreate");
    const auto bytes = static_cast<std::size_t>(workspace_bytes);
    checked(cublasLtMatmulPreferenceSetAttribute(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                                 sizeof bytes),
            "cublasLtMatmulPreferenceSetAttribute");
  }
  ~Preference() { cublasLtMatmulPreferenceDestroy(preference_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  cublasLtMatmulPreference_t preference_ = nullptr;
};

}  // namespace

Products::State::State(Context& c) : context(c), workspace(workspace_bytes), one(1) {
  checked(cublasLtCreate(&handle), "cublasLtCreate");
  one.put({1.0F});
}
Products::State::~State() { cublasLtDestroy(handle); }

Products::Products(Context& c) : state_(std::make_unique<State>(c)) {}
Products::~Products() = default;

std::optional<Product> Product::find(Products::State& s, const Gemm& g, const Operands& in) {
  Product p;
  checked(cublasLtMatmulDescCreate(&p.operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
  const cublasOperation_t transposed = CUBLAS_OP_T, plain = CUBLAS_OP_N;
  set(p.operation_, CUBLASLT_MATMUL_DESC_TRANSA, transposed);
  set(p.operation_, CUBLASLT_MATMUL_DESC_TRANSB, plain);
  set_scales(p.operation_, g, in, s.one.data());
  p.w_ = matrix(type(g.format), g.k, g.n);
  p.x_ = matrix(type(g.format), g.k, g.m);
  p.out_ = matrix(CUDA_R_16BF, g.n, g.m);
  const Preference preference;
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(s.handle, p.operation_, p.w_, p.x_, p.out_, p.out_,
                                                               preference.get(), 1, &best, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) return std::nullopt;
  checked(status, "cublasLtMatmulAlgoGetHeuristic");
  p.algorithm_ = best.algo;
  return p;
}

Product::Product(Product&& o) noexcept
    : operation_(std::exchange(o.operation_, nullptr)),
      w_(std::exchange(o.w_, nullptr)),
      x_(std::exchange(o.x_, nullptr)),
      out_(std::exchange(o.out_, nullptr)),
      algorithm_(o.algorithm_) {}

Product::~Product() {
  for (const cublasLtMatrixLayout_t m : {w_, x_, out_})
    if (m != nullptr) cublasLtMatrixLayoutDestroy(m);
  if (operation_ != nullptr) cublasLtMatmulDescDestroy(operation_);
}

void Product::run(Products::State& s, const Operands& in, std::uint16_t* out, cudaStream_t stream) const {
  const float one = 1, zero = 0;
  checked(cublasLtMatmul(s.handle, operation_, &one, in.w.data(), w_, in.x.data(), x_, &zero, out, out_, out, out_,
                         &algorithm_, s.workspace.data(), static_cast<std::size_t>(s.workspace.count()), stream),
          "cublasLtMatmul");
}

}  // namespace servecast::microbench::cuda
