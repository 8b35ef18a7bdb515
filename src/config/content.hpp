// What a Document holds. Internal to config: the only header that names the JSON library, by its forward declarations.
#pragma once

#include "config/document.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace servecast::config {

struct Document::Content {
  Content();
  Content(const Content& other);
  ~Content();

  // Everything at and below pointer now comes from origin.
  void claim(const std::string& pointer, const std::string& origin);

  std::unique_ptr<nlohmann::json> root;
  // Pointer of a subtree -> what to put before a pointer to name a value's place ("chat.json:", "--set "). The entry of
  // the longest prefix holds; "" is always present.
  std::map<std::string, std::string> origins;
  std::vector<std::string> digests;  // see Document::digests
};

}  // namespace servecast::config
