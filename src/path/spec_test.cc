#include "path/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::path {
namespace {

using testing::HasSubstr;

std::string ErrorOf(std::string_view text) {
  try {
    ParseSpec(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(SpecTest, EmptyIsAPlainWire) {
  EXPECT_TRUE(ParseSpec("").IsPlainWire());
  EXPECT_TRUE(ParseSpec(" \t\n").IsPlainWire());
  EXPECT_EQ(FormatSpec(Spec()), "");
}

TEST(SpecTest, ParsesEveryKey) {
  const Spec spec = ParseSpec(
      "delay=20ms jitter=2ms dist=normal loss=1% dup=0.1% reorder=0.5% ber=1e-9 rate=10Mbit "
      "queue=100p aqm=codel");
  EXPECT_EQ(spec.delay, Duration::Milliseconds(20));
  EXPECT_EQ(spec.jitter, Duration::Milliseconds(2));
  EXPECT_EQ(spec.distribution, "normal");
  EXPECT_EQ(spec.loss, 0.01);
  EXPECT_EQ(spec.duplicate, 0.001);
  EXPECT_EQ(spec.reorder, 0.005);
  EXPECT_EQ(spec.bit_error_rate, 1e-9);
  EXPECT_EQ(spec.rate, 10000000);
  EXPECT_EQ(spec.queue, (Queue{Queue::Unit::kPackets, 100}));
  EXPECT_EQ(spec.aqm, "codel");
  EXPECT_FALSE(spec.IsPlainWire());
}

TEST(SpecTest, KeysInAnyOrderAndAnyWhiteSpace) {
  EXPECT_EQ(ParseSpec("loss=1%\n\t delay=5ms "), ParseSpec("delay=5ms loss=1%"));
}

TEST(SpecTest, AZeroValueIsNotAnAbsentOne) {
  EXPECT_EQ(ParseSpec("loss=0").loss, 0.0);
  EXPECT_EQ(ParseSpec("delay=0").delay, Duration());
  EXPECT_FALSE(ParseSpec("loss=0").IsPlainWire());
}

TEST(SpecTest, QueueUnits) {
  EXPECT_EQ(ParseSpec("queue=64kB").queue, (Queue{Queue::Unit::kBytes, 64000}));
  EXPECT_EQ(ParseSpec("queue=64K").queue, (Queue{Queue::Unit::kBytes, 65536}));
  EXPECT_EQ(ParseSpec("queue=20ms").queue, (Queue{Queue::Unit::kTime, 20000000}));
  EXPECT_EQ(ParseSpec("queue=1min").queue, (Queue{Queue::Unit::kTime, 60000000000}));
}

TEST(SpecTest, RoundTrips) {
  for (const char* text :
       {"delay=20ms jitter=2ms dist=paretonormal loss=1% dup=0.1% reorder=0.5% ber=1e-09 "
        "rate=10Mbit queue=100p aqm=fq_codel",
        "delay=0ns", "queue=64kB", "queue=1B", "queue=1.5ms", "rate=1bit", "loss=100%",
        "delay=1ms reorder=33%", "loss=0"}) {
    const Spec spec = ParseSpec(text);
    EXPECT_EQ(FormatSpec(spec), text);
    EXPECT_EQ(ParseSpec(FormatSpec(spec)), spec) << text;
  }
}

TEST(SpecTest, NamesWhatIsWrongAndWhatIsAccepted) {
  EXPECT_THAT(ErrorOf("dealy=1ms"), HasSubstr("unknown key \"dealy\"; known are delay, jitter"));
  EXPECT_THAT(ErrorOf("=1ms"), HasSubstr("unknown key \"\""));
  EXPECT_THAT(ErrorOf("delay"), HasSubstr("\"delay\" is not KEY=VALUE"));
  EXPECT_THAT(ErrorOf("delay=1ms delay=2ms"), HasSubstr("SPEC: delay: given twice"));
  EXPECT_THAT(ErrorOf("loss=0 loss=0"), HasSubstr("SPEC: loss: given twice"));
  EXPECT_THAT(ErrorOf("delay=1"), HasSubstr("SPEC: delay: \"1\": a duration needs its unit"));
  EXPECT_THAT(ErrorOf("loss=2"), HasSubstr("SPEC: loss: \"2\": greater than 1"));
  EXPECT_THAT(ErrorOf("ber="), HasSubstr("SPEC: ber: \"\": does not start with a number"));
  EXPECT_THAT(ErrorOf("rate=0bit"), HasSubstr("SPEC: rate: \"0bit\": a rate must be greater"));
  EXPECT_THAT(ErrorOf("queue=100"), HasSubstr("SPEC: queue: \"100\": a queue needs its unit"));
  EXPECT_THAT(ErrorOf("queue="), HasSubstr("SPEC: queue: no value; give packets"));
  EXPECT_THAT(ErrorOf("queue=0p"), HasSubstr("a whole number from 1"));
  EXPECT_THAT(ErrorOf("queue=p"), HasSubstr("a whole number from 1"));
  EXPECT_THAT(ErrorOf("queue=0ms"), HasSubstr("must be greater than zero"));
  EXPECT_THAT(ErrorOf("jitter=1ms dist=gauss"),
              HasSubstr("\"gauss\": unknown; give one of uniform"));
  EXPECT_THAT(ErrorOf("dist=normal"), HasSubstr("give jitter too"));
  EXPECT_THAT(ErrorOf("aqm=fifo"), HasSubstr("SPEC: aqm: \"fifo\": unknown; give one of codel"));
}

}  // namespace
}  // namespace viaduct::path
