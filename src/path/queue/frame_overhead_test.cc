#include "path/queue/frame_overhead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::path {
namespace {

using testing::HasSubstr;

int64_t OnLink(std::string_view overhead, uint32_t frame) {
  return ParseOverhead(overhead).Of(frame);
}

TEST(FrameOverheadTest, BytesMayBeNegativeAndHaveAMinimum) {
  EXPECT_EQ(OnLink("24B", 1514), 1538);
  EXPECT_EQ(OnLink("-14B", 1514), 1500);
  EXPECT_EQ(OnLink("-14B", 10), 1);
  EXPECT_EQ(OnLink("0:mpu=64B", 60), 64);
  EXPECT_EQ(OnLink("10B:mpu=64B", 60), 70);
}

TEST(FrameOverheadTest, CellsCarry48BytesOf53) {
  EXPECT_EQ(OnLink("0:atm", 48), 53);
  EXPECT_EQ(OnLink("0:atm", 49), 106);
  EXPECT_EQ(OnLink("-2B:atm", 50), 53);
  EXPECT_EQ(OnLink("0:mpu=100B,atm", 20), 159);
}

TEST(FrameOverheadTest, PtmAddsAByteTo64) {
  EXPECT_EQ(OnLink("0:ptm", 64), 65);
  EXPECT_EQ(OnLink("0:ptm", 65), 67);
}

// Expects the results of cake_calc_overhead() for an IP packet of 1500 bytes and for an IP packet
// of 40 bytes.
TEST(FrameOverheadTest, CakesKeywords) {
  const auto expect = [](std::string_view name, int64_t of_1500, int64_t of_40) {
    EXPECT_EQ(OnLink(name, 1514), of_1500) << name;
    EXPECT_EQ(OnLink(name, 54), of_40) << name;
  };
  expect("ethernet", 1538, 84);
  expect("docsis", 1518, 64);
  expect("pppoe-ptm", 1530 + 24, 70 + 2);
  expect("bridged-ptm", 1522 + 24, 62 + 1);
  expect("pppoa-vcmux", 32 * 53, 2 * 53);    // 1510 and 50 bytes before framing
  expect("pppoa-llc", 32 * 53, 2 * 53);      // 1514 and 54 bytes before framing
  expect("pppoe-vcmux", 32 * 53, 2 * 53);    // 1532 and 72 bytes before framing
  expect("pppoe-llcsnap", 33 * 53, 2 * 53);  // 1540 and 80 bytes before framing
  expect("bridged-vcmux", 32 * 53, 2 * 53);  // 1524 and 64 bytes before framing
  expect("bridged-llcsnap", 32 * 53, 2 * 53);
  expect("ipoa-vcmux", 32 * 53, 53);  // 1508 and 48 bytes before framing
  expect("ipoa-llcsnap", 32 * 53, 2 * 53);
  expect("conservative", 33 * 53, 2 * 53);  // 1548 and 88 bytes before framing
}

TEST(FrameOverheadTest, RoundTrips) {
  for (const char* text :
       {"0B", "24B", "-14B", "16B:ptm", "26B:atm", "24B:mpu=84B", "-64B:mpu=1kB,atm"}) {
    EXPECT_EQ(FormatOverhead(ParseOverhead(text)), text);
  }
  EXPECT_EQ(FormatOverhead(ParseOverhead("ethernet")), "24B:mpu=84B");
  EXPECT_EQ(FormatOverhead(ParseOverhead("docsis:mpu=70B")), "4B:mpu=70B");
}

TEST(FrameOverheadTest, NamesWhatIsWrong) {
  const auto error = [](std::string_view value) -> std::string {
    try {
      ParseOverhead(value);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(error("-65B"), HasSubstr("must be from -64B to 65535B"));
  EXPECT_THAT(error("1MB"), HasSubstr("must be from -64B to 65535B"));
  EXPECT_THAT(error("pppoe"), HasSubstr("expected bytes, as in 24B, or one of ethernet, docsis"));
  EXPECT_THAT(error("8B:atm,ptm"), HasSubstr("atm and ptm cannot be combined"));
  EXPECT_THAT(error("pppoe-ptm:atm"), HasSubstr("atm and ptm cannot be combined"));
  EXPECT_THAT(error("8B:mpu=0"), HasSubstr("must be from 1B to"));
  EXPECT_THAT(error(""), HasSubstr("expected bytes, as in 24B"));
}

}  // namespace
}  // namespace viaduct::path
