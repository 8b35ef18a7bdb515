#include "core/fingerprint.hpp"

#include "catch.hpp"

#include <set>

using namespace servecast::core;

TEST_CASE("a fingerprint does not depend on the order within it") {
  Fingerprint a;
  a.add(1, 2, Time{3});
  a.add(4, 5, Time{6});
  Fingerprint b;
  b.add(4, 5, Time{6});
  Fingerprint c;
  c.add(1, 2, Time{3});
  b.merge(c);
  CHECK(a.value() == b.value());
  CHECK(a.text().size() == 16);
  CHECK(Fingerprint{}.text() == "0000000000000000");
}

TEST_CASE("small changes of kind, id or time change the fingerprint") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t kind = 0; kind < 16; ++kind) {
    for (std::uint64_t id = 0; id < 16; ++id) {
      for (std::int64_t t = 0; t < 16; ++t) {
        Fingerprint f;
        f.add(kind, id, Time{t});
        seen.insert(f.value());
      }
    }
  }
  CHECK(seen.size() == 4096);
}

TEST_CASE("exchanging the times of two events changes the fingerprint, and so does doing one twice") {
  Fingerprint a;
  a.add(1, 1, Time{10});
  a.add(1, 2, Time{20});
  Fingerprint b;
  b.add(1, 1, Time{20});
  b.add(1, 2, Time{10});
  CHECK(a.value() != b.value());
  Fingerprint twice = a;
  twice.merge(a);
  CHECK(twice.value() != a.value());
}
