#include "report/output_folder.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "temporary_folder.hpp"

using namespace servecast;
using namespace servecast::report;
using servecast::report::sample::TemporaryFolder;
namespace fs = std::filesystem;

TEST_CASE("files appear together at commit, and nothing before") {
  const TemporaryFolder tmp;
  const fs::path out = tmp.path() / "deep" / "out";
  OutputFolder folder(out.string());
  folder.write("result.json", "{}\n");
  folder.write("requests.csv", "id\r\n");
  CHECK_FALSE(fs::exists(out / "result.json"));
  folder.commit();
  CHECK(sample::content(out / "result.json") == "{}\n");
  CHECK(sample::content(out / "requests.csv") == "id\r\n");
  CHECK(std::distance(fs::directory_iterator(out), fs::directory_iterator{}) == 2);
}

TEST_CASE("an abandoned folder keeps its earlier files and leaves no temporary ones") {
  const TemporaryFolder tmp;
  {
    OutputFolder folder(tmp.path().string());
    folder.write("result.json", "old");
    folder.commit();
  }
  {
    OutputFolder folder(tmp.path().string());
    folder.write("result.json", "new");
  }
  CHECK(sample::content(tmp.path() / "result.json") == "old");
  CHECK(std::distance(fs::directory_iterator(tmp.path()), fs::directory_iterator{}) == 1);
}

TEST_CASE("a path that is a file is refused") {
  const TemporaryFolder tmp;
  const std::string file = (tmp.path() / "file").string();
  OutputFile made(file);
  made.commit();
  CHECK_THROWS_AS(OutputFolder(file), core::Error);
  CHECK_THROWS_WITH(OutputFolder(file), "cannot write into " + file + ": it is a file; name a folder");
  CHECK_THROWS_AS(OutputFolder(file + "/below"), core::Error);
}

TEST_CASE("a full disk names the file and leaves no half of it") {
  if (!fs::exists("/dev/full")) return;
  const TemporaryFolder tmp;
  const fs::path target = tmp.path() / "requests.csv";
  fs::create_symlink("/dev/full", target.string() + ".partial");
  OutputFolder folder(tmp.path().string());
  OutputFile& file = folder.create("requests.csv");
  const auto fill = [&] {
    file.write(std::string(100000, 'x'));
    folder.commit();
  };
  CHECK_THROWS_WITH(fill(), "cannot write " + target.string() + ": No space left on device");
  CHECK_FALSE(fs::exists(target));
}
