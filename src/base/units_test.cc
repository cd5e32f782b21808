#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace viaduct {
namespace {

using testing::HasSubstr;

template <class F>
std::string ErrorOf(F parse) {
  try {
    parse();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

int64_t Ns(std::string_view text) { return ParseDuration(text).nanoseconds(); }

TEST(UnitsTest, ParsesDurations) {
  EXPECT_EQ(Ns("0"), 0);
  EXPECT_EQ(Ns("10ns"), 10);
  EXPECT_EQ(Ns("3.5us"), 3500);
  EXPECT_EQ(Ns("20ms"), 20000000);
  EXPECT_EQ(Ns("1s"), 1000000000);
  EXPECT_EQ(Ns("2min"), 120000000000);
  EXPECT_EQ(Ns("1h"), 3600000000000);
  EXPECT_EQ(Ns("0.000000001s"), 1);
  EXPECT_EQ(Ns("1.50ms"), 1500000);
  EXPECT_EQ(Ns("9223372036854775807ns"), 9223372036854775807);
}

TEST(UnitsTest, RefusesDurationsWithTextAndExample) {
  const auto error = [](std::string_view text) { return ErrorOf([&] { ParseDuration(text); }); };
  EXPECT_THAT(error("5"), HasSubstr("\"5\": a duration needs its unit"));
  EXPECT_THAT(error("5"), HasSubstr("\"20ms\""));
  EXPECT_THAT(error(""), HasSubstr("no number at the start"));
  EXPECT_THAT(error("ms"), HasSubstr("no number at the start"));
  EXPECT_THAT(error("-5ms"), HasSubstr("\"-5ms\": negative; expected"));
  EXPECT_THAT(error("-ms"), HasSubstr("no number at the start"));
  EXPECT_THAT(error("5 ms"), HasSubstr("unknown unit \" ms\""));
  EXPECT_THAT(error("5ms "), HasSubstr("unknown unit \"ms \""));
  EXPECT_THAT(error("1e3ms"), HasSubstr("unknown unit"));
  EXPECT_THAT(error("5m"), HasSubstr("unknown unit \"m\""));
  EXPECT_THAT(error("1.ms"), HasSubstr("no digit after the point"));
  EXPECT_THAT(error("1.5ns"), HasSubstr("not a whole number of nanoseconds"));
  EXPECT_THAT(error("0.0000000001s"), HasSubstr("not a whole number of nanoseconds"));
  EXPECT_THAT(error("9223372036854775808ns"), HasSubstr("too large"));
  EXPECT_THAT(error("99999999999999999999999999999999999999999999999h"), HasSubstr("too large"));
  EXPECT_THAT(error("0.1234567890123456789012345678901234567890s"), HasSubstr("whole number"));
}

TEST(UnitsTest, ParsesRates) {
  EXPECT_EQ(ParseRate("9600bit"), 9600);
  EXPECT_EQ(ParseRate("64kbit"), 64000);
  EXPECT_EQ(ParseRate("1.5Mbit"), 1500000);
  EXPECT_EQ(ParseRate("10Gbit"), 10000000000);
  EXPECT_EQ(ParseRate("10Mbps"), 10000000);
  EXPECT_EQ(ParseRate("10mbit"), 10000000);
  EXPECT_EQ(ParseRate("10Mbit/s"), 10000000);
}

TEST(UnitsTest, RefusesRates) {
  const auto error = [](std::string_view text) { return ErrorOf([&] { ParseRate(text); }); };
  EXPECT_THAT(error("10"), HasSubstr("needs its unit"));
  EXPECT_THAT(error("10M"), HasSubstr("unknown unit \"M\""));
  EXPECT_THAT(error("10mbps"), HasSubstr("unknown unit \"mbps\""));
  EXPECT_THAT(error("10Kbit"), HasSubstr("unknown unit \"Kbit\""));
  EXPECT_THAT(error("0bit"), HasSubstr("greater than 0"));
  EXPECT_THAT(error("1.5bit"), HasSubstr("not a whole number of bits per second"));
  EXPECT_THAT(error("10000000000Gbit"), HasSubstr("too large"));
}

TEST(UnitsTest, ParsesBytes) {
  EXPECT_EQ(ParseBytes("1500"), 1500);
  EXPECT_EQ(ParseBytes("1500B"), 1500);
  EXPECT_EQ(ParseBytes("64kB"), 64000);
  EXPECT_EQ(ParseBytes("64KiB"), 65536);
  EXPECT_EQ(ParseBytes("512M"), 512 << 20);
  EXPECT_EQ(ParseBytes("512MiB"), 512 << 20);
  EXPECT_EQ(ParseBytes("2G"), int64_t{2} << 30);
  EXPECT_EQ(ParseBytes("1.5K"), 1536);
}

TEST(UnitsTest, RefusesBytes) {
  const auto error = [](std::string_view text) { return ErrorOf([&] { ParseBytes(text); }); };
  EXPECT_THAT(error("64KB"), HasSubstr("unknown unit \"KB\""));
  EXPECT_THAT(error("0.5B"), HasSubstr("not a whole number of bytes"));
  EXPECT_THAT(error("99999999999G"), HasSubstr("too large"));
  EXPECT_THAT(error("x"), HasSubstr("no number at the start"));
}

TEST(UnitsTest, ParsesProbabilitiesToTheNearestDouble) {
  EXPECT_EQ(ParseProbability("0"), 0.0);
  EXPECT_EQ(ParseProbability("1.0"), 1.0);
  EXPECT_EQ(ParseProbability(".5%"), 0.005);
  EXPECT_EQ(ParseProbability(".5"), 0.5);
  EXPECT_EQ(ParseProbability("100%"), 1.0);
  EXPECT_EQ(ParseProbability("1%"), 0.01);
  EXPECT_EQ(ParseProbability("0.1%"), 0.001);
  EXPECT_EQ(ParseProbability("0.7%"), 0.007);
  EXPECT_EQ(ParseProbability("0.01"), 0.01);
  EXPECT_EQ(ParseProbability("1e-9"), 1e-9);
  EXPECT_EQ(ParseProbability("2.5E-3"), 0.0025);
  EXPECT_EQ(ParseProbability("1e-7%"), 1e-9);
}

TEST(UnitsTest, RefusesProbabilities) {
  const auto error = [](std::string_view text) { return ErrorOf([&] { ParseProbability(text); }); };
  EXPECT_THAT(error("1"), HasSubstr("ambiguous (1% or 100%)"));
  EXPECT_THAT(error("."), HasSubstr("no number at the start"));
  EXPECT_THAT(error("1.1"), HasSubstr("greater than 1"));
  EXPECT_THAT(error("101%"), HasSubstr("greater than 1"));
  EXPECT_THAT(error("-0.1"), HasSubstr("negative"));
  EXPECT_THAT(error("1e"), HasSubstr("exponent"));
  EXPECT_THAT(error("1e+-3"), HasSubstr("exponent"));
  EXPECT_THAT(error("1e-9999"), HasSubstr("exponent"));
  EXPECT_THAT(error("1e-399"), HasSubstr("too small or too large"));
  EXPECT_THAT(error("1%%"), HasSubstr("unknown unit"));
  EXPECT_THAT(error("nan"), HasSubstr("no number at the start"));
  EXPECT_THAT(error("0x1"), HasSubstr("unknown unit"));
}

TEST(UnitsTest, ParsesIntegersInRange) {
  EXPECT_EQ(ParseInteger("7", 0, 10), 7);
  EXPECT_EQ(ParseInteger("-3", -5, 5), -3);
  const auto error = [](std::string_view text) {
    return ErrorOf([&] { ParseInteger(text, 1, 10); });
  };
  for (const char* text : {"0", "11", "", "x", "5x", " 5", "5.0", "99999999999999999999"}) {
    EXPECT_THAT(error(text), HasSubstr("a whole number from 1 to 10")) << text;
  }
}

TEST(UnitsTest, FormatsAsPeopleWriteIt) {
  EXPECT_EQ(FormatDuration(Duration()), "0ns");
  EXPECT_EQ(FormatDuration(Duration::Milliseconds(20)), "20ms");
  EXPECT_EQ(FormatDuration(Duration::Microseconds(1500)), "1.5ms");
  EXPECT_EQ(FormatDuration(Duration::Seconds(90)), "90s");
  EXPECT_EQ(FormatDuration(Duration::Seconds(120)), "2min");
  EXPECT_EQ(FormatDuration(Duration::Seconds(7200)), "2h");
  EXPECT_EQ(FormatDuration(Duration::Nanoseconds(-20)), "-20ns");
  EXPECT_EQ(FormatRate(1500000), "1.5Mbit");
  EXPECT_EQ(FormatRate(9600), "9.6kbit");
  EXPECT_EQ(FormatRate(1), "1bit");
  EXPECT_EQ(FormatBytes(65536), "64KiB");
  EXPECT_EQ(FormatBytes(64000), "64kB");
  EXPECT_EQ(FormatBytes(1500), "1500B");
  EXPECT_EQ(FormatBytes(0), "0B");
  EXPECT_EQ(FormatProbability(0.01), "1%");
  EXPECT_EQ(FormatProbability(0.001), "0.1%");
  EXPECT_EQ(FormatProbability(0), "0");
  EXPECT_EQ(FormatProbability(1), "100%");
  EXPECT_EQ(ParseProbability(FormatProbability(1e-9)), 1e-9);
}

TEST(UnitsTest, FormatIsTheInverseOfParse) {
  RandomStream random(1, "units");
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<int64_t>(random.Next() >> (1 + random.Below(62)));
    EXPECT_EQ(Ns(FormatDuration(Duration::Nanoseconds(value))), value);
    EXPECT_EQ(ParseBytes(FormatBytes(value)), value);
    EXPECT_EQ(ParseRate(FormatRate(value + 1)), value + 1);
    const double probability = random.Uniform() * (random.Chance(0.5) ? 1 : 1e-9);
    EXPECT_EQ(ParseProbability(FormatProbability(probability)), probability);
  }
}

}  // namespace
}  // namespace viaduct
