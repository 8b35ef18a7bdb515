#include "architecture/sources.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace architecture {

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool wanted(const std::string& path, const std::vector<std::string>& endings) {
  if (endings.empty()) return true;
  return std::ranges::any_of(endings, [&](const std::string& e) { return path.ends_with(e); });
}

// A digit separator (1'000) is not the start of a character.
bool opens_character(std::string_view text, std::size_t i) {
  return text[i] == '\'' && (i == 0 || !identifier(text[i - 1]));
}

}  // namespace

std::string File::layer() const {
  if (!path.starts_with("src/")) return {};
  const auto slash = path.find('/', 4);
  return slash == std::string::npos ? std::string{} : path.substr(4, slash - 4);
}

bool File::is_header() const { return path.ends_with(".hpp"); }
bool File::is_cpp() const { return path.ends_with(".cpp"); }

std::vector<File> files(const std::vector<std::string>& roots, const std::vector<std::string>& endings) {
  const fs::path top = SERVECAST_SOURCE_DIR;
  std::vector<File> out;
  const auto take = [&](const fs::path& path) {
    const std::string name = fs::relative(path, top).generic_string();
    if (wanted(name, endings)) out.push_back({name, read(path)});
  };
  for (const auto& root : roots) {
    if (fs::is_regular_file(top / root)) take(top / root);
    if (!fs::is_directory(top / root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(top / root)) {
      if (entry.is_regular_file()) take(entry.path());
    }
  }
  std::ranges::sort(out, {}, &File::path);
  return out;
}

const std::vector<File>& sources() {
  static const std::vector<File> all = files({"src"}, {".hpp", ".cpp"});
  return all;
}

Layers read_layers() {
  Layers layers;
  std::istringstream in(read(fs::path(SERVECAST_SOURCE_DIR) / "src/LAYERS"));
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (line.starts_with('#') || colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon);
    layers.order.push_back(name);
    std::istringstream names(line.substr(colon + 1));
    for (std::string other; names >> other;) layers.allowed[name].insert(other);
    layers.allowed[name].insert(name);
  }
  return layers;
}

std::string code_only(std::string_view text) {
  std::string out(text);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, out.size()); ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
    return std::min(to, out.size());
  };
  const auto after = [&](std::string_view what, std::size_t from) {
    const auto at = text.find(what, from);
    return at == std::string_view::npos ? text.size() : at + what.size();
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with("//")) {
      i = blank(i, std::min(text.find('\n', i), text.size()));
    } else if (text.substr(i).starts_with("/*")) {
      i = blank(i, after("*/", i + 2));
    } else if (text.substr(i).starts_with("R\"")) {
      const auto open = text.find('(', i);
      const std::string close = ")" + std::string(text.substr(i + 2, open - i - 2)) + "\"";
      i = blank(i, after(close, open));
    } else if (text[i] == '"' || opens_character(text, i)) {
      const char quote = text[i];
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != quote && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return out;
}

std::string place(const File& file, std::size_t offset) {
  const auto end = file.text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, file.text.size()));
  return file.path + ":" + std::to_string(1 + std::count(file.text.begin(), end, '\n'));
}

std::vector<Include> includes(const File& file) {
  std::vector<Include> out;
  std::size_t offset = 0;
  std::istringstream in(file.text);
  for (std::string line; std::getline(in, line); offset += line.size() + 1) {
    if (!line.starts_with("#include ")) continue;
    const auto open = line.find_first_of("\"<");
    const auto close = line.find_last_of("\">");
    if (open == std::string::npos || close <= open) continue;
    out.push_back({line.substr(open + 1, close - open - 1), line[open] == '<', offset});
  }
  return out;
}

std::vector<std::size_t> find_word(std::string_view code, std::string_view word) {
  std::vector<std::size_t> out;
  for (auto at = code.find(word); at != std::string_view::npos; at = code.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !identifier(word.front()) || !identifier(code[at - 1]);
    const bool ends = end >= code.size() || !identifier(word.back()) || !identifier(code[end]);
    if (starts && ends) out.push_back(at);
  }
  return out;
}

}  // namespace architecture
