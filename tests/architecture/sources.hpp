// The project's own files as text, for tests that read the sources instead of running them. Paths are relative to the
// checkout, '/'-separated and sorted. Folders that the project does not own (build, out, .git) are never entered.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace architecture {

struct File {
  std::string path;
  std::string text;
  std::string layer() const;  // "engine" of src/engine/x.cpp, else empty
  bool is_header() const;
  bool is_cpp() const;
};

// Every file under the given folders or files of the checkout whose name ends in one of the endings (all if none).
std::vector<File> files(const std::vector<std::string>& roots, const std::vector<std::string>& endings = {});
// Headers and .cpp files under src.
const std::vector<File>& sources();
// layer -> layers it may include, as src/LAYERS states them, and their order.
struct Layers {
  std::vector<std::string> order;
  std::map<std::string, std::set<std::string>> allowed;
};
Layers read_layers();

// The same text with comments and the content of strings blanked, so that only code is searched. Lines stay in place.
std::string code_only(std::string_view text);
// "path:line" of an offset.
std::string place(const File& file, std::size_t offset);
// Names in "..." (or <...>) of every #include, with their offsets.
struct Include {
  std::string name;
  bool angled = false;
  std::size_t offset = 0;
};
std::vector<Include> includes(const File& file);
// Offsets where `word` stands in code, not as part of a longer identifier. Ends with '(': only as a call.
std::vector<std::size_t> find_word(std::string_view code, std::string_view word);

// One violation a line, for the message of a failed check; empty when all is well.
class Findings {
 public:
  void add(const std::string& place, const std::string& what) { text_ += "\n  " + place + ": " + what; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace architecture
