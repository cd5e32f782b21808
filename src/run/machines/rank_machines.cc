#include "run/machines/rank_machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "run/machines/messages.h"
#include "scenario/machines.h"
#include "sys/network/link.h"

namespace viaduct::machines {
namespace {

constexpr Duration kCleanUpTimeout =
    Duration::Seconds(30);  // time limit for the clean-up on all machines

}  // namespace

RankMachines::RankMachines(MpiLink& link) : link_(link) {
  if (link_.rank() != 0) return;
  conductor_.emplace(link_.size(), [this](const RankMessage& message) {
    for (int rank = 0; rank < link_.size(); ++rank) Send(rank, message);
  });
}

void RankMachines::Enter(const scenario::Scenario& scenario) {
  scenario_ = &scenario;
  std::set<wire::IpAddress> own;
  for (const sys::InterfaceAddress& address : sys::Netlink().Addresses()) {
    own.insert(address.address.address);
  }
  std::string all;
  for (const scenario::Machine& machine : scenario.machines) {
    if (own.contains(machine.address)) machine_ = machine.name;
    all += (all.empty() ? "" : ", ") + machine.address.ToString();
  }
  if (conductor_) {
    conductor_->SetScenario(scenario);
    link_.MeasureClocks();
  }
  if (machine_.empty()) {
    throw UsageError(
        fmt::format("rank {}: none of the addresses of the scenario's machines ({}) belongs to "
                    "this machine; check the key machines",
                    link_.rank(), all));
  }
  Send(0, machines::Meet{"hello", machine_});
  WaitFor([this] { return met_.contains("hello"); });
  clocks_ = met_["hello"].clocks;
  ranks_ = met_["hello"].ranks;
}

bool RankMachines::IsLocal(const std::string& node) const {
  return scenario::MachineOf(*scenario_, node) == machine_;
}

void RankMachines::Join(sys::EventLoop& loop) {
  loop_ = &loop;
  loop.Watch(link_.fd(), [this] { Read(); });
}

void RankMachines::Leave() {
  if (!loop_) return;
  loop_->Forget(link_.fd());
  loop_ = nullptr;
}

void RankMachines::Send(int to, const RankMessage& message) { link_.Send(to, Encode(message)); }

void RankMachines::Read() {
  while (const auto frame = link_.Receive()) Take(*frame);
}

void RankMachines::WaitFor(const std::function<bool()>& condition) {
  if (loop_) {
    loop_->Run(condition);
    return;
  }
  constexpr int kLook = 1000;  // ms between two checks of the condition
  while (!condition()) {
    if (const auto frame = link_.Receive(kLook)) Take(*frame);
  }
}

std::string RankMachines::NameOfLeader() const {
  for (const auto& [machine, rank] : ranks_) {
    if (rank == 0) return "machine " + machine;
  }
  return "the machine of rank 0";
}

void RankMachines::Take(const MpiLink::Frame& frame) {
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
  Take(frame.from, Decode(frame.message));
}

void RankMachines::Take(int from, const RankMessage& message) {
  if (const auto* ended = std::get_if<SenderEnded>(&message)) {
    if (!take_) return early_.push_back(ended->sender);
    return take_(ended->sender);
  }
  if (const auto* failed = std::get_if<Failed>(&message);
      failed && from == 0 && !(conductor_ && !conductor_->failure())) {
    if (ending_) return;
    throw Error(failed->error, static_cast<ExitStatus>(failed->status));
  }
  if (from == 0) {
    if (const auto* given = std::get_if<Given>(&message)) given_ = *given;
    if (const auto* met = std::get_if<Met>(&message)) met_[met->stage] = *met;
    if (const auto* all = std::get_if<RoutesConverged>(&message); all && converged_) {
      converged_(all->go);
    }
    if (std::holds_alternative<End>(message)) all_ended_ = true;
  }
  if (conductor_) conductor_->Take(from, message);
}

Given RankMachines::AwaitScenario() {
  WaitFor([&] { return given_.has_value(); });
  return *given_;
}

void RankMachines::Meet(const std::string& stage) {
  Send(0, machines::Meet{stage});
  WaitFor([&] { return met_.contains(stage); });
}

Instant RankMachines::MeetToStart() {
  Meet("start");
  return Instant::FromNanoseconds(met_["start"].start + clocks_.at(machine_));
}

void RankMachines::ReportRoutes(const scenario::Passages& passages) { Send(0, Routes{passages}); }

void RankMachines::Tell(const std::string& node, const run::RemoteSender& ended) {
  Send(ranks_.at(scenario::MachineOf(*scenario_, node)), SenderEnded{ended});
}

void RankMachines::OnSenderEnded(const std::function<void(const run::RemoteSender&)>& take) {
  take_ = take;
  if (!take_) return;
  for (const run::RemoteSender& ended : std::exchange(early_, {})) take_(ended);
}

Duration RankMachines::ClockAhead(const std::string& node) const {
  return Duration::Nanoseconds(clocks_.at(machine_) -
                               clocks_.at(scenario::MachineOf(*scenario_, node)));
}

std::vector<ClockReading> RankMachines::MeasureClocks() {
  measured_.clear();
  link_.MeasureClocks();
  WaitFor([this] { return !measured_.empty(); });
  return measured_;
}

void RankMachines::AwaitEnd() {
  ending_ = true;
  // Ms between two checks of whether all machines have removed their parts.
  constexpr int kLook = 200;
  const Instant deadline = MonotonicClock::Now() + kCleanUpTimeout;
  while (!all_ended_ && MonotonicClock::Now() < deadline) {
    if (conductor_ && conductor_->Over()) return;
    if (const auto frame = link_.Receive(kLook)) Take(*frame);
  }
}

}  // namespace viaduct::machines
