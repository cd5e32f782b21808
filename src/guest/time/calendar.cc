#include "guest/time/calendar.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/error.h"
#include "guest/process/sockets.h"

namespace viaduct::guest {
namespace {

// A guest that is let run so often without the clock moving never will move it.
constexpr uint64_t kMaxRunsAtInstant = 1'000'000;
constexpr size_t kLastWords = 5;
// Nearly every run is over by then; until then what else the guest says (about its devices, on its
// console) waits.
constexpr Duration kDeafness = Duration::Milliseconds(5);

// The end of what may happen at `at`: guests keep their clock below a limit.
Instant JustAfter(Instant at) {
  return at == Instant::Never() ? at : at + Duration::Nanoseconds(1);
}

}  // namespace

Calendar::Calendar(Simulator& simulator, const CalendarOptions& options)
    : main_simulator_(simulator),
      options_(options),
      start_(simulator.Now()),
      origin_(start_ - options.uptime),
      boot_queue_(origin_),
      simulator_(&boot_queue_) {
  main_simulator_.SetWake([this] { Wake(); });
  boot_queue_.SetWake([this] { Wake(); });
}

Calendar::~Calendar() { guests_.clear(); }

Guest& Calendar::AddGuest(std::string name, Guest::Launcher launcher) {
  if (schedule_) throw Error("a guest after the start of all guests");
  const size_t slot = guests_.size() + 1;
  if (slot >= std::numeric_limits<uint16_t>::max()) throw UsageError("more than 65000 guests");
  return *guests_.emplace_back(std::make_unique<Guest>(*this, static_cast<uint16_t>(slot),
                                                       std::move(name), std::move(launcher)));
}

// Said by the guest before anything else it does, once START is answered.
void Calendar::NoteMode(Guest& guest) {
  if (guest.state_ != Guest::State::kRunning || std::exchange(guest.mode_known_, true)) return;
  guest.shared_ = schedule_->Joined(guest.slot());
  guest.shares_queues_ = guest.shared_ && schedule_->SharesQueues(guest.slot());
  guest.has_doorbell_ = guest.shared_ && schedule_->HasDoorbell(guest.slot());
}

uint64_t Calendar::ToWire(Instant t) const {
  return t == Instant::Never() ? kNeverWire : static_cast<uint64_t>((t - origin_).nanoseconds());
}

Instant Calendar::FromWire(uint64_t time) const {
  // Half the axis is left for sums.
  if (time >= kNeverWire / 2) return Instant::Never();
  return origin_ + Duration::Nanoseconds(static_cast<int64_t>(time));
}

Instant Calendar::Present() const {
  if (running_ == nullptr) return simulator_->Now();
  if (!running_->shared_) return present_;
  const Instant claimed = FromWire(schedule_->CurrentTime());
  if (claimed > limit_) throw Error("advanced its clock further than it was allowed");
  return std::max(present_, claimed);
}

void Calendar::Schedule(Instant at, std::function<void()> action) {
  simulator_->Schedule(at, std::move(action));
  if (running_ == nullptr) return;
  // Before the guest goes on: it must not pass the new event.
  const Instant until = JustAfter(at);
  if (until < limit_) Promise(*running_, until);
}

template <typename Action>
void Calendar::Guarded(Guest& guest, Action action) {
  if (failure_) throw *failure_;
  try {
    action();
  } catch (const Error& error) {
    Fail(guest, error);
  }
}

void Calendar::Fail(const Guest& guest, const Error& error) {
  if (failure_) throw *failure_;
  failure_.emplace(Message(guest, error), error.status());
  running_ = nullptr;
  for (const auto& each : guests_) each->process_.Kill();
  folder_.reset();
  throw *failure_;
}

// What the user or the machine did wrong needs no time and no console to be understood.
std::string Calendar::Message(const Guest& guest, const Error& error) const {
  if (error.status() == ExitStatus::kUsage || error.status() == ExitStatus::kEnvironment) {
    return fmt::format("kernel {}: {}", guest.name(), error.what());
  }
  const Instant now = running_ == &guest && !guest.shared_ ? present_ : simulator_->Now();
  std::string words = guest.console_.LastLines(kLastWords);
  if (!words.empty()) words = "; its console ended: " + words;
  return fmt::format("kernel {} {}, at {:.9f} s{}", guest.name(), error.what(),
                     static_cast<double>(now.nanoseconds()) / 1e9, words);
}

void Calendar::Boot() {
  if (main_simulator_.Now() != start_) throw Error("guests boot at another time than planned");
  schedule_.emplace(static_cast<uint16_t>(guests_.size()));
  folder_.emplace();
  for (const auto& guest : guests_) {
    const auto folder = folder_->path() / std::to_string(guest->slot());
    std::filesystem::create_directory(folder);
    Guarded(*guest, [&] { guest->Launch(folder); });
  }
  for (const auto& guest : guests_) Guarded(*guest, [&] { AwaitStart(*guest); });
  for (const auto& guest : guests_) Guarded(*guest, [&] { BootGuest(*guest); });
  Arm();
  boot_queue_.RunUntil(start_);
  simulator_ = &main_simulator_;
  armed_ = Instant::Never();
  boot_queue_.MoveTo(main_simulator_);
  folder_.reset();
  Arm();
}

void Calendar::AwaitStart(Guest& guest) {
  while (guest.state_ == Guest::State::kStarting) {
    if (!guest.ServeOnce(options_.patience)) {
      throw Error(
          fmt::format("did not ask for the time within {:.0f} s: is it a kernel with "
                      "time travel (viaduct kernel list)?",
                      options_.patience.ToSeconds()));
    }
  }
}

// Answering START lets the guest boot. The others, still to be answered, want to run at the same
// instant, so the guest stops at its first wait.
void Calendar::BootGuest(Guest& guest) {
  guest.request_ = Instant::Never();
  present_ = simulator_->Now();
  limit_ = Limit(guest);
  schedule_->SetCurrentTime(ToWire(present_));
  schedule_->SetFreeUntil(ToWire(limit_));
  schedule_->SetRunning(guest.slot());
  guest.state_ = Guest::State::kRunning;
  running_ = &guest;
  const TimeTravelMessage answer{static_cast<uint32_t>(TimeTravelOp::kAck), guest.start_sequence_,
                                 guest.slot()};
  // The second descriptor is for a log that guests may keep; they do not.
  const UniqueFd log(SystemCall("open /dev/null", open("/dev/null", O_RDWR | O_CLOEXEC)));
  const std::array<int, 2> descriptors{schedule_->memory_fd(), log.get()};
  SendWithDescriptors(guest.time_travel_.get(), std::as_bytes(std::span(&answer, 1)), descriptors);
  ServeUntilWait(guest);
}

void Calendar::Wake() {
  if (failure_) throw *failure_;
  armed_ = Instant::Never();
  in_wake_ = true;
  const Instant now = simulator_->Now();
  for (const auto& guest : guests_) {
    if (guest->request_ > now) continue;
    Guarded(*guest, [&] {
      NoteProgress(now);
      Run(*guest, Limit(*guest));
    });
  }
  in_wake_ = false;
  Arm();
}

void Calendar::NoteProgress(Instant now) {
  runs_at_instant_ = now == last_run_ ? runs_at_instant_ + 1 : 0;
  last_run_ = now;
  if (runs_at_instant_ > kMaxRunsAtInstant) {
    throw Error("keeps running without its time going on: something in it spins");
  }
}

bool Calendar::Settle(Guest& guest) {
  if (guest.state_ == Guest::State::kStarting || guest.state_ == Guest::State::kReady) return false;
  const Instant now = simulator_->Now();
  Guarded(guest, [&] {
    while (guest.request_ <= now) {
      NoteProgress(now);
      Run(guest, now);
    }
  });
  Arm();
  return true;
}

// How far a guest may go from the present instant: something else may happen then.
Instant Calendar::Limit(const Guest& guest) const {
  const Instant end_of_boot = booting() ? start_ : Instant::Never();
  const Instant now = simulator_->Now();
  return std::min(
      {simulator_->NextEvent(), EarliestOther(&guest), now + options_.horizon, end_of_boot});
}

void Calendar::Run(Guest& guest, Instant limit) {
  ++counters_.runs;
  present_ = simulator_->Now();
  guest.request_ = Instant::Never();
  guest.state_ = Guest::State::kRunning;
  running_ = &guest;
  if (guest.shared_) {
    schedule_->SetCurrentTime(ToWire(present_));
    schedule_->ClearRequest(guest.slot());
    schedule_->SetRunning(guest.slot());
    HandOverCalls(guest);
  }
  Promise(guest, std::max(limit, JustAfter(present_)));
  if (guest.has_doorbell_) {
    RunByDoorbell(guest);
  } else {
    guest.acknowledged_ = false;
    guest.Send(TimeTravelOp::kRun, next_sequence_++, ToWire(present_));
    if (!guest.shared_) AwaitAcknowledgement(guest);
  }
  if (guest.state_ == Guest::State::kRunning) ServeUntilWait(guest);
}

void Calendar::RunByDoorbell(Guest& guest) {
  // While guests boot their devices say much by message, later hardly ever.
  const bool listens = guest.shares_queues_ && !booting();
  schedule_->LetRun(guest.slot(), listens);
  if (!listens) return;
  const auto waits = schedule_->AwaitWait(guest.slot(), guest.waits_, kDeafness);
  if (!waits) return;
  guest.waits_ = *waits;
  EndRun(guest);
}

// Guests may advance to any time before the promised one.
void Calendar::Promise(Guest& guest, Instant until) {
  limit_ = until;
  if (guest.shared_) {
    schedule_->SetFreeUntil(ToWire(until));
    return;
  }
  guest.acknowledged_ = false;
  guest.Send(TimeTravelOp::kFreeUntil, next_sequence_++, ToWire(until));
  AwaitAcknowledgement(guest);
}

void Calendar::AwaitAcknowledgement(Guest& guest) {
  while (!guest.acknowledged_) {
    if (!guest.AwaitTimeTravel(options_.patience)) throw Error("does not answer its calendar");
  }
}

void Calendar::ServeUntilWait(Guest& guest) {
  uint64_t last = schedule_->CurrentTime();
  while (guest.state_ == Guest::State::kRunning) {
    if (guest.ServeOnce(options_.patience)) continue;
    const uint64_t current = schedule_->CurrentTime();
    if (!guest.shared_ || current == last) {
      throw Error(
          fmt::format("has run for {:.0f} s without its time going on: something in it spins",
                      options_.patience.ToSeconds()));
    }
    last = current;
  }
}

void Calendar::Handle(Guest& guest, const TimeTravelMessage& message) {
  ++counters_.messages;
  const auto op = static_cast<TimeTravelOp>(message.op);
  switch (op) {
    case TimeTravelOp::kAck:
      guest.acknowledged_ = true;
      return;
    case TimeTravelOp::kStart:
      if (guest.state_ != Guest::State::kStarting) throw Error("started twice");
      guest.state_ = Guest::State::kReady;
      guest.start_sequence_ = message.sequence;
      guest.request_ = origin_;
      return;
    case TimeTravelOp::kRequest:
      guest.request_ = std::max(FromWire(message.time), Present());
      return guest.Send(TimeTravelOp::kAck, message.sequence, 0);
    case TimeTravelOp::kWait: {
      const auto waits = static_cast<uint32_t>(message.time);
      if (guest.has_doorbell_) {
        // It saw that a message was wanted just when the calendar saw that it waits.
        if (static_cast<int32_t>(waits - guest.waits_) <= 0) return;
        guest.waits_ = waits;
      }
      EndRun(guest);
      if (!guest.shared_) guest.Send(TimeTravelOp::kAck, message.sequence, 0);
      return;
    }
    case TimeTravelOp::kGet:
      return guest.Send(TimeTravelOp::kAck, message.sequence, ToWire(Present()));
    case TimeTravelOp::kUpdate:
      return HandleUpdate(guest, message);
    case TimeTravelOp::kGetTod:
      return guest.Send(
          TimeTravelOp::kAck, message.sequence,
          static_cast<uint64_t>((Present() - Instant() + options_.epoch).nanoseconds()));
    default:
      throw Error(fmt::format("sent {}, which guests do not", Name(op)));
  }
}

void Calendar::EndRun(Guest& guest) {
  if (running_ != &guest) throw Error("waits without having run");
  present_ = Present();
  // Before it stops being the one that runs: its frames are of its instant.
  if (guest.shares_queues_) guest.DrainKicked(schedule_->TakeKicks(guest.slot()));
  guest.state_ = Guest::State::kWaiting;
  running_ = nullptr;
  if (guest.shared_) {
    // Nobody's: interrupts of devices must not be taken as this guest's own time.
    schedule_->SetRunning(0);
    ReadRequest(guest);
  }
}

void Calendar::HandleUpdate(Guest& guest, const TimeTravelMessage& message) {
  const Instant time = FromWire(message.time);
  if (running_ != &guest || time < present_ || time > limit_) {
    throw Error(fmt::format("set its clock to {} ns, which it may not", message.time));
  }
  present_ = time;
  guest.Send(TimeTravelOp::kAck, message.sequence, 0);
}

void Calendar::ReadRequest(Guest& guest) {
  if (guest.shared_) guest.request_ = FromWire(schedule_->Request(guest.slot()));
  if (!guest.called_.empty()) {
    guest.request_ = std::min(guest.request_, std::max(present_, simulator_->Now()));
  }
}

void Calendar::Call(Guest& guest, uint16_t queue) {
  Guarded(guest, [&] {
    if (running_ != nullptr) throw Error("was interrupted while a guest runs");
  });
  ++counters_.calls;
  guest.called_.push_back(queue);
  guest.request_ = std::min(guest.request_, simulator_->Now());
  Arm();
}

// What there is no room for waits for the guest to be let run once more, at the same instant.
void Calendar::HandOverCalls(Guest& guest) {
  auto& called = guest.called_;
  const size_t count = std::min(called.size(), SharedSchedule::kMaxQueues);
  if (count == 0) return;
  schedule_->SetCalls(guest.slot(), std::span(called).first(count));
  called.erase(called.begin(), called.begin() + static_cast<ptrdiff_t>(count));
}

void Calendar::Interrupt(Guest& guest, int channel, std::span<const std::byte> request) {
  Guarded(guest, [&] {
    if (running_ != nullptr) throw Error("was interrupted while a guest runs");
    ++counters_.interrupts;
    schedule_->SetCurrentTime(ToWire(simulator_->Now()));
    SendAll(channel, request);
    if (!guest.AwaitAnswer(channel, options_.patience)) {
      throw Error("does not answer an interrupt");
    }
    std::array<std::byte, sizeof(VhostHeader) + sizeof(uint64_t)> answer;
    std::vector<UniqueFd> none;
    const size_t length = ReceiveWithDescriptors(channel, answer, none);
    if (length == 0) guest.ThrowFate();
    uint64_t refused = 1;
    if (length == answer.size()) {
      std::memcpy(&refused, answer.data() + sizeof(VhostHeader), sizeof refused);
    }
    if (refused != 0) throw Error("answered an interrupt with an error");
    ReadRequest(guest);
  });
  Arm();
}

Instant Calendar::EarliestOther(const Guest* except) const {
  Instant earliest = Instant::Never();
  for (const auto& guest : guests_) {
    if (guest.get() != except) earliest = std::min(earliest, guest->request_);
  }
  return earliest;
}

void Calendar::Arm() {
  if (in_wake_ || running_ != nullptr) return;
  const Instant earliest = EarliestOther(nullptr);
  const Instant at =
      earliest == Instant::Never() ? earliest : std::max(earliest, simulator_->Now());
  if (at == armed_) return;
  armed_ = at;
  simulator_->WakeAt(at);
}

}  // namespace viaduct::guest
