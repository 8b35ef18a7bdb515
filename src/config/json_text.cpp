#include "config/json_text.hpp"

#include "config/number_text.hpp"
#include "config/utf8.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

namespace servecast::config {

namespace {

// Escapes of RFC 8259; DEL needs none.
std::string escaped(char c) {
  switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    const char first = text[0];
    if (length == 0) {
      result += "\\ufffd";
    } else if (length == 1 && (static_cast<unsigned char>(first) < 0x20 || first == '"' || first == '\\')) {
      result += escaped(first);
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result + '"';
}

void JsonWriter::line() {
  if (layout_ == Layout::Compact) return;
  out_ += '\n';
  out_.append(2 * open_.size(), ' ');
}

// Before a key, or before a value that has none.
void JsonWriter::separate() {
  if (open_.empty()) {
    SERVECAST_ENSURE(out_.empty(), "a JSON text holds one value, not two");
    return;
  }
  if (!empty_) out_ += ',';
  empty_ = false;
  line();
}

void JsonWriter::name(std::string_view key) {
  SERVECAST_ENSURE(!open_.empty() && open_.back() == '}' && !named_, "key {} outside an object", key);
  separate();
  out_ += json_quoted(key);
  out_ += layout_ == Layout::Compact ? ":" : ": ";
  named_ = true;
}

void JsonWriter::scalar(std::string_view text) {
  if (!named_) {
    SERVECAST_ENSURE(open_.empty() || open_.back() == ']', "value {} without a key in an object", text);
    separate();
  }
  named_ = false;
  out_ += text;
}

void JsonWriter::open(char bracket) {
  scalar(std::string_view(&bracket, 1));
  open_.push_back(bracket == '{' ? '}' : ']');
  empty_ = true;
}

void JsonWriter::close(char bracket) {
  SERVECAST_ENSURE(!open_.empty() && open_.back() == bracket && !named_, "unbalanced {} in JSON", bracket);
  open_.pop_back();
  if (!empty_) line();
  out_ += bracket;
  empty_ = false;
}

void JsonWriter::number(double v) { scalar(number_text(v)); }

void JsonWriter::quoted(std::string_view v) { scalar(json_quoted(v)); }

std::string JsonWriter::text() const {
  SERVECAST_ENSURE(open_.empty() && !out_.empty(), "JSON text is incomplete: {} brackets are open", open_.size());
  return layout_ == Layout::Compact ? out_ : out_ + '\n';
}

}  // namespace servecast::config
