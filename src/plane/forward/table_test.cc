// Tests of the forwarding table: compares its results with a linear search, for random prefixes of
// both families, also while the table is being changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "plane/forward/table_reader.h"
#include "plane/forward/table_writer.h"

namespace viaduct::forward {
namespace {

constexpr size_t kWords = size_t{1} << 21;

wire::IpPrefix P(const std::string& text) { return wire::IpPrefix::Parse(text); }
wire::IpAddress A(const std::string& text) { return wire::IpAddress::Parse(text); }

Entry Through(uint32_t ifindex) { return {Kind::kForward, {{ifindex, std::nullopt}}}; }

// A forwarding table in this process's memory, with its writer and a reader.
struct Table {
  explicit Table(size_t words = kWords) : memory(words), writer(memory) {}
  bool Set(const std::string& prefix, const Entry& entry) {
    writer.Begin();
    const bool is_set = writer.Set(P(prefix), entry);
    writer.Publish();
    return is_set;
  }
  void Remove(const std::string& prefix) {
    writer.Begin();
    writer.Remove(P(prefix));
    writer.Publish();
  }

  std::vector<Word> memory;
  TableWriter writer;
  TableReader reader{memory};
};

TEST(ForwardingTableTest, NothingIsFoundInAnEmptyTable) {
  const Table table;
  EXPECT_EQ(table.reader.Lookup(A("10.0.0.1")).kind, Kind::kNone);
  EXPECT_EQ(table.reader.Lookup(A("2001:db8::1")).kind, Kind::kNone);
}

TEST(ForwardingTableTest, TheLongestPrefixWins) {
  Table table;
  table.Set("0.0.0.0/0", Through(1));
  table.Set("10.0.0.0/8", Through(2));
  table.Set("10.1.0.0/16", Through(3));
  table.Set("10.1.2.3/32", {Kind::kLocal, {}});
  EXPECT_EQ(table.reader.Lookup(A("192.0.2.1")).hop.ifindex, 1u);
  EXPECT_EQ(table.reader.Lookup(A("10.2.0.1")).hop.ifindex, 2u);
  EXPECT_EQ(table.reader.Lookup(A("10.1.0.1")).hop.ifindex, 3u);
  EXPECT_EQ(table.reader.Lookup(A("10.1.2.3")).kind, Kind::kLocal);
  EXPECT_EQ(table.reader.Lookup(A("2001:db8::1")).kind, Kind::kNone);
  table.Remove("10.1.0.0/16");
  EXPECT_EQ(table.reader.Lookup(A("10.1.0.1")).hop.ifindex, 2u);
  EXPECT_EQ(table.reader.Lookup(A("10.1.2.3")).kind, Kind::kLocal);
}

TEST(ForwardingTableTest, GatewaysAreThoseOfTheirFamily) {
  Table table;
  table.Set("10.0.0.0/8", {Kind::kForward, {{7, A("192.0.2.9")}}});
  table.Set("2001:db8::/32", {Kind::kForward, {{8, A("fe80::1:2")}}});
  EXPECT_EQ(table.reader.Lookup(A("10.9.9.9")).hop, (Hop{7, A("192.0.2.9")}));
  EXPECT_EQ(table.reader.Lookup(A("2001:db8::9")).hop, (Hop{8, A("fe80::1:2")}));
}

TEST(ForwardingTableTest, FlowsAreSpreadEquallyAndStayOnTheirHop) {
  Table table;
  table.Set("::/0", {Kind::kForward, {{1, {}}, {2, {}}, {3, {}}}});
  std::map<uint32_t, int> flows;
  RandomStream random(1, "flows");
  for (int i = 0; i < 3000; ++i) {
    const auto hash = static_cast<uint32_t>(random.Next());
    const uint32_t ifindex = table.reader.Lookup(A("2001:db8::1"), hash).hop.ifindex;
    EXPECT_EQ(table.reader.Lookup(A("2001:db8::1"), hash).hop.ifindex, ifindex);
    ++flows[ifindex];
  }
  ASSERT_EQ(flows.size(), 3u);
  for (const auto& [ifindex, count] : flows) EXPECT_NEAR(count, 1000, 150) << ifindex;
}

TEST(ForwardingTableTest, ABatchAppearsAtOnce) {
  Table table;
  table.writer.Begin();
  table.writer.Set(P("10.0.0.0/8"), Through(1));
  EXPECT_EQ(table.reader.Lookup(A("10.0.0.1")).kind, Kind::kNone);
  table.writer.Publish();
  EXPECT_EQ(table.reader.Lookup(A("10.0.0.1")).hop.ifindex, 1u);
}

TEST(TableMemoryTest, FreeHalvesAreJoined) {
  TableMemory memory(table::kHeaderWords + 4 * TableMemory::kLargest);
  std::vector<uint32_t> places;
  for (size_t i = 0; i < 4 * TableMemory::kLargest / 2; ++i) places.push_back(memory.Take(2));
  EXPECT_EQ(memory.LargestLeft(), 0u);
  memory.StartVersion();  // readers may know the blocks taken before
  for (const uint32_t place : places) memory.Give(place, 2);
  EXPECT_EQ(memory.LargestLeft(), 0u) << "readers may still look at them";
  memory.StartVersion();
  EXPECT_EQ(memory.LargestLeft(), 4u);
}

TEST(ForwardingTableTest, AFullTableRefusesAndStaysRight) {
  Table table(size_t{1} << 16);
  uint32_t count = 0;
  table.writer.Begin();
  const auto prefix = [](uint32_t i) {
    return wire::IpPrefix{wire::IpAddress::FromIpv4(i * 2654435761U), 32};
  };
  while (table.writer.Set(prefix(count), Through(count + 1))) ++count;
  table.writer.Publish();
  ASSERT_GT(count, 10u);
  for (uint32_t i = 0; i < count; ++i) {
    EXPECT_EQ(table.reader.Lookup(prefix(i).address).hop.ifindex, i + 1);
  }
  for (uint32_t i = 0; i < count; ++i) {
    table.writer.Begin();
    table.writer.Remove(prefix(i));
    table.writer.Publish();
    EXPECT_EQ(table.reader.Lookup(prefix(i).address).kind, Kind::kNone);
  }
}

TEST(ForwardingTableTest, OtherMemoryIsRefused) {
  std::vector<Word> memory(kWords);
  EXPECT_THROW(TableReader{memory}, UsageError);
  const TableWriter writer(memory);
  EXPECT_NO_THROW(TableReader{memory});
  EXPECT_THROW(TableReader{std::span(memory).first(kWords / 2)}, UsageError);
  memory[table::kFormatWord] = 99;
  EXPECT_THROW(TableReader{memory}, UsageError);
}

// Returns a random prefix from a small part of the address space, so that many prefixes cover each
// other.
wire::IpPrefix RandomPrefix(RandomStream& random, wire::Family family) {
  wire::IpPrefix prefix;
  prefix.address.family = family;
  for (int i = 0; i < prefix.address.Length(); ++i) {
    prefix.address.bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(random.Below(4) * 85);
  }
  prefix.length =
      static_cast<int>(random.Below(static_cast<uint64_t>(prefix.address.Length()) * 8 + 1));
  return prefix.Network();
}

class Reference {
 public:
  void Set(const wire::IpPrefix& prefix, uint32_t ifindex) { routes_[prefix] = ifindex; }
  void Remove(const wire::IpPrefix& prefix) { routes_.erase(prefix); }
  uint32_t Lookup(const wire::IpAddress& address) const {
    int longest = -1;
    uint32_t ifindex = 0;
    for (const auto& [prefix, value] : routes_) {
      if (prefix.address.family != address.family || prefix.length <= longest) continue;
      if (!prefix.Contains(address)) continue;
      longest = prefix.length;
      ifindex = value;
    }
    return ifindex;
  }
  const std::map<wire::IpPrefix, uint32_t>& routes() const { return routes_; }

 private:
  std::map<wire::IpPrefix, uint32_t> routes_;
};

TEST(ForwardingTableTest, AgreesWithALinearSearch) {
  for (const wire::Family family : {wire::Family::kIpv4, wire::Family::kIpv6}) {
    Table table;
    Reference reference;
    RandomStream random(5, "table");
    for (int change = 0; change < 3000; ++change) {
      const wire::IpPrefix prefix = RandomPrefix(random, family);
      const auto ifindex = static_cast<uint32_t>(1 + random.Below(50));
      table.writer.Begin();
      if (random.Chance(0.7)) {
        ASSERT_TRUE(table.writer.Set(prefix, Through(ifindex)));
        reference.Set(prefix, ifindex);
      } else {
        const auto& routes = reference.routes();
        const wire::IpPrefix gone =
            routes.empty() ? prefix : std::next(routes.begin(), random.Below(routes.size()))->first;
        table.writer.Remove(gone);
        reference.Remove(gone);
      }
      table.writer.Publish();
      const wire::IpAddress address = RandomPrefix(random, family).address;
      ASSERT_EQ(table.reader.Lookup(address).hop.ifindex, reference.Lookup(address));
    }
    for (int i = 0; i < 2000; ++i) {
      const wire::IpAddress address = RandomPrefix(random, family).address;
      ASSERT_EQ(table.reader.Lookup(address).hop.ifindex, reference.Lookup(address));
    }
  }
}

// The test replaces an entry of two hops again and again, while other entries are added and
// removed: a reader that saw half a change would return a hop of neither version.
TEST(ForwardingTableTest, AReaderNeverSeesHalfAChange) {
  Table table;
  const wire::IpAddress asked = A("10.1.2.3");
  const auto entry = [](uint32_t number) {
    return Entry{
        Kind::kForward,
        {{number, wire::IpAddress::FromIpv4(number)}, {number, wire::IpAddress::FromIpv4(number)}}};
  };
  table.Set("10.1.2.0/24", entry(1));
  std::atomic<bool> is_over = false;
  std::atomic<uint64_t> lookups = 0, wrong = 0;
  std::thread reader([&] {
    for (uint32_t hash = 0; !is_over; hash += 0x9E3779B9) {
      const Found found = table.reader.Lookup(asked, hash);
      const bool is_whole = found.kind == Kind::kForward && found.hop.gateway &&
                            *found.hop.gateway == wire::IpAddress::FromIpv4(found.hop.ifindex);
      if (!is_whole) ++wrong;
      ++lookups;
    }
  });
  RandomStream random(3, "changes");
  for (uint32_t version = 2; version < 20000 || lookups < 1000; ++version) {
    table.writer.Begin();
    table.writer.Set(P("10.1.2.0/24"), entry(version));
    const wire::IpPrefix other{
        wire::IpAddress::FromIpv4(0x0A010300 + static_cast<uint32_t>(random.Below(64))), 32};
    if (version % 3 == 0) {
      table.writer.Remove(other);
    } else {
      table.writer.Set(other, Through(version));
    }
    table.writer.Publish();
  }
  is_over = true;
  reader.join();
  EXPECT_EQ(wrong, 0u) << "of " << lookups;
}

}  // namespace
}  // namespace viaduct::forward
