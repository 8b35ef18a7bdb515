// How a row of each operator table becomes a key, features and a time: the schemas of docs/models/kernels.md.
#pragma once

#include "calibrate/dataset.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace servecast::calibrate {

enum class Schema { Gemm, Attention, Mla, MlaBmm, Moe, Scale, AllReduce, Nccl, ExchangeLl, ExchangeNormal, Machine };

// By its columns. Nothing: no known table has them.
std::optional<Schema> schema_of(const OperatorTable& table);

// What one row says; a table row may measure two kernels (dispatch and combine).
struct Measured {
  Key key;
  Observation row;
  MoeCurve curve{};  // MoE only
};

// Parses rows of one table; keeps the expert loads it has drawn.
class RowReader {
 public:
  RowReader(Schema schema, std::string table);
  // Appends what the row measures; otherwise the reason why it cannot be used.
  std::string read(OperatorTable& t, std::vector<Measured>& out);

 private:
  std::string gemm(OperatorTable& t, std::vector<Measured>& out);
  std::string attention(OperatorTable& t, std::vector<Measured>& out);
  std::string mla(OperatorTable& t, std::vector<Measured>& out);
  std::string mla_bmm(OperatorTable& t, std::vector<Measured>& out);
  std::string moe(OperatorTable& t, std::vector<Measured>& out);
  std::string scale(OperatorTable& t, std::vector<Measured>& out);
  std::string exchange(OperatorTable& t, std::vector<Measured>& out, bool low_latency);
  const cost::kernels::ExpertLoad& load(double tokens, double experts, double top_k, double ep, double alpha);

  Schema schema_;
  std::string table_;
  std::map<std::tuple<double, double, double, double, double>, cost::kernels::ExpertLoad> loads_;
};

// One point of a collective's curve.
struct CurvePoint {
  std::string op;
  std::string mode;
  std::int32_t ranks = 0;
  double bytes = 0;
  double us = 0;
};
std::string read_curve_point(Schema schema, OperatorTable& t, CurvePoint& out);

// One row of a machine table.
std::string read_machine(OperatorTable& t, MachineRow& out);

}  // namespace servecast::calibrate
