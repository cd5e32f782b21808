#include "path/engine/event_heap.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace viaduct::engine {
namespace {

TEST(EventHeapTest, EmptyHasNothingNext) {
  EXPECT_EQ(EventHeap().NextInstant(), Instant::Never());
  EXPECT_EQ(EventHeap(3).NextInstant(), Instant::Never());
}

TEST(EventHeapTest, TheEarliestIsNextWhateverChanges) {
  RandomStream random(1, "event heap");
  constexpr uint32_t kThings = 250;
  EventHeap heap(kThings);
  std::vector<Instant> instants(kThings, Instant::Never());
  for (int i = 0; i < 20000; ++i) {
    const auto thing = static_cast<uint32_t>(random.Below(kThings));
    const Instant at = random.Chance(0.1)
                           ? Instant::Never()
                           : Instant::FromNanoseconds(static_cast<int64_t>(random.Below(1000)));
    instants[thing] = at;
    heap.Set(thing, at);
    ASSERT_EQ(heap.At(thing), at);
    ASSERT_EQ(heap.NextInstant(), *std::min_element(instants.begin(), instants.end()));
    ASSERT_EQ(instants[heap.Next()], heap.NextInstant());
  }
}

}  // namespace
}  // namespace viaduct::engine
