#include "config/document.hpp"

#include "catch.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace servecast;
using servecast::config::Document;

namespace {

namespace fs = std::filesystem;

// A folder of its own that is gone after the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("servecast_config_test_{}", getpid())) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path put(const std::string& name, std::string_view text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string input_error(std::string_view json) {
  try {
    Document::from_text(json, "a.json");
  } catch (const core::InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("syntax errors name line and column") {
  CHECK(input_error("{\n  \"a\": 1,\n  \"b\": }") ==
        "a.json:3:8: syntax error while parsing value - unexpected '}'; expected '[', '{', or a literal");
  CHECK_THAT(input_error("{\"a\": 1"), Catch::StartsWith("a.json:1:") && Catch::Contains("unexpected end of input"));
  CHECK_THAT(input_error("{} x"), Catch::StartsWith("a.json:1:4: "));
  CHECK_THAT(input_error("{\"a\": \"\xFF\"}"), Catch::Contains("UTF-8"));
  CHECK_THAT(input_error("{\"a\": NaN}"), Catch::Contains("NaN and Infinity are not JSON numbers"));
  CHECK_THAT(input_error("{\"a\": -Infinity}"), Catch::Contains("NaN and Infinity are not JSON numbers"));
  CHECK_THAT(input_error("{\"a\": 1e999}"), Catch::StartsWith("a.json:1:11: number overflow"));
}

TEST_CASE("empty texts, other kinds of value and Git LFS pointers are told apart") {
  CHECK(input_error(" \n") == "a.json: the document is empty; expected a JSON object");
  CHECK(input_error("[1]") == "a.json: expected a JSON object, found array");
  CHECK_THAT(input_error("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"),
             Catch::Contains("Git LFS pointer"));
}

TEST_CASE("every duplicate key is reported") {
  CHECK(input_error(R"({"a": {"b": 1, "b": 2}, "l": [0, {"c": 1, "c": 1}], "a": 3})") ==
        "a.json:/a/b: the key appears twice; keep one\n"
        "a.json:/l/1/c: the key appears twice; keep one\n"
        "a.json:/a: the key appears twice; keep one");
}

TEST_CASE("nesting up to 64 levels is read, beyond it is refused") {
  const auto nested = [](int levels) {
    return "{\"a\":" + std::string(static_cast<std::size_t>(levels - 1), '[') +
           std::string(static_cast<std::size_t>(levels - 1), ']') + "}";
  };
  CHECK(input_error(nested(64)).empty());
  CHECK_THAT(input_error(nested(65)), Catch::EndsWith("nested deeper than 64 levels"));
  CHECK_THAT(input_error(nested(1'000'000)), Catch::EndsWith("nested deeper than 64 levels"));
}

TEST_CASE("comments are skipped and the editor's $schema key is dropped") {
  const Document d = Document::from_text("/* a */ {\"$schema\": \"x.json\", // b\n \"k\": 1}", "a.json");
  CHECK(d.text() == R"({"k":1})");
  CHECK(d.contains("/k"));
  CHECK_FALSE(d.contains("/$schema"));
}

TEST_CASE("a document extends another by merge patch, and places name the file that has the say") {
  const Folder folder;
  folder.put("base.json", R"({"a": {"x": 1, "y": 2}, "l": [1, 2], "gone": 1})");
  const fs::path over = folder.put(
      "sub/over.json", R"({"extends": "../base.json", "a": {"y": 3, "z": {"n": null}}, "l": [9], "gone": null})");
  const Document d = Document::load(over);
  CHECK(d.text() == R"({"a":{"x":1,"y":3,"z":{}},"l":[9]})");
  const std::string base_place = (folder / "base.json").string();
  CHECK(d.place("/a/x") == base_place + ":/a/x");
  CHECK(d.place("/a/y") == over.string() + ":/a/y");
  CHECK(d.place("/a/z/new") == over.string() + ":/a/z/new");
  CHECK(d.place("/l/0") == over.string() + ":/l/0");
  CHECK(d.place("") == base_place + ":/");
}

TEST_CASE("extends is refused when circular, too long or not a path, and names who extends a missing file") {
  const Folder folder;
  const fs::path self = folder.put("self.json", R"({"extends": "other.json"})");
  folder.put("other.json", R"({"extends": "./self.json"})");
  CHECK_THROWS_WITH(Document::load(self), Catch::Contains("extends itself"));
  CHECK_THROWS_WITH(Document::load(folder.put("n.json", R"({"extends": 3})")), Catch::Contains("expected the path"));
  for (int i = 0; i < 20; ++i) {
    folder.put(fmt::format("c{}.json", i), fmt::format(R"({{"extends": "c{}.json"}})", i + 1));
  }
  folder.put("c20.json", "{}");
  CHECK_THROWS_WITH(Document::load(folder / "c0.json"), Catch::Contains("more than 16 documents"));
  CHECK_NOTHROW(Document::load(folder / "c4.json"));
  const fs::path lost = folder.put("lost.json", R"({"extends": "nowhere.json"})");
  CHECK_THROWS_AS(Document::load(lost), core::Error);
  CHECK_THROWS_WITH(Document::load(lost), Catch::Contains("nowhere.json") && Catch::Contains("extended by"));
  CHECK_THROWS_WITH(Document::from_text(R"({"extends": "x.json"})", "a.json"),
                    Catch::Contains("only a document in a file"));
}

TEST_CASE("stored documents extend each other by name, and neither themselves nor files") {
  const auto named = [](const std::string& name, const std::string&) -> std::optional<std::string_view> {
    if (name == "base") return R"({"a": 1, "b": {"x": 2, "y": 3}})";
    if (name == "middle") return R"({"extends": "base", "b": {"x": null}})";
    if (name == "top") return R"({"extends": "middle", "a": 4})";
    if (name == "self") return R"({"extends": "self"})";
    if (name == "file") return R"({"extends": "there.json"})";
    return std::nullopt;
  };
  const Document d = Document::stored("top", named);
  CHECK(d.text() == R"({"a":4,"b":{"y":3}})");
  CHECK(d.place("/a") == "top:/a");
  CHECK(d.place("/b/y") == "base:/b/y");
  CHECK_THROWS_WITH(Document::stored("self", named), Catch::Contains("extends itself"));
  CHECK_THROWS_WITH(Document::stored("file", named), Catch::Contains("extends another stored one"));
  const Folder folder;
  const Document file = Document::load(folder.put("f.json", R"({"extends": "middle", "a": 5})"), named);
  CHECK(file.text() == R"({"a":5,"b":{"y":3}})");
}

TEST_CASE("files that cannot be read are errors of the world, too large ones of the input") {
  const Folder folder;
  CHECK_THROWS_AS(Document::load(folder / "absent.json"), core::Error);
  CHECK_THROWS_WITH(Document::load(folder / "absent.json"), Catch::Contains("No such file"));
  CHECK_THROWS_WITH(Document::load(folder / ""), Catch::Contains("it is a directory"));
  CHECK_THROWS_AS(Document::load("/dev/zero"), core::InputError);
}
