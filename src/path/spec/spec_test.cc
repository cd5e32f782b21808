#include "path/spec/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::path {
namespace {

using testing::HasSubstr;

std::string SpecError(std::string_view text) {
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

TEST(SpecTest, ParsesEveryBasicKey) {
  const Spec spec = ParseSpec(
      "delay=20ms jitter=2ms dist=normal loss=1% dup=0.1% reorder=0.5% ber=1e-9 rate=10Mbit "
      "queue=100p aqm=codel");
  EXPECT_EQ(spec.delay.base, Duration::Milliseconds(20));
  EXPECT_EQ(spec.delay.jitter, Jitter{Duration::Milliseconds(2)});
  EXPECT_EQ(spec.delay.distribution, "normal");
  EXPECT_EQ(spec.loss, LossSpec{RandomLoss{{0.01}}});
  EXPECT_EQ(spec.duplication, Chance{0.001});
  EXPECT_EQ(spec.reorder, Reorder{Chance{0.005}});
  EXPECT_EQ(spec.errors, BitErrorSpec{1e-9});
  EXPECT_EQ(spec.link.rate, 10000000);
  EXPECT_EQ(spec.queue.limit, (QueueSize{QueueSize::Unit::kPackets, 100}));
  EXPECT_EQ(spec.queue.aqm, Aqm("codel"));
  EXPECT_FALSE(spec.IsPlainWire());
  EXPECT_EQ(FirstBeyondBasics(spec), "");
}

TEST(SpecTest, KeysInAnyOrderAndAnyWhiteSpace) {
  EXPECT_EQ(ParseSpec("loss=1%\n\t delay=5ms "), ParseSpec("delay=5ms loss=1%"));
}

TEST(SpecTest, AZeroValueIsNotAnAbsentOne) {
  EXPECT_EQ(ParseSpec("loss=0").loss, LossSpec{RandomLoss{{0}}});
  EXPECT_EQ(ParseSpec("delay=0").delay.base, Duration());
  EXPECT_FALSE(ParseSpec("loss=0").IsPlainWire());
}

TEST(SpecTest, QueueUnits) {
  const auto queue = [](const std::string& text) {
    return ParseSpec("rate=1kbit " + text).queue.limit;
  };
  EXPECT_EQ(queue("queue=64kB"), (QueueSize{QueueSize::Unit::kBytes, 64000}));
  EXPECT_EQ(queue("queue=64K"), (QueueSize{QueueSize::Unit::kBytes, 65536}));
  EXPECT_EQ(queue("queue=20ms"), (QueueSize{QueueSize::Unit::kTime, 20000000}));
  EXPECT_EQ(queue("queue=1min"), (QueueSize{QueueSize::Unit::kTime, 60000000000}));
}

TEST(SpecTest, LossModels) {
  const auto loss = [](const std::string& text) {
    const LossSpec models = *ParseSpec("loss=" + text).loss;
    EXPECT_EQ(models.size(), 1u) << text;
    return models.front();
  };
  EXPECT_EQ(loss("1%:corr=25%"), Loss(RandomLoss{{0.01, 0.25}}));
  EXPECT_EQ(loss("1%:run=3,corr=25%"), Loss(RandomLoss{{0.01, 0.25}, 3}));
  EXPECT_EQ(loss("gemodel:p=1%"), Loss(GilbertElliott{0.01, 0.99, 1, 0}));
  EXPECT_EQ(loss("gemodel:p=1%,r=10%,1-h=70%,1-k=0.1%"),
            Loss(GilbertElliott{0.01, 0.1, 0.7, 0.001}));
  EXPECT_EQ(loss("state:p13=10%"), Loss(FourStateMarkov{0.1, 0.9, 0, 1, 0}));
  EXPECT_EQ(loss("state:p13=10%,p31=60%,p32=20%,p23=30%,p14=5%"),
            Loss(FourStateMarkov{0.1, 0.6, 0.2, 0.3, 0.05}));
  EXPECT_EQ(loss("periodic:every=100"), Loss(PeriodicLoss{100, 1, 100}));
  EXPECT_EQ(loss("periodic:every=10,burst=3,first=1"), Loss(PeriodicLoss{10, 3, 1}));
  const CyclePhase seconds{0, Duration::Seconds(5)}, packets{7};
  EXPECT_EQ(loss("cycle:pass=5s,lose=7"), Loss(CycleLoss{seconds, packets, 0, seconds}));
  EXPECT_EQ(loss("cycle:7,5s,2,0"), Loss(CycleLoss{packets, seconds, 2, CyclePhase{}}));
  EXPECT_EQ(loss("list:5,7,10-12"), Loss(LossList{{{5, 5}, {7, 7}, {10, 12}}}));
  EXPECT_EQ(loss("trace:/tmp/a,b:c"), Loss(LossTrace{"/tmp/a,b:c"}));
  EXPECT_EQ(loss("fading:10s,200ms"),
            Loss(FadingLoss{Duration::Seconds(10), Duration::Milliseconds(200)}));
  EXPECT_EQ(loss("trace:a+b"), Loss(LossTrace{"a+b"}));
  EXPECT_EQ(loss("1e+0%"), Loss(RandomLoss{{0.01}}));
}

// The order of the parameters is that of `tc qdisc add ... netem loss gemodel 1% 10% 70% 0.1%`.
TEST(SpecTest, TheNamesOfTheFirstParametersMayBeLeftOut) {
  const auto same = [](const char* brief, const char* named) {
    EXPECT_EQ(ParseSpec(brief), ParseSpec(named)) << brief;
  };
  same("loss=gemodel:1%", "loss=gemodel:p=1%");
  same("loss=gemodel:1%,10%", "loss=gemodel:p=1%,r=10%");
  same("loss=gemodel:1%,10%,70%,.1%", "loss=gemodel:p=1%,r=10%,1-h=70%,1-k=0.1%");
  same("loss=gemodel:1%,r=10%", "loss=gemodel:p=1%,r=10%");
  same("loss=state:1%,20%,30%", "loss=state:p13=1%,p31=20%,p32=30%");
  same("loss=periodic:100,3", "loss=periodic:every=100,burst=3");
}

TEST(SpecTest, SeveralLossModels) {
  EXPECT_EQ(ParseSpec("loss=1%+periodic:100+list:1,5-9").loss,
            (LossSpec{RandomLoss{{0.01}}, PeriodicLoss{100, 1, 100}, LossList{{{1, 1}, {5, 9}}}}));
  EXPECT_EQ(ParseSpec("loss=1%+trace:a+1%").loss,
            (LossSpec{RandomLoss{{0.01}}, LossTrace{"a+1%"}}));
  Spec spec;
  spec.loss = LossSpec{LossTrace{"a"}, RandomLoss{{0.5}}};
  EXPECT_THROW(CheckSpec(spec), UsageError);
  spec.loss->clear();
  EXPECT_THROW(CheckSpec(spec), UsageError);
}

TEST(SpecTest, CorruptionSlotsAndTheFrameCheck) {
  const Spec spec = ParseSpec("corrupt=1%:corr=25%,header fcs=drop slot=5ms:max=8ms,packets=16");
  EXPECT_EQ(spec.corruption, (Corruption{{0.01, 0.25}, true}));
  EXPECT_EQ(ParseSpec("corrupt=1%:checksum=fix").corruption,
            (Corruption{{0.01}, false, DamagedChecksum::kFix}));
  EXPECT_EQ(spec.frame_check, FrameCheck::kDrop);
  ASSERT_TRUE(spec.slot);
  EXPECT_EQ(spec.slot->delay, Duration::Milliseconds(5));
  EXPECT_EQ(spec.slot->max, Duration::Milliseconds(8));
  EXPECT_EQ(spec.slot->packets, 16);
}

TEST(SpecTest, AqmParametersAreInTheirNormalForm) {
  const auto aqm = [](const std::string& text) {
    return *ParseSpec("rate=1kbit aqm=" + text).queue.aqm;
  };
  EXPECT_EQ(aqm("codel:ecn,target=0.01s"), Aqm("codel", "target=10ms,ecn"));
  EXPECT_EQ(aqm("pie:burst=150ms,beta=1.25,alpha=0.125"),
            Aqm("pie", "burst=150ms,alpha=0.125,beta=1.25"));
  EXPECT_EQ(aqm("red:nogentle,prob=0.02,max=15p,min=5p"),
            Aqm("red", "min=5p,max=15p,prob=2%,nogentle"));
  EXPECT_EQ(aqm("fq_codel:noecn,quantum=1514,flows=1024"),
            Aqm("fq_codel", "flows=1024,quantum=1514,noecn"));
  EXPECT_NE(aqm("codel:noecn"), aqm("codel")) << "what is given stays given";
}

TEST(SpecTest, TheRest) {
  const Spec spec = ParseSpec(
      "delay=trace:d.txt jitter=2ms:corr=25% dist=/usr/lib/tc/pareto.dist order=free "
      "reorder=25%:gap=5,corr=50% ber=1e-5:header dup=1%:corr=10% rate=mahimahi:up.trace "
      "overhead=24B queue=64kB drop=head");
  EXPECT_EQ(spec.delay.trace, "d.txt");
  EXPECT_EQ(spec.delay.jitter, (Jitter{Duration::Milliseconds(2), 0.25}));
  EXPECT_EQ(spec.delay.distribution, "/usr/lib/tc/pareto.dist");
  EXPECT_EQ(spec.delay.order, Order::kFree);
  EXPECT_EQ(spec.reorder, (Reorder{{0.25, 0.5}, 5}));
  EXPECT_EQ(spec.errors, (BitErrorSpec{1e-5, true}));
  EXPECT_EQ(spec.duplication, (Chance{0.01, 0.1}));
  EXPECT_EQ(spec.link.trace, (RateTrace{RateTrace::Format::kMahimahi, "up.trace"}));
  EXPECT_EQ(spec.link.overhead, FrameOverhead{24});
  EXPECT_EQ(spec.queue.drop, DropAt::kHead);
  EXPECT_EQ(ParseSpec("rate=1Mbit burst=15kB").link.burst, 15000);
  EXPECT_EQ(ParseSpec("rate=trace:a").link.trace,
            (RateTrace{RateTrace::Format::kRateOverTime, "a"}));
}

TEST(SpecTest, RoundTrips) {
  for (const char* text :
       {"delay=20ms jitter=2ms dist=paretonormal loss=1% dup=0.1% reorder=0.5% ber=1e-09 "
        "rate=10Mbit queue=100p aqm=fq_codel",
        "delay=0ns",
        "rate=1bit queue=64kB",
        "rate=1bit queue=1B",
        "rate=1bit queue=1.5ms",
        "rate=1bit",
        "loss=100%",
        "delay=1ms reorder=33%",
        "loss=0",
        "loss=1%:corr=25%",
        "loss=1%:corr=25%,run=3",
        "loss=cycle:pass=5s,lose=2s",
        "loss=cycle:pass=10,lose=1.5s,times=3,first=0",
        "loss=cycle:pass=10,lose=3+1%:run=1",
        "loss=gemodel:p=1%,r=10%,1-h=70%,1-k=0.1%",
        "loss=state:p13=10%,p31=60%,p32=20%,p23=30%,p14=5%",
        "loss=periodic:every=10,burst=3,first=1",
        "loss=list:5,7,10-12",
        "loss=fading:good=10s,bad=200ms,1-h=90%,1-k=1%,joint",
        "loss=fading:good=10s,bad=200ms,1-h=100%,1-k=0",
        "loss=trace:x/y",
        "loss=1%:corr=25%+gemodel:p=1%,r=10%,1-h=100%,1-k=0+list:3,7-9+trace:x+y",
        "corrupt=1%:corr=25%,header fcs=drop slot=5ms:max=8ms,packets=16,bytes=24kB",
        "corrupt=1%:corr=25%,checksum=fix",
        "corrupt=0.1% fcs=ignore slot=1ms:jitter=100us,dist=normal",
        "delay=trace:d.txt jitter=2ms:corr=25% dist=a.dist order=free dup=1%:corr=10% "
        "reorder=25%:gap=5,corr=50% ber=0.001%:header rate=mahimahi:up overhead=24B queue=64kB "
        "drop=head",
        "delay=1ms order=keep rate=1Mbit overhead=0B burst=15kB drop=tail aqm=codel:target=4ms,ecn",
        "rate=1Mbit link=air queue=7p",
        "link=air",
        "rate=1Mbit overhead=-14B:mpu=64B,atm queue=10ms",
        "rate=trace:a aqm=pie:target=15ms,update=10ms,burst=100ms,alpha=0.125,beta=1.25,noecn",
        "rate=1Mbit aqm=red:min=5p,max=15p,prob=2%,weight=0.2%,nogentle,ecn",
        "rate=1Mbit aqm=fq_codel:target=5ms,interval=50ms,flows=7,quantum=300,noecn",
        "rate=1Mbit "
        "aqm=fq_pie:target=10ms,update=5ms,burst=20ms,alpha=0.2,beta=2,flows=7,quantum=300,"
        "ecn",
        "rate=1Mbit aqm=dualpi2:target=10ms,update=5ms,alpha=0.2,beta=2,coupling=1.5,step=2ms,"
        "range=400us,classic=20%"}) {
    const Spec spec = ParseSpec(text);
    EXPECT_EQ(FormatSpec(spec), text);
    EXPECT_EQ(ParseSpec(FormatSpec(spec)), spec) << text;
  }
}

TEST(SpecTest, AChangeKeepsWhatItDoesNotName) {
  const Spec base = ParseSpec("delay=20ms jitter=2ms:corr=25% loss=1%");
  EXPECT_EQ(ChangeSpec(base, ""), base);
  EXPECT_EQ(ChangeSpec(base, "jitter=1ms loss=none rate=1Mbit"),
            ParseSpec("delay=20ms jitter=1ms rate=1Mbit"));
  EXPECT_EQ(ChangeSpec(ParseSpec("rate=mahimahi:a"), "rate=1Mbit"), ParseSpec("rate=1Mbit"));
  EXPECT_THROW(ChangeSpec(base, "delay=1ms"), UsageError);  // less than the jitter of `base`
}

TEST(SpecTest, WhatIsTakenAwayTakesItsDependentsAlong) {
  const Spec base = ParseSpec(
      "delay=20ms jitter=2ms dist=normal reorder=1% rate=1Mbit queue=10p overhead=24B aqm=codel "
      "loss=1%");
  EXPECT_EQ(ChangeSpec(base, "delay=50ms rate=none"),
            ParseSpec("delay=50ms jitter=2ms dist=normal reorder=1% loss=1%"));
  EXPECT_EQ(ChangeSpec(base, "delay=none"),
            ParseSpec("rate=1Mbit queue=10p overhead=24B aqm=codel loss=1%"));
  EXPECT_THROW(ChangeSpec(base, "queue=5p rate=none"), UsageError);
}

TEST(SpecTest, TellsWhatIsBeyondTheBasics) {
  EXPECT_EQ(FirstBeyondBasics(ParseSpec("delay=1ms loss=gemodel:p=1%,r=2%")),
            "loss=gemodel:p=1%,r=2%,1-h=100%,1-k=0");
  EXPECT_EQ(FirstBeyondBasics(ParseSpec("loss=1%:run=2")), "loss=1%:run=2");
  EXPECT_EQ(FirstBeyondBasics(ParseSpec("loss=1%:corr=2%")), "loss=1%:corr=2%");
  EXPECT_EQ(FirstBeyondBasics(ParseSpec("rate=1kbit aqm=codel:ecn")), "aqm=codel:ecn");
  EXPECT_EQ(FirstBeyondBasics(ParseSpec("ber=1%:header")), "ber=1%:header");
  EXPECT_EQ(FirstBeyondBasics(ParseSpec("delay=1ms order=keep")), "order=keep");
  EXPECT_EQ(FirstBeyondBasics(ParseSpec("delay=1ms jitter=1ms dist=./x")), "dist=./x");
}

TEST(SpecTest, TheReferencesExamplesAreAccepted) {
  for (const SpecKey& key : SpecKeys()) {
    const std::string with = key.name == "delay" ? "" : " delay=20ms";
    EXPECT_NO_THROW(
        ChangeSpec(ParseSpec("jitter=0" + with + (key.name == "rate" ? "" : " rate=1Mbit")),
                   std::string(key.name) + "=" + std::string(key.example)))
        << key.name;
  }
}

TEST(SpecTest, TheReferenceHasEveryKey) {
  const std::string text = DocumentSpec();
  for (const SpecKey& key : SpecKeys()) {
    EXPECT_THAT(text, HasSubstr("| `" + std::string(key.name) + "` |"));
  }
  EXPECT_THAT(text, HasSubstr("| `loss` |"));
}

struct Mistake {
  const char* text;
  const char* message;
};

TEST(SpecTest, NamesWhatIsWrongAndWhatIsAccepted) {
  for (const Mistake& mistake : {
           Mistake{"dealy=1ms",
                   "unknown key \"dealy\"; did you mean 'delay'? known keys: delay, jitter"},
           {"=1ms", "unknown key \"\""},
           {"delay", "\"delay\" is not KEY=VALUE"},
           {"delay=1ms delay=2ms", "SPEC: delay: specified twice"},
           {"loss=0 loss=0", "SPEC: loss: specified twice"},
           {"delay=1", "SPEC: delay: \"1\": a duration needs its unit"},
           {"delay=25h", "longer than a day"},
           {"delay=trace:", "the file name is missing"},
           {"loss=2", "SPEC: loss: \"2\": greater than 1"},
           {"loss=120%", "SPEC: loss: \"120%\": greater than 1"},
           {"loss=", "SPEC: loss: \"\": no number at the start"},
           {"loss=bernoulli:p=1", "\"bernoulli\": unknown; expected a probability"},
           {"loss=1%:", "nothing follows the colon"},
           {"loss=1%:cor=1",
            "unknown parameter \"cor\"; did you mean 'corr'? known parameters: corr"},
           {"loss=1%:corr", "the parameter corr needs a value"},
           {"loss=1%:corr=100%", "corr: 100% would repeat"},
           {"loss=1%:corr=1%,corr=1%", "the parameter corr is specified twice"},
           {"loss=1%:run=0", "run: \"0\": not accepted here"},
           {"dup=1%:run=2", "SPEC: dup: unknown parameter \"run\""},
           {"loss=cycle:lose=2s", "cycle needs the parameter pass"},
           {"loss=cycle:pass=2s", "cycle needs the parameters pass and lose"},
           {"loss=cycle:0,2s", "pass and lose, each a number of packets or a time greater than 0"},
           {"loss=cycle:5p,2s", "pass: \"5p\": unknown unit"},
           {"loss=cycle:5s,2s,0", "times: \"0\": not accepted here"},
           {"loss=gemodel", "gemodel needs the parameter p"},
           {"loss=gemodel:r=1%", "gemodel needs the parameter p"},
           {"loss=gemodel:p=2", "p: \"2\": greater than 1"},
           {"loss=state", "state needs the parameter p13"},
           {"loss=state:p13=90%,p14=20%", "p13 and p14 add up to more than 100%"},
           {"loss=state:p13=90%,p31=90%,p32=20%", "p31 and p32 add up"},
           {"loss=periodic", "periodic needs the parameter every"},
           {"loss=periodic:every=0", "every: \"0\": not accepted here"},
           {"loss=periodic:every=3,burst=4", "burst=4 is greater than every=3"},
           {"loss=list:", "nothing follows the colon"},
           {"loss=list:3,2", "2 follows 3; specify the numbers in ascending order"},
           {"loss=list:3-2", "a whole number from 3"},
           {"loss=list:0", "a whole number from 1"},
           {"loss=trace", "trace needs a file"},
           {"loss=fading:good=1s", "fading needs the parameters good and bad"},
           {"loss=fading:1s,0", "bad: must be greater than 0"},
           {"link=", "link: the name is missing; specify a name, as in link=air"},
           {"loss=1%+", "SPEC: loss: a loss model is missing"},
           {"loss=1%+x", "\"x\": unknown; expected a probability"},
           {"loss=gemodel:1%,2%,3%,4%,5%", "unknown parameter \"5%\""},
           {"loss=gemodel:1%,p=1%", "the parameter p is specified twice"},
           {"loss=gemodel:r=1%,1%", "unknown parameter \"1%\""},
           {"corrupt=2", "corrupt: \"2\": greater than 1"},
           {"corrupt=1%:corr=100%", "SPEC: corrupt: corr: 100% would repeat"},
           {"corrupt=1%:checksum=yes", "checksum: \"yes\": unknown; expected keep or fix"},
           {"corrupt=1%:checksum=fix,header", "SPEC: corrupt: header contradicts checksum=fix"},
           {"corrupt=1%:checksum=fix fcs=drop", "SPEC: fcs: drops every damaged frame"},
           {"fcs=check", "fcs: \"check\": unknown; expected ignore or drop"},
           {"slot=0", "SPEC: slot: the time between slots is zero"},
           {"slot=5ms:max=4ms", "max=4ms is less than the minimum time 5ms"},
           {"slot=5ms:max=6ms,jitter=1ms", "max and jitter cannot be combined"},
           {"slot=5ms:dist=normal", "dist has an effect only together with jitter"},
           {"slot=5ms:packets=0", "packets: \"0\": not accepted here"},
           {"ber=", "SPEC: ber: \"\": no number at the start"},
           {"ber=1%:header=1", "the parameter header does not accept a value"},
           {"rate=0bit", "SPEC: rate: \"0bit\": a rate must be greater"},
           {"rate=mahimahi:", "the file name is missing"},
           {"rate=1bit burst=1B", "must be from 64B to"},
           {"rate=1bit overhead=1MB", "overhead: \"1MB\": must be from -64B to 65535B"},
           {"rate=trace:x burst=1MB", "only together with a constant rate"},
           {"rate=1bit queue=100", "SPEC: queue: \"100\": the unit is missing"},
           {"rate=1bit queue=", "SPEC: queue: the value is missing; expected packets"},
           {"rate=1bit queue=0p", "a whole number from 1"},
           {"rate=1bit queue=p", "a whole number from 1"},
           {"rate=1bit queue=0ms", "must be greater than 0"},
           {"queue=100p", "queue: has an effect only together with rate"},
           {"aqm=codel", "aqm: has an effect only together with rate"},
           {"drop=head", "drop: has an effect only together with rate"},
           {"burst=15kB", "burst: has an effect only together with rate"},
           {"overhead=24B", "overhead: has an effect only together with rate"},
           {"rate=1bit drop=middle", "\"middle\": unknown; expected tail or head"},
           {"rate=1bit drop=head aqm=codel", "drop: cannot be combined with aqm=codel"},
           {"jitter=1ms dist=gauss", "\"gauss\": unknown; expected one of uniform"},
           {"dist=normal", "specify jitter, too"},
           {"jitter=1ms", "jitter: 1ms is larger than delay=0ns"},
           {"delay=1ms jitter=2ms", "allow frames to overtake with order=free"},
           {"delay=1ms order=maybe", "expected keep or free"},
           {"reorder=1%", "reorder: needs delay"},
           {"delay=1ms reorder=1% order=keep", "contradicts order=keep"},
           {"delay=1ms reorder=1%:gap=0", "gap: \"0\": not accepted here"},
           {"rate=1bit aqm=fifo", "SPEC: aqm: \"fifo\": unknown; expected one of codel"},
           {"rate=1bit aqm=codel:target=200ms", "target must be less than interval"},
           {"rate=1bit aqm=codel:ecn,noecn", "the parameter noecn contradicts"},
           {"rate=1bit aqm=dualpi2:classic=0", "classic: a share of 0 or 100% starves one queue"},
           {"rate=1bit aqm=dualpi2:coupling=-1",
            "coupling: \"-1\": expected a number from 0 to 1000"},
           {"rate=1bit aqm=codel:flows=3", "unknown parameter \"flows\""},
           {"rate=1bit aqm=pie:alpha=x", "alpha: \"x\": expected a number from 0 to 1000"},
           {"rate=1bit aqm=pie:alpha=nan", "alpha: \"nan\": expected a number"},
           {"rate=1bit aqm=red:min=5p,max=5p", "min must be less than max"},
           {"rate=1bit aqm=red:min=5p,max=5kB", "must both be in packets or both in bytes"},
           {"rate=1bit aqm=red:min=5ms", "must be in packets"},
       }) {
    EXPECT_THAT(SpecError(mistake.text), HasSubstr(mistake.message)) << mistake.text;
  }
}

}  // namespace
}  // namespace viaduct::path
