#include "sys/network/tcp_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace viaduct::sys {
namespace {

constexpr char kHeading[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n";

std::string Line(const char* state, const char* queues) {
  return fmt::format(
      "   0: 0100007F:1F90 0200007F:A1B2 {} {} 00:00000000 00000000     0        0 12345 1 "
      "0000000000000000 20 4 30 10 -1\n",
      state, queues);
}

TEST(TcpTableTest, NothingIsUnsentInAnEmptyOne) {
  EXPECT_EQ(CountUnsentTcp(""), 0u);
  EXPECT_EQ(CountUnsentTcp(kHeading), 0u);
}

TEST(TcpTableTest, ConnectionsThatHaveToSendAreCounted) {
  std::string table = kHeading;
  table += Line("01", "00000000:00000000");
  EXPECT_EQ(CountUnsentTcp(table), 0u);
  table += Line("01", "00000005:00000000");
  EXPECT_EQ(CountUnsentTcp(table), 1u);
  for (const char* state : {"04", "09", "0B"}) table += Line(state, "00000000:00000000");
  EXPECT_EQ(CountUnsentTcp(table), 4u) << "FIN_WAIT1, LAST_ACK, CLOSING";
  for (const char* state : {"05", "06", "0A"}) table += Line(state, "00000000:00000007");
  EXPECT_EQ(CountUnsentTcp(table), 4u) << "FIN_WAIT2, TIME_WAIT, LISTEN; what was received";
  table += Line("0A", "00000003:00000007");
  EXPECT_EQ(CountUnsentTcp(table), 4u) << "a listener sends nothing";
}

TEST(TcpTableTest, AddressesOfIpv6AreLonger) {
  const std::string line =
      "   1: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:C0DE 04 "
      "00000001:00000000 01:00000019 00000000  1000        0 4242\n";
  EXPECT_EQ(CountUnsentTcp(line), 1u);
}

}  // namespace
}  // namespace viaduct::sys
