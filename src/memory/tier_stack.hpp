// Where copies of cached content lie below the GPU: host memory and, under it, storage (NVMe). Each keeps what was used
// last. What leaves the host goes to storage, and is written there unless storage still has it; what is read from
// storage comes to the host, and storage keeps its copy. Counts in blocks.
//
// Invariants: no tier holds more than its capacity; without a host nothing is kept. It knows no requests and no time:
// moving the bytes is the engine's.
#pragma once

#include "memory/lru_set.hpp"

#include <cstdint>

namespace servecast::memory {

enum class Tier : std::uint8_t { None, Host, Storage };

class TierStack {
 public:
  TierStack(std::int64_t host, std::int64_t storage) : host_(host), storage_(host > 0 ? storage : 0) {}

  bool empty() const { return host_.held() + storage_.held() == 0; }
  std::int64_t host_held() const { return host_.held(); }
  std::int64_t storage_held() const { return storage_.held(); }
  // Blocks written to storage so far.
  std::int64_t demoted() const { return demoted_; }

  // The fastest tier that has the content.
  Tier find(ContentKey key) const {
    if (host_.holds(key)) return Tier::Host;
    return storage_.holds(key) ? Tier::Storage : Tier::None;
  }
  // The GPU hands the content over. True: it was not in the host and has to be copied there.
  bool insert(ContentKey key) {
    if (host_.capacity() == 0) return false;
    if (host_.holds(key)) {
      host_.touch(key);
      return false;
    }
    admit(key);
    return true;
  }
  // Somebody reads the content, which was found when he looked: it is now the most recently used of the host.
  void read(ContentKey key) {
    if (storage_.holds(key)) storage_.touch(key);
    if (host_.holds(key))
      host_.touch(key);
    else
      admit(key);
  }

 private:
  void admit(ContentKey key) {
    const ContentKey out = host_.insert(key);
    if (out == 0 || storage_.capacity() == 0) return;
    if (storage_.holds(out)) {
      storage_.touch(out);
      return;
    }
    storage_.insert(out);
    ++demoted_;
  }

  LruSet host_, storage_;
  std::int64_t demoted_ = 0;
};

}  // namespace servecast::memory
