#include "lab/record.h"

#include <gmock/gmock.h>

namespace viaduct::lab {
namespace {

using nlohmann::json;

// Returns a run that was read from a record whose lines after the first are `objects`.
RunInfo RunWith(const std::vector<json>& objects) {
  sys::RecordLines lines{json::object()};
  lines.insert(lines.end(), objects.begin(), objects.end());
  RunInfo run;
  run.Read(lines);
  return run;
}

const json kNamespace = {{"object", "namespace"}, {"name", "l.n0"}};

TEST(Record, ReadsWhatARunCreated) {
  const RunInfo run =
      RunWith({kNamespace,
               {{"object", "namespace_made"}, {"name", "l.n0"}, {"inode", 4026532001U}},
               {{"object", "link"}, {"name", "n0-n1"}},
               {{"object", "physical"},
                {"host_name", "enp3s0"},
                {"namespace", "l.n0"},
                {"name", "eth1"},
                {"was_up", true},
                {"mtu", 9000},
                {"mac", "02:00:00:00:00:01"},
                {"offloads", {"tx-checksum-ip-generic"}}}});
  ASSERT_EQ(run.namespaces.size(), 1U);
  EXPECT_EQ(run.namespaces[0].inode, 4026532001U);
  ASSERT_EQ(run.physicals.size(), 1U);
  EXPECT_EQ(run.physicals[0].host_name, "enp3s0");
  EXPECT_EQ(run.physicals[0].namespace_name, "l.n0");
  EXPECT_TRUE(run.physicals[0].was_up);
  EXPECT_EQ(run.physicals[0].mtu, 9000);
  EXPECT_EQ(run.physicals[0].offloads, std::vector<std::string>{"tx-checksum-ip-generic"});
  EXPECT_FALSE(run.physicals[0].card);
}

TEST(Record, AnInterfaceOfACardIsReadAsItWasWritten) {
  RecordedPhysical written{"wlan0", "l.n0", "wan", true, 1500, "02:00:00:00:00:01", {}, {}};
  written.card = {2, (uint64_t{2} << 32) | 1};
  const RunInfo run = RunWith({written.Line()});
  ASSERT_EQ(run.physicals.size(), 1U);
  EXPECT_EQ(run.physicals[0].host_name, "wlan0");
  EXPECT_EQ(run.physicals[0].name, "wan");
  ASSERT_TRUE(run.physicals[0].card);
  EXPECT_EQ(run.physicals[0].card->number, 2U);
  EXPECT_EQ(run.physicals[0].card->interface_id, 0x200000001U);
}

TEST(Record, NamespaceThatWasOnlyAnnouncedHasNoInode) {
  const RunInfo run = RunWith({kNamespace});
  ASSERT_EQ(run.namespaces.size(), 1U);
  EXPECT_FALSE(run.namespaces[0].inode);
}

TEST(Record, ForgetsNamespacesThatSomebodyElseMade) {
  const RunInfo run = RunWith({kNamespace,
                               {{"object", "namespace"}, {"name", "l.n1"}},
                               {{"object", "namespace_not_made"}, {"name", "l.n1"}}});
  ASSERT_EQ(run.namespaces.size(), 1U);
  EXPECT_EQ(run.namespaces[0].name, "l.n0");
}

TEST(Record, RefusesWhatIsNoRecord) {
  EXPECT_THROW(RunWith({json::object()}), json::exception);
  EXPECT_THROW(RunWith({{{"object", "namespace"}}}), json::exception);
}

}  // namespace
}  // namespace viaduct::lab
