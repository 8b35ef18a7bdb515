// What an event does: a callable kept in place, so that scheduling never allocates and events are plain bytes.
// Holds at most 16 bytes, trivially copyable: [this] or [this, id] fit. Keep larger state in the object behind `this`.
// Does not own anything: whatever it points to must live until the event has run.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

namespace servecast::core {

class Action {
 public:
  Action() = default;

  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, Action> && std::invocable<F&>) Action(F callable)
      : call_(&call<F>) {  // implicit on purpose: call sites pass lambdas
    static_assert(sizeof(F) <= capacity,
                  "an event's callable may capture at most 16 bytes: `this` and an id; keep the rest in the object");
    static_assert(alignof(F) <= alignof(void*), "an event's callable may not be over-aligned");
    static_assert(std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F>,
                  "an event's callable must be trivially copyable: capture pointers and ids, not containers");
    ::new (static_cast<void*>(storage_)) F(callable);
  }

  explicit operator bool() const { return call_ != nullptr; }
  void operator()() { call_(storage_); }  // Requires: not empty

 private:
  static constexpr std::size_t capacity = 16;

  template <typename F>
  static void call(void* storage) {
    (*std::launder(static_cast<F*>(storage)))();
  }

  alignas(void*) std::byte storage_[capacity]{};
  void (*call_)(void*) = nullptr;
};

static_assert(std::is_trivially_copyable_v<Action> && sizeof(Action) == 24);

}  // namespace servecast::core
