// Tests of pipelines that share a link.
#include "path/queue/shared_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/wire/test/packet_builder.h"
#include "path/test_pipeline.h"

namespace viaduct::path {
namespace {

using test::At;
using test::AtMs;
using test::Fates;
using test::Frames;
using test::Met;
using testing::HasSubstr;
namespace p = wire::packet;

// Pipelines with a common clock and frame store, as in a loop of the engine.
class Sharing {
 public:
  explicit Sharing(const std::vector<std::string>& specs, bool observed = false) {
    fates_.resize(specs.size());
    for (size_t i = 0; i < specs.size(); ++i) {
      PipelineOptions options;
      options.name = "p" + std::to_string(i);
      options.links = &links_;
      options.woken = [this, i] { woken.push_back(i); };
      pipelines_.push_back(
          std::make_unique<Pipeline>(ParseSpec(specs[i]), frames_, std::move(options)));
      if (observed) pipelines_.back()->SetObserver(&fates_[i]);
    }
    for (auto& each : pipelines_) each->Begin(At(0));
  }
  Pipeline& operator[](size_t i) { return *pipelines_[i]; }
  SharedLinks& links() { return links_; }
  const std::vector<Met>& fates(size_t i) const { return fates_[i].all; }

  void Push(size_t pipeline, uint32_t bytes, Instant now, uint16_t flow = 0) {
    auto frame = p::Build(p::Ethernet{} / p::Ipv4{.tos = 2} / p::Udp{.source = flow});
    pipelines_[pipeline]->Push(frames_.Add(std::move(frame)), bytes, now);
  }
  // Calls Pop of all pipelines at every instant that NextEvent() of a pipeline returns, until
  // `end`.
  void RunUntil(Instant end) {
    for (Instant next = Next(); next <= end; next = Next()) PopAll(std::max(next, now_));
    now_ = end;
  }
  void PopAll(Instant now) {
    now_ = now;
    for (size_t i = 0; i < pipelines_.size(); ++i) {
      Departure out[3];
      for (size_t n = 3; n == 3;) {
        n = pipelines_[i]->Pop(now, out);
        for (size_t j = 0; j < n; ++j) {
          departures.emplace_back(out[j].due.nanoseconds(), i, out[j].number);
          frames_.Free(out[j].frame);
        }
      }
    }
  }
  size_t frames() const { return frames_.count(); }

  std::vector<std::tuple<int64_t, size_t, uint64_t>> departures;  // due instant, pipeline, number
  std::vector<size_t> woken;

 private:
  Instant Next() const {
    Instant next = Instant::Never();
    for (const auto& each : pipelines_) next = std::min(next, each->NextEvent());
    return next;
  }
  Frames frames_;
  SharedLinks links_;
  std::vector<Fates> fates_;
  std::vector<std::unique_ptr<Pipeline>> pipelines_;
  Instant now_;
};

// A packet of 1000 bytes takes 1 ms on the link; each pipeline has a separate delay.
TEST(SharedLinkTest, PipelinesContendForOneRate) {
  Sharing sharing({"rate=8Mbit link=air", "link=air delay=10ms"});
  for (int i = 0; i < 3; ++i) {
    sharing.Push(0, 1000, At(0));
    sharing.Push(1, 1000, At(0));
  }
  EXPECT_EQ(sharing[0].waiting(), 3U);
  EXPECT_EQ(sharing[1].waiting_bytes(), 3000U);
  sharing.RunUntil(AtMs(100));
  using D = std::tuple<int64_t, size_t, uint64_t>;
  EXPECT_THAT(sharing.departures,
              testing::ElementsAre(D{1000000, 0, 1}, D{3000000, 0, 2}, D{5000000, 0, 3},
                                   D{12000000, 1, 1}, D{14000000, 1, 2}, D{16000000, 1, 3}));
  EXPECT_EQ(sharing[1].waiting(), 0U);
  EXPECT_EQ(sharing.frames(), 0U);
  EXPECT_THAT(sharing.woken, testing::Contains(1));
}

// All users share the queue's limit; a drop is reported to the pipeline of the dropped packet.
TEST(SharedLinkTest, TheQueueIsShared) {
  Sharing sharing({"rate=8Mbit queue=4p drop=head link=air", "link=air"}, true);
  for (int i = 0; i < 4; ++i) sharing.Push(0, 1000, At(0));
  for (int i = 0; i < 4; ++i) sharing.Push(1, 1000, At(1));
  sharing.RunUntil(AtMs(100));
  EXPECT_EQ(sharing[0].counters().of(Fate::kQueueFull), 3U);
  EXPECT_EQ(sharing[0].counters().of(Fate::kDelivered), 1U);
  EXPECT_EQ(sharing[1].counters().of(Fate::kDelivered), 4U);
}

const char* const kShared[] = {"rate=8Mbit",
                               "rate=8Mbit queue=5p",
                               "rate=8Mbit queue=5ms drop=head",
                               "rate=8Mbit burst=5kB overhead=24B",
                               "rate=8Mbit aqm=codel:ecn",
                               "rate=8Mbit aqm=fq_codel:target=1ms,interval=5ms",
                               "rate=8Mbit aqm=pie:burst=1ms",
                               "rate=8Mbit aqm=dualpi2"};

struct Sent {
  Instant at;
  size_t pipeline;
  uint32_t bytes;
};

std::vector<Sent> RandomTraffic(uint64_t seed, size_t pipelines) {
  RandomStream random(seed, "traffic");
  std::vector<Sent> traffic;
  Instant at;
  for (int i = 0; i < 2000; ++i) {
    at += Duration::Nanoseconds(static_cast<int64_t>(random.Below(1400000)));
    traffic.push_back(
        {at, random.Below(pipelines), static_cast<uint32_t>(60 + random.Below(1400))});
  }
  return traffic;
}

// Regardless of the number of users, the packets leave as if one pipeline had sent all of them.
TEST(SharedLinkTest, IsOneLink) {
  for (const char* spec : kShared) {
    SCOPED_TRACE(spec);
    Sharing alone({std::string(spec) + " link=air"});
    Sharing three({std::string(spec) + " link=air", "link=air", "link=air"});
    for (const auto& [at, pipeline, bytes] : RandomTraffic(1, 3)) {
      const auto flow = static_cast<uint16_t>(bytes % 7);
      alone.RunUntil(at);
      alone.Push(0, bytes, at, flow);
      three.RunUntil(at);
      three.Push(pipeline, bytes, at, flow);
    }
    alone.RunUntil(AtMs(100000));
    three.RunUntil(AtMs(100000));
    ASSERT_EQ(alone.departures.size(), three.departures.size());
    for (size_t i = 0; i < alone.departures.size(); ++i) {
      ASSERT_EQ(std::get<0>(alone.departures[i]), std::get<0>(three.departures[i])) << i;
    }
    for (const Fate fate : {Fate::kDelivered, Fate::kQueueFull, Fate::kAqm}) {
      uint64_t sum = 0;
      for (size_t i = 0; i < 3; ++i) sum += three[i].counters().of(fate);
      EXPECT_EQ(alone[0].counters().of(fate), sum) << FateName(fate);
    }
  }
}

// The order in which the users poll does not matter: the fates are the same, and each observer
// receives the fates of its pipeline in the order of time.
TEST(SharedLinkTest, TheCallersClockDoesNotMatter) {
  for (const char* spec : kShared) {
    SCOPED_TRACE(spec);
    const std::vector<std::string> specs = {std::string(spec) + " link=air delay=3ms",
                                            "link=air delay=1ms loss=5%", "link=air"};
    for (const bool observed : {false, true}) {
      Sharing exact(specs, observed), late(specs, observed);
      for (const auto& [at, pipeline, bytes] : RandomTraffic(2, 3)) {
        exact.RunUntil(at);
        exact.Push(pipeline, bytes, at);
        late.Push(pipeline, bytes, at);
      }
      exact.RunUntil(AtMs(100000));
      late.PopAll(AtMs(100000));
      EXPECT_EQ(late.frames(), 0U);
      std::sort(exact.departures.begin(), exact.departures.end());
      std::sort(late.departures.begin(), late.departures.end());
      EXPECT_EQ(exact.departures, late.departures);
      for (size_t i = 0; i < specs.size(); ++i) {
        EXPECT_EQ(exact.fates(i), late.fates(i));
        Instant before;
        for (const Met& met : late.fates(i)) {
          ASSERT_GE(met.at, before);
          before = met.at;
        }
      }
    }
  }
}

TEST(SharedLinkTest, TheOneThatGivesTheRateChangesIt) {
  Sharing sharing({"link=air", "rate=8Mbit link=air"});
  sharing.Push(0, 1000, At(0));
  sharing.RunUntil(AtMs(1));
  sharing[1].Change(ParseSpec("rate=4Mbit link=air"), AtMs(1));
  sharing.Push(0, 1000, AtMs(1));
  sharing.RunUntil(AtMs(10));
  sharing[1].Change(ParseSpec("link=air"), AtMs(10));
  sharing.Push(0, 1000, AtMs(10));
  sharing.RunUntil(AtMs(20));
  using D = std::tuple<int64_t, size_t, uint64_t>;
  EXPECT_THAT(sharing.departures,
              testing::ElementsAre(D{1000000, 0, 1}, D{3000000, 0, 2}, D{10000000, 0, 3}));
}

template <class Use>
std::string ErrorOf(Use use) {
  try {
    use();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

// Several users give the same definition, like the nodes of a shared medium, which has one SPEC.
TEST(SharedLinkTest, SeveralMayGiveTheSameRateAndThenNoneChangesIt) {
  const std::string spec = "rate=8Mbit queue=50p link=air";
  Sharing sharing({spec, spec, spec + " loss=1%"});
  sharing.Push(0, 1000, At(0));
  sharing.Push(1, 1000, At(0));
  sharing[0].Change(ParseSpec(spec + " delay=5ms"), At(1));
  for (const char* change : {"rate=4Mbit queue=50p link=air", "rate=8Mbit link=air", "link=air"}) {
    EXPECT_THAT(ErrorOf([&] { sharing[1].Change(ParseSpec(change), At(1)); }),
                HasSubstr("another SPEC also sets the rate of this link"));
  }
  sharing.RunUntil(AtMs(100));
  using D = std::tuple<int64_t, size_t, uint64_t>;
  EXPECT_THAT(sharing.departures, testing::ElementsAre(D{2000000, 1, 1}, D{6000000, 0, 1}));
}

TEST(SharedLinkTest, RefusesWhatIsNotOneLink) {
  EXPECT_THAT(ErrorOf([] {
                Sharing({"rate=8Mbit link=air", "rate=9Mbit link=air"});
              }),
              HasSubstr("another SPEC also sets the rate of this link"));
  Sharing none({"link=air", "link=air"});
  EXPECT_THAT(ErrorOf([&] { none.links().Check(); }), HasSubstr("link=air: the link has no rate"));
  Sharing sharing({"rate=8Mbit link=air", "link=air", "delay=1ms"});
  EXPECT_NO_THROW(sharing.links().Check());
  EXPECT_THAT(ErrorOf([&] { sharing[1].Change(ParseSpec("rate=1Mbit link=air"), AtMs(1)); }),
              HasSubstr("another SPEC also sets the rate of this link"));
  for (const char* change : {"", "link=other", "rate=1Mbit"}) {
    EXPECT_THAT(ErrorOf([&] { sharing[1].Change(ParseSpec(change), AtMs(1)); }),
                HasSubstr("link: cannot be changed while the path runs"));
  }
  EXPECT_THAT(ErrorOf([&] { sharing[2].Change(ParseSpec("link=air"), AtMs(1)); }),
              HasSubstr("link: cannot be changed"));
  Frames frames;
  EXPECT_THAT(ErrorOf([&] { Pipeline(ParseSpec("link=air"), frames, {}); }),
              HasSubstr("shared links are not supported here"));
}

}  // namespace
}  // namespace viaduct::path
