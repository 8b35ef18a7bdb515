// What an engine aborts on, and only running reveals: memory that its scheduler needs and cannot find.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace servecast::engine {

class NoRoom : public std::runtime_error {
 public:
  // setting: key of the engine's settings that would help.
  NoRoom(std::string setting, std::string message)
      : std::runtime_error(fmt::format("engine/{}: {}", setting, message)),
        setting_(std::move(setting)),
        message_(std::move(message)) {}
  const std::string& setting() const { return setting_; }
  const std::string& message() const { return message_; }

 private:
  std::string setting_;
  std::string message_;
};

}  // namespace servecast::engine
