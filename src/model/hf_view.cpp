#include "model/hf_view.hpp"

namespace servecast::model {

bool HfView::has(std::string_view key) const {
  return numbers.contains(key) || flags.contains(key) || texts.contains(key) || text_lists.contains(key) ||
         number_lists.contains(key) || objects.contains(key) || object_lists.contains(key);
}

std::optional<double> HfView::number(std::string_view key) const {
  const auto found = numbers.find(key);
  if (found == numbers.end()) return std::nullopt;
  return found->second;
}

bool HfView::flag(std::string_view key, bool otherwise) const {
  const auto found = flags.find(key);
  return found == flags.end() ? otherwise : found->second;
}

std::string HfView::text(std::string_view key) const {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string() : found->second;
}

const HfView* HfView::object(std::string_view key) const {
  const auto found = objects.find(key);
  return found == objects.end() ? nullptr : found->second.get();
}

const std::vector<std::string>& HfView::texts_of(std::string_view key) const {
  static const std::vector<std::string> none;
  const auto found = text_lists.find(key);
  return found == text_lists.end() ? none : found->second;
}

const std::vector<std::unique_ptr<HfView>>& HfView::objects_of(std::string_view key) const {
  static const std::vector<std::unique_ptr<HfView>> none;
  const auto found = object_lists.find(key);
  return found == object_lists.end() ? none : found->second;
}

const std::vector<double>& HfView::numbers_of(std::string_view key) const {
  static const std::vector<double> none;
  const auto found = number_lists.find(key);
  return found == number_lists.end() ? none : found->second;
}

}  // namespace servecast::model
