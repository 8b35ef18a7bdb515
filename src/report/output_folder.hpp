// A folder of results in which nothing is ever half-written or a mixture of two answers: begin() removes what belongs
// to another scenario, files are written under a temporary name and take their own names together at commit(),
// result.json last, so that its presence says the folder is complete. What was not committed is removed. Failures throw
// core::Error naming the file.
#pragma once

#include <cstdio>
#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace servecast::report {

// One file being written beside its final place.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void close();   // flushes; nothing can be written afterwards
  void commit();  // closes and takes the final name
  const std::string& path() const { return path_; }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] void fail(int code) const;

  std::string path_;
  std::string temporary_;
  std::unique_ptr<std::FILE, Closer> file_;
  bool committed_ = false;
};

class OutputFolder {
 public:
  // Creates the folder and its parents where absent; throws core::Error if the path is something else, or holds folders
  // with the names of our files.
  explicit OutputFolder(std::string path);

  // Writes resolved.json at once, so that a run that fails later can be reproduced. Where the folder holds another one,
  // every file of that earlier answer goes first.
  void begin(std::string_view resolved);

  OutputFile& create(const std::string& name);  // valid until commit()
  void write(const std::string& name, std::string_view text) { create(name).write(text); }
  void commit();
  const std::string& path() const { return path_; }

 private:
  std::string at(std::string_view name) const;
  void remove(std::string_view name) const;

  std::string path_;
  std::list<OutputFile> files_;
};

}  // namespace servecast::report
