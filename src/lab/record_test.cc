#include "lab/record.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace viaduct::lab {
namespace {

constexpr char kFirst[] =
    R"({"record":1,"lab":"l","owner_uid":1000,"broker_pid":42,"broker_start_time":77,)"
    R"("created":"2026-01-02T03:04:05Z"})"
    "\n";

TEST(Record, ReadsWhatARunCreated) {
  const Record record =
      ParseRecord(std::string(kFirst) +
                  R"({"object":"namespace","name":"l.n0"})"
                  "\n"
                  R"({"object":"namespace_made","name":"l.n0","inode":4026532001})"
                  "\n"
                  R"({"object":"link","name":"n0-n1"})"
                  "\n"
                  R"({"object":"physical","host_name":"enp3s0","namespace":"l.n0","name":"eth1",)"
                  R"("was_up":true,"mtu":9000,"mac":"02:00:00:00:00:01"})"
                  "\n");
  EXPECT_EQ(record.run.lab, "l");
  EXPECT_EQ(record.run.owner_uid, 1000);
  EXPECT_EQ(record.run.broker_pid, 42);
  EXPECT_EQ(record.run.broker_start_time, 77U);
  ASSERT_EQ(record.namespaces.size(), 1U);
  EXPECT_EQ(record.namespaces[0].inode, 4026532001U);
  ASSERT_EQ(record.physicals.size(), 1U);
  EXPECT_EQ(record.physicals[0].host_name, "enp3s0");
  EXPECT_EQ(record.physicals[0].namespace_name, "l.n0");
  EXPECT_TRUE(record.physicals[0].was_up);
  EXPECT_EQ(record.physicals[0].mtu, 9000);
}

TEST(Record, IgnoresTheLineItsWriterWasKilledIn) {
  const Record record = ParseRecord(std::string(kFirst) + R"({"object":"namespace","name":"l.n0"})"
                                                          "\n"
                                                          R"({"object":"namespace_made","na)");
  ASSERT_EQ(record.namespaces.size(), 1U);
  EXPECT_FALSE(record.namespaces[0].inode);
}

TEST(Record, ForgetsNamespacesThatSomebodyElseMade) {
  const Record record =
      ParseRecord(std::string(kFirst) + R"({"object":"namespace","name":"l.n0"})"
                                        "\n"
                                        R"({"object":"namespace","name":"l.n1"})"
                                        "\n"
                                        R"({"object":"namespace_not_made","name":"l.n1"})"
                                        "\n");
  ASSERT_EQ(record.namespaces.size(), 1U);
  EXPECT_EQ(record.namespaces[0].name, "l.n0");
}

TEST(Record, RefusesWhatIsNoRecord) {
  EXPECT_THROW(ParseRecord(""), UsageError);
  EXPECT_THROW(ParseRecord("{}\n"), UsageError);
  EXPECT_THROW(ParseRecord("hello\n"), UsageError);
  EXPECT_THROW(ParseRecord("{\"record\":2}\n"), UsageError);
  EXPECT_THROW(ParseRecord(std::string(kFirst) + "{\"object\":\"namespace\"}\n"), UsageError);
}

}  // namespace
}  // namespace viaduct::lab
