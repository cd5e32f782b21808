#include "path/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::path {
namespace {

using testing::HasSubstr;

template <class Parse>
std::string TraceError(Parse parse, std::string_view text) {
  try {
    parse(text, "t.txt");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TraceTest, ReadsLosses) {
  EXPECT_EQ(ParseLossTrace("0 1\n# a comment\n110\r\n0", "t.txt"),
            (std::vector<bool>{false, true, true, true, false, false}));
  EXPECT_EQ(TraceError(ParseLossTrace, "0\n2"),
            "t.txt:2: \"2\": expected 0 (passes) or 1 (is lost) for each packet");
  EXPECT_THAT(TraceError(ParseLossTrace, "\n#\n"), HasSubstr("t.txt: the trace is empty"));
}

TEST(TraceTest, ReadsADelayAPacket) {
  const DelayTrace trace = ParseDelayTrace("10ms\n  1.5us # short\n\n0\n", "t.txt");
  EXPECT_EQ(trace.delays, (std::vector<Duration>{Duration::Milliseconds(10),
                                                 Duration::Nanoseconds(1500), Duration()}));
  EXPECT_TRUE(trace.times.empty());
}

TEST(TraceTest, ReadsDelaysOverTime) {
  const DelayTrace trace = ParseDelayTrace("0 10ms\n1.5\t20ms\n2500ms 5ms\n4 repeat\n", "t.txt");
  EXPECT_EQ(trace.times, (std::vector<Duration>{Duration(), Duration::Milliseconds(1500),
                                                Duration::Milliseconds(2500)}));
  EXPECT_EQ(trace.delays,
            (std::vector<Duration>{Duration::Milliseconds(10), Duration::Milliseconds(20),
                                   Duration::Milliseconds(5)}));
  EXPECT_EQ(trace.round, Duration::Seconds(4));
}

TEST(TraceTest, NamesWhatIsWrongWithDelays) {
  const auto error = [](std::string_view text) { return TraceError(ParseDelayTrace, text); };
  EXPECT_THAT(error(""), HasSubstr("t.txt: the trace is empty"));
  EXPECT_THAT(error("10"), HasSubstr("t.txt:1: \"10\": a duration needs its unit"));
  EXPECT_THAT(error("10ms\n1 10ms"),
              HasSubstr("t.txt:2: \"1 10ms\": expected one duration in every"));
  EXPECT_THAT(error("0 10ms\n10ms"),
              HasSubstr("t.txt:2: \"10ms\": expected one duration in every"));
  EXPECT_THAT(error("1 10ms"), HasSubstr("t.txt:1: the first line's time must be 0"));
  EXPECT_THAT(error("0 1ms\n2 1ms\n1 1ms"), HasSubstr("t.txt:3: times must increase"));
  EXPECT_THAT(error("0 1ms\n1 repeat\n2 1ms"), HasSubstr("t.txt:3: nothing may follow"));
  EXPECT_THAT(error("0 repeat"), HasSubstr("t.txt:1: a trace that repeats must have a duration"));
  EXPECT_THAT(error("x 1ms"), HasSubstr("\"x\": not a valid time"));
  EXPECT_THAT(error("0 1 2"), HasSubstr("t.txt:1: \"1 2\""));
}

}  // namespace
}  // namespace viaduct::path
