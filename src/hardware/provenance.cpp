#include "hardware/provenance.hpp"

#include "config/fields.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace servecast::hardware {
namespace {

class NumberCollector final : public config::Fields {
 public:
  std::vector<NumberKey> found;

  void on_bool(const config::Meta&, bool&) override {}
  void on_int(const config::Meta& meta, std::int64_t& value, config::Range) override { add(meta, value == 0); }
  void on_number(const config::Meta& meta, double& value, config::Range) override { add(meta, value == 0.0); }
  void on_text(const config::Meta&, std::string&) override {}
  void on_choice(const config::Meta&, std::size_t&, std::span<const std::string_view>) override {}
  void on_object(const config::Meta& meta, const config::Visit& body) override {
    const std::string outer = prefix_;
    prefix_ += std::string(meta.key) + ".";
    body(*this);
    prefix_ = outer;
  }
  void on_list(const config::Meta&, const config::ListAccess&) override {}
  void on_reference(const config::Meta&, config::Reference&) override {}
  bool on_optional(const config::Meta&, bool present) override { return present; }
  void exactly_one_of(std::span<const std::string_view>, bool) override {}

 private:
  std::string prefix_;

  void add(const config::Meta& meta, bool zero) { found.push_back({prefix_ + std::string(meta.key), zero}); }
};

}  // namespace

std::vector<NumberKey> number_keys(const std::function<void(config::Fields&)>& describe_profile) {
  NumberCollector collector;
  describe_profile(collector);
  return std::move(collector.found);
}

void check_origin(const std::vector<NumberKey>& numbers, const std::vector<Origin>& origin, const Complain& complain) {
  std::set<std::string, std::less<>> stated;
  for (const Origin& o : origin) {
    if (o.source.empty()) complain("origin", "an origin has no source; name the document or measurement");
    for (const std::string& key : o.keys) {
      const auto number =
          std::find_if(numbers.begin(), numbers.end(), [&](const NumberKey& n) { return n.key == key; });
      if (number == numbers.end()) {
        complain("origin",
                 fmt::format("\"{}\" is no number of this profile; nested keys are written \"dense.bf16\"", key));
      } else if (number->zero) {
        complain("origin",
                 fmt::format("\"{}\" has an origin but is 0 or absent; give the number or drop the key", key));
      }
      if (!stated.insert(key).second) complain("origin", fmt::format("\"{}\" has two origins; keep one", key));
    }
  }
  for (const NumberKey& n : numbers) {
    if (!n.zero && !stated.contains(n.key)) {
      complain("origin", fmt::format("\"{}\" has no origin; say its kind (measured, specified, derived, assumed) and "
                                     "source",
                                     n.key));
    }
  }
}

const Origin* origin_of(const std::vector<Origin>& origin, std::string_view key) {
  for (const Origin& o : origin) {
    if (std::find(o.keys.begin(), o.keys.end(), key) != o.keys.end()) return &o;
  }
  return nullptr;
}

}  // namespace servecast::hardware
