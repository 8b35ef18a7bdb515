// The parts of a Hugging Face config.json that the importers ask for, free of JSON types: a tree of named values. Keys
// whose value is null count as absent. Numbers that are no finite double are absent.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::model {

struct HfView {
  template <typename T>
  using Map = std::map<std::string, T, std::less<>>;

  Map<double> numbers;
  Map<bool> flags;
  Map<std::string> texts;
  Map<std::vector<std::string>> text_lists;
  Map<std::vector<double>> number_lists;
  Map<std::unique_ptr<HfView>> objects;
  Map<std::vector<std::unique_ptr<HfView>>> object_lists;

  bool has(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  bool flag(std::string_view key, bool otherwise = false) const;
  std::string text(std::string_view key) const;                                        // "" when absent
  const HfView* object(std::string_view key) const;                                    // null when absent
  const std::vector<std::string>& texts_of(std::string_view key) const;                // empty when absent
  const std::vector<double>& numbers_of(std::string_view key) const;                   // empty when absent
  const std::vector<std::unique_ptr<HfView>>& objects_of(std::string_view key) const;  // empty when absent
};

}  // namespace servecast::model
