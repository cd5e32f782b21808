#include "run/machines/rank_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "base/text/json_text.h"
#include "run/machines/messages.h"
#include "scenario/machines.h"
#include "sys/network/link.h"

namespace viaduct::hosts {
namespace {

using nlohmann::json;

constexpr Duration kCleanUpPatience = Duration::Seconds(30);  // for the clean-up on all hosts

}  // namespace

RankPeers::RankPeers(MpiLink& link) : link_(link) {
  if (link_.rank() != 0) return;
  conductor_.emplace(link_.size(), [this](const json& message) {
    for (int rank = 0; rank < link_.size(); ++rank) Send(rank, message);
  });
}

void RankPeers::Enter(const scenario::Scenario& scenario) {
  scenario_ = &scenario;
  std::set<wire::IpAddress> own;
  for (const sys::InterfaceAddress& address : sys::Netlink().Addresses()) {
    own.insert(address.address.address);
  }
  std::string all;
  for (const scenario::LabHost& host : scenario.hosts) {
    if (own.contains(host.address)) host_ = host.name;
    all += (all.empty() ? "" : ", ") + host.address.ToString();
  }
  if (conductor_) {
    conductor_->SetScenario(scenario);
    link_.MeasureClocks();
  }
  if (host_.empty()) {
    throw UsageError(fmt::format(
        "rank {}: this machine has none of the hosts' addresses ({}); see hosts in the file",
        link_.rank(), all));
  }
  Send(0, {{"type", kMeet}, {"stage", "hello"}, {"host", host_}});
  WaitFor([this] { return met_.contains("hello"); });
  const json& hello = met_["hello"];
  hello.at("clocks").get_to(clocks_);
  hello.at("ranks").get_to(ranks_);
}

bool RankPeers::IsHere(const std::string& node) const {
  return scenario::LabHostOf(*scenario_, node) == host_;
}

void RankPeers::Join(sys::EventLoop& loop) {
  loop_ = &loop;
  loop.Watch(link_.Fd(), [this] { Read(); });
}

void RankPeers::Leave() {
  if (!loop_) return;
  loop_->Forget(link_.Fd());
  loop_ = nullptr;
}

void RankPeers::Send(int to, const json& message) { link_.Send(to, JsonText(message)); }

void RankPeers::Read() {
  while (const auto frame = link_.Receive()) Take(*frame);
}

void RankPeers::WaitFor(const std::function<bool()>& condition) {
  if (loop_) {
    loop_->Run(condition);
    return;
  }
  constexpr int kLook = 1000;  // ms
  while (!condition()) {
    if (const auto frame = link_.Receive(kLook)) Take(*frame);
  }
}

std::string RankPeers::NameOfLeader() const {
  for (const auto& [host, rank] : ranks_) {
    if (rank == 0) return "host " + host;
  }
  return "the host of rank 0";
}

void RankPeers::Take(const MpiLink::Frame& frame) {
  if (!frame.clocks.empty()) {
    measured_ = frame.clocks;
    if (conductor_) conductor_->SetClocks(frame.clocks);
    return;
  }
  if (frame.message.empty()) {
    if (conductor_) conductor_->Ended(frame.from, frame.silent);
    if (frame.from == 0) leader_is_gone_ = true;
    if (frame.from == 0 && !ending_) {
      throw Error(
          fmt::format("{}: {}; the run is VOID", NameOfLeader(), frame.silent ? kSilent : kEnded),
          ExitStatus::kVoid);
    }
    return;
  }
  const json message = json::parse(frame.message, nullptr, false);
  if (!message.is_object()) throw Error("another host sent a malformed message");
  TakeMessage(frame.from, message);
}

void RankPeers::TakeMessage(int from, const json& message) {
  const std::string type = message.at("type");
  const bool from_rank_0 =
      from == 0 && (type == kMet || type == kConverged || type == kEnd || type == kScenario);
  if (type == kFlow) {
    if (take_) {
      take_(message);
    } else {
      early_.push_back(message);
    }
  } else if (from_rank_0) {
    if (type == kMet) met_[message.at("stage")] = message;
    if (type == kConverged && converged_) converged_(message);
    first_.emplace(type, message);
  } else if (type == kFailed && from == 0 && !(conductor_ && !conductor_->failure())) {
    if (ending_) return;
    throw Error(message.at("error").get<std::string>(),
                static_cast<ExitStatus>(message.at("status").get<int>()));
  } else if (conductor_) {
    conductor_->Take(from, message);
  }
}

json RankPeers::Await(const std::string& type) {
  WaitFor([&] { return first_.contains(type); });
  return first_[type];
}

void RankPeers::Meet(const std::string& stage) {
  Send(0, {{"type", kMeet}, {"stage", stage}});
  WaitFor([&] { return met_.contains(stage); });
}

Instant RankPeers::MeetToStart() {
  Meet("start");
  const int64_t at = met_["start"].at("start").get<int64_t>();
  return Instant::FromNanoseconds(at + clocks_.at(host_));
}

void RankPeers::ReportRoutes(const json& passages) {
  Send(0, {{"type", kRoutes}, {"passages", passages}});
}

void RankPeers::Tell(const std::string& node, const json& message) {
  json complete = message;
  complete["type"] = kFlow;
  Send(ranks_.at(scenario::LabHostOf(*scenario_, node)), complete);
}

void RankPeers::OnMessage(std::function<void(const json&)> take) {
  take_ = std::move(take);
  if (!take_) return;
  for (const json& message : std::exchange(early_, {})) take_(message);
}

Duration RankPeers::ClockAhead(const std::string& node) const {
  return Duration::Nanoseconds(clocks_.at(host_) -
                               clocks_.at(scenario::LabHostOf(*scenario_, node)));
}

std::vector<ClockReading> RankPeers::MeasureClocks() {
  measured_.clear();
  link_.MeasureClocks();
  WaitFor([this] { return !measured_.empty(); });
  return measured_;
}

void RankPeers::AwaitEnd() {
  ending_ = true;
  constexpr int kLook = 200;  // ms
  const Instant deadline = MonotonicClock::Now() + kCleanUpPatience;
  while (!first_.contains(kEnd) && MonotonicClock::Now() < deadline) {
    if (conductor_ && conductor_->Over()) return;
    if (const auto frame = link_.Receive(kLook)) Take(*frame);
  }
}

}  // namespace viaduct::hosts
