#include "guest/time/calendar.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/fd.h"

namespace viaduct::guest {
namespace {

// The maximum number of runs of a guest at one instant. A guest that exceeds this number will never
// advance its clock.
constexpr uint64_t kMaxRunsAtInstant = 1'000'000;
// The number of lines of a guest's console that the error message quotes when the guest fails.
constexpr size_t kLastLines = 5;
// The wall time for which the calendar watches only the doorbell of a running guest. Nearly every
// run ends within this time; in a longer run the calendar then also reads the guest's sockets
// (devices, console).
constexpr Duration kDoorbellTimeout = Duration::Milliseconds(5);

// Returns the limit of the clock of a guest that may process all events that are due at `at`. The
// limit is later than `at`, because a guest's clock stays below its limit.
Instant JustAfter(Instant at) {
  return at == Instant::Never() ? at : at + Duration::Nanoseconds(1);
}

}  // namespace

struct Calendar::Member final : DeviceHost {
  enum class State { kStarting, kReady, kRunning, kWaiting };

  Member(Calendar& owner, uint16_t slot, std::string name, Guest::Launcher launcher)
      : calendar(owner),
        guest(slot, std::move(name), std::move(launcher), *this,
              [this](const TimeTravelMessage& message) { calendar.Handle(*this, message); }) {}

  Instant Present() override {
    calendar.NoteMode(*this);
    return calendar.Present();
  }
  void Schedule(Instant at, std::function<void()> action) override {
    calendar.Schedule(at, std::move(action));
  }
  void Interrupt(int channel, std::span<const std::byte> request) override {
    calendar.Interrupt(*this, channel, request);
  }
  bool InterruptWithRun(size_t device, uint32_t queue) override {
    const auto name = SharedSchedule::QueueName(device, queue);
    if (!shares_queues || !name) return false;
    calendar.InterruptWithRun(*this, *name);
    return true;
  }
  void Answer(const TimeTravelMessage& message, uint64_t time = 0) const {
    guest.Send(TimeTravelOp::kAck, message.sequence, time);
  }

  Calendar& calendar;
  Guest guest;
  State state = State::kStarting;
  bool mode_known = false;
  bool shared = false;           // the guest takes part in the shared schedule
  bool shares_queues = false;    // the schedule has notifications of queues
  bool has_doorbell = false;     // the schedule signals running and waiting
  uint32_t waits = 0;            // the number of the guest's waits, if it has a doorbell
  std::vector<uint16_t> called;  // the queues whose interrupts the next run passes
  bool serves_sockets = false;   // the guest's kernel serves sockets
  bool serves_messages = false;  // the kernel serves not only TCP sockets
  bool runs_again = false;       // the guest runs again at the present instant, for its sockets
  AfterRun after_run;            // called for the sockets that the kernel serves
  KeepsMore keeps_more;          // called for the sockets that the kernel serves
  bool acknowledged = false;     // the answer to kRun or kFreeUntil has arrived
  uint32_t start_sequence = 0;   // the sequence number of the START to answer
  Instant request = Instant::Never();
};

Calendar::Calendar(Timeline& timeline, const CalendarOptions& options)
    : main_timeline_(timeline),
      options_(options),
      start_(timeline.Now()),
      origin_(start_ - options.uptime),
      boot_queue_(origin_),
      timeline_(&boot_queue_) {
  main_timeline_.SetWake([this] { Wake(); });
  boot_queue_.SetWake([this] { Wake(); });
}

Calendar::~Calendar() = default;

Guest& Calendar::AddGuest(std::string name, Guest::Launcher launcher) {
  if (schedule_) throw Error("a guest was added after all guests had started");
  const size_t slot = members_.size() + 1;
  if (slot >= std::numeric_limits<uint16_t>::max()) throw UsageError("more than 65000 guests");
  return members_
      .emplace_back(std::make_unique<Member>(*this, static_cast<uint16_t>(slot), std::move(name),
                                             std::move(launcher)))
      ->guest;
}

// Reads which parts of the schedule a guest uses. The guest records them in the schedule before
// anything else after the answer to its START, so the calendar reads them at the guest's first
// message.
void Calendar::NoteMode(Member& member) {
  if (member.state != Member::State::kRunning || std::exchange(member.mode_known, true)) return;
  const SharedSchedule::Use use = schedule_->UseOf(member.guest.slot());
  member.shared = use.time;
  member.shares_queues = use.queues;
  member.has_doorbell = use.doorbells;
  member.serves_sockets = use.sockets;
  member.serves_messages = use.messages;
}

uint64_t Calendar::ToWire(Instant t) const {
  return t == Instant::Never() ? kNeverWire : static_cast<uint64_t>((t - origin_).nanoseconds());
}

Instant Calendar::FromWire(uint64_t time) const {
  // Times from kNeverWire / 2 upwards count as "never", so that sums of times do not overflow.
  if (time >= kNeverWire / 2) return Instant::Never();
  return origin_ + Duration::Nanoseconds(static_cast<int64_t>(time));
}

Instant Calendar::Present() const {
  if (running_ == nullptr) return timeline_->Now();
  if (!running_->shared) return present_;
  const Instant claimed = FromWire(schedule_->CurrentTime());
  if (claimed > limit_) throw Error("advanced its clock further than allowed");
  return std::max(present_, claimed);
}

void Calendar::Schedule(Instant at, std::function<void()> action) {
  timeline_->Schedule(at, std::move(action));
  if (running_ == nullptr) return;
  // Reduces the running guest's limit before the guest continues, because the guest must not pass
  // the new event.
  const Instant until = JustAfter(at);
  if (until < limit_) Promise(*running_, until);
}

template <typename Action>
void Calendar::Guarded(const Member& member, Action action) {
  if (failure_) throw *failure_;
  try {
    action();
  } catch (const Error& error) {
    Fail(member, error);
  }
}

void Calendar::Fail(const Member& member, const Error& error) {
  if (failure_) throw *failure_;
  failure_.emplace(Message(member, error), error.status());
  running_ = nullptr;
  for (const auto& each : members_) each->guest.Kill();
  folder_.reset();
  throw *failure_;
}

// Returns the error message for a guest's failure. For errors of the user or the machine, the
// message has neither the time nor the console's last lines.
std::string Calendar::Message(const Member& member, const Error& error) const {
  if (error.status() == ExitStatus::kUsage || error.status() == ExitStatus::kEnvironment) {
    return fmt::format("kernel {}: {}", member.guest.name(), error.what());
  }
  const Instant now = running_ == &member && !member.shared ? present_ : timeline_->Now();
  std::string lines = member.guest.console().LastLines(kLastLines);
  if (!lines.empty()) lines = "; the last lines of the guest's console: " + lines;
  return fmt::format("kernel {} {}, at {:.9f} s{}", member.guest.name(), error.what(),
                     static_cast<double>(now.nanoseconds()) / 1e9, lines);
}

void Calendar::Boot() {
  if (main_timeline_.Now() != start_) throw Error("guests boot at a time other than planned");
  const bool sockets = std::any_of(members_.begin(), members_.end(),
                                   [](const auto& member) { return member->after_run != nullptr; });
  schedule_.emplace(static_cast<uint16_t>(members_.size()), sockets);
  folder_.emplace();
  for (const auto& member : members_) {
    const auto folder = folder_->path() / std::to_string(member->guest.slot());
    std::filesystem::create_directory(folder);
    Guarded(*member, [&] { member->guest.Launch(folder, folder_->memory()); });
  }
  for (const auto& member : members_) Guarded(*member, [&] { AwaitStart(*member); });
  for (const auto& member : members_) Guarded(*member, [&] { BootGuest(*member); });
  Arm();
  boot_queue_.RunUntil(start_);
  timeline_ = &main_timeline_;
  armed_ = Instant::Never();
  boot_queue_.MoveTo(main_timeline_);
  for (const auto& member : members_) member->guest.LeaveFolder();
  folder_.reset();
  Arm();
}

void Calendar::AwaitStart(Member& member) {
  while (member.state == Member::State::kStarting) {
    if (member.guest.Serve(options_.timeout)) continue;
    throw Error(
        fmt::format("did not ask for the time within {:.0f} s; check that the kernel supports "
                    "time travel (viaduct kernel list)",
                    options_.timeout.ToSeconds()));
  }
}

// Lets a guest boot by answering its START. All guests that have not been answered yet request the
// same instant, so the guest stops at its first wait.
void Calendar::BootGuest(Member& member) {
  member.request = Instant::Never();
  present_ = timeline_->Now();
  limit_ = Limit(member);
  schedule_->SetCurrentTime(ToWire(present_));
  schedule_->SetFreeUntil(ToWire(limit_));
  schedule_->SetRunning(member.guest.slot());
  member.state = Member::State::kRunning;
  running_ = &member;
  // The answer's second descriptor is for a log that guests may keep; the guests of a calendar keep
  // none.
  const UniqueFd log(SystemCall("open /dev/null", open("/dev/null", O_RDWR | O_CLOEXEC)));
  const std::array descriptors{schedule_->memory_fd(), log.get()};
  member.guest.Send(TimeTravelOp::kAck, member.start_sequence, member.guest.slot(), descriptors);
  ServeUntilWait(member);
}

void Calendar::Wake() {
  if (failure_) throw *failure_;
  armed_ = Instant::Never();
  in_wake_ = true;
  const Instant now = timeline_->Now();
  for (const auto& member : members_) {
    if (member->request > now) continue;
    Guarded(*member, [&] {
      NoteProgress(now);
      Run(*member, Limit(*member));
    });
  }
  in_wake_ = false;
  Arm();
}

void Calendar::NoteProgress(Instant now) {
  runs_at_instant_ = now == last_run_ ? runs_at_instant_ + 1 : 0;
  last_run_ = now;
  if (runs_at_instant_ > kMaxRunsAtInstant) {
    throw Error(
        "keeps running without advancing its time: a program in the guest polls without sleeping");
  }
}

Calendar::Member& Calendar::MemberOf(const Guest& guest) const {
  return *members_[guest.slot() - 1];
}

void Calendar::SetSockets(const Guest& guest, AfterRun after_run, KeepsMore keeps_more) {
  Member& member = MemberOf(guest);
  member.after_run = std::move(after_run);
  member.keeps_more = std::move(keeps_more);
}

bool Calendar::ServesMessages(const Guest& guest) const { return MemberOf(guest).serves_messages; }

void Calendar::RunNow(const Guest& guest, const std::function<void()>& cause) {
  Member& member = MemberOf(guest);
  Guarded(member, [&] {
    RequireAllWait();
    cause();
  });
  member.runs_again = true;
  member.request = std::min(member.request, timeline_->Now());
  Arm();
}

bool Calendar::Settle(const Guest& guest) {
  Member& member = MemberOf(guest);
  using State = Member::State;
  if (member.state == State::kStarting || member.state == State::kReady) return false;
  const Instant now = timeline_->Now();
  Guarded(member, [&] {
    while (member.request <= now) {
      NoteProgress(now);
      Run(member, now);
    }
  });
  Arm();
  return true;
}

// Returns the limit to which a guest may advance its clock from the present instant: the next
// instant at which another guest or the simulator may act.
Instant Calendar::Limit(const Member& member) const {
  const Instant end_of_boot = booting() ? start_ : Instant::Never();
  const Instant now = timeline_->Now();
  return std::min(
      {timeline_->NextEvent(), EarliestOther(&member), now + options_.horizon, end_of_boot});
}

void Calendar::Run(Member& member, Instant limit) {
  ++counters_.runs;
  present_ = timeline_->Now();
  member.request = Instant::Never();
  member.state = Member::State::kRunning;
  running_ = &member;
  if (member.shared) {
    schedule_->SetCurrentTime(ToWire(present_));
    schedule_->ClearRequest(member.guest.slot());
    schedule_->SetRunning(member.guest.slot());
    HandOverCalls(member);
    // A guest that gets the remaining queues or operations in a further run at this instant must
    // not leave the instant before that run; otherwise the guest's clock would be set back.
    if (!member.called.empty() || (member.keeps_more && member.keeps_more())) limit = present_;
  }
  Promise(member, std::max(limit, JustAfter(present_)));
  if (member.has_doorbell) {
    RunByDoorbell(member);
  } else {
    member.acknowledged = false;
    member.guest.Send(TimeTravelOp::kRun, next_sequence_++, ToWire(present_));
    if (!member.shared) AwaitAcknowledgement(member);
  }
  if (member.state == Member::State::kRunning) ServeUntilWait(member);
}

void Calendar::RunByDoorbell(Member& member) {
  // The calendar waits for messages while guests boot, because they send many messages about their
  // devices; afterwards guests send few.
  const bool listens = member.shares_queues && !booting();
  schedule_->LetRun(member.guest.slot(), listens);
  const bool embedded = member.guest.embedded();
  if (!embedded) schedule_->Wake(member.guest.slot());
  if (!listens) return;
  if (embedded) member.guest.LetRun(options_.timeout);
  const auto waits = schedule_->AwaitWait(member.guest.slot(), member.waits,
                                          embedded ? Duration() : kDoorbellTimeout);
  if (!waits) return;
  member.waits = *waits;
  EndRun(member);
}

// Sets the limit of the running guest: it may advance to any time before `until`.
void Calendar::Promise(Member& member, Instant until) {
  limit_ = until;
  if (member.shared) {
    schedule_->SetFreeUntil(ToWire(until));
    return;
  }
  member.acknowledged = false;
  member.guest.Send(TimeTravelOp::kFreeUntil, next_sequence_++, ToWire(until));
  AwaitAcknowledgement(member);
}

void Calendar::AwaitAcknowledgement(Member& member) {
  while (!member.acknowledged) {
    if (!member.guest.ServeTimeTravel(options_.timeout)) {
      throw Error("does not answer the calendar, which controls virtual time");
    }
  }
}

void Calendar::ServeUntilWait(Member& member) {
  uint64_t last = schedule_->CurrentTime();
  while (member.state == Member::State::kRunning) {
    if (member.guest.Serve(options_.timeout)) continue;
    const uint64_t current = schedule_->CurrentTime();
    if (!member.shared || current == last) {
      throw Error(fmt::format(
          "has run for {:.0f} s without advancing its time: a program in the guest polls "
          "without sleeping, or the guest has too little memory (attribute Memory)",
          options_.timeout.ToSeconds()));
    }
    last = current;
  }
}

void Calendar::Handle(Member& member, const TimeTravelMessage& message) {
  ++counters_.messages;
  NoteMode(member);
  const auto op = static_cast<TimeTravelOp>(message.op);
  switch (op) {
    case TimeTravelOp::kAck:
      member.acknowledged = true;
      return;
    case TimeTravelOp::kStart:
      if (member.state != Member::State::kStarting) throw Error("started twice");
      member.state = Member::State::kReady;
      member.start_sequence = message.sequence;
      member.request = origin_;
      return;
    case TimeTravelOp::kRequest:
      member.request = std::max(FromWire(message.time), Present());
      return member.Answer(message);
    case TimeTravelOp::kWait:
      return HandleWait(member, message);
    case TimeTravelOp::kGet:
      return member.Answer(message, ToWire(Present()));
    case TimeTravelOp::kUpdate:
      return HandleUpdate(member, message);
    case TimeTravelOp::kGetTod: {
      const Duration time_of_day = Present() - Instant() + options_.epoch;
      return member.Answer(message, static_cast<uint64_t>(time_of_day.nanoseconds()));
    }
    default:
      throw Error(fmt::format("sent {}, which only the calendar may send", Name(op)));
  }
}

void Calendar::HandleWait(Member& member, const TimeTravelMessage& message) {
  if (member.has_doorbell) {
    // A guest sends a message if it saw, when it began to wait, that the calendar waits for
    // messages. The calendar may have read the guest's doorbell at that moment, so the wait may
    // already have been handled.
    const auto waits = static_cast<uint32_t>(message.time);
    if (static_cast<int32_t>(waits - member.waits) <= 0) return;
    member.waits = waits;
  }
  EndRun(member);
  if (!member.shared) member.Answer(message);
}

void Calendar::EndRun(Member& member) {
  if (running_ != &member) throw Error("reported a wait, although the guest was not running");
  present_ = Present();
  // Reads the guest's queues while the guest still counts as running, because its frames are sent
  // at the guest's instant.
  if (member.shares_queues) member.guest.DrainKicked(schedule_->TakeKicks(member.guest.slot()));
  member.runs_again = member.serves_sockets && member.after_run &&
                      member.after_run(schedule_->SocketsOf(member.guest.slot()));
  member.state = Member::State::kWaiting;
  running_ = nullptr;
  if (member.shared) {
    // Records that no guest runs, because a guest that is interrupted by a device must not advance
    // the schedule's time.
    schedule_->SetRunning(0);
    ReadRequest(member);
  }
}

void Calendar::HandleUpdate(Member& member, const TimeTravelMessage& message) {
  const Instant time = FromWire(message.time);
  if (running_ != &member || time < present_ || time > limit_) {
    throw Error(fmt::format("set its clock to {} ns, which is not permitted", message.time));
  }
  present_ = time;
  member.Answer(message);
}

void Calendar::ReadRequest(Member& member) {
  if (member.shared) member.request = FromWire(schedule_->Request(member.guest.slot()));
  if (!member.called.empty() || member.runs_again) {
    member.request = std::min(member.request, std::max(present_, timeline_->Now()));
  }
}

void Calendar::RequireAllWait() const {
  if (running_ != nullptr) throw Error("was interrupted while a guest was running");
}

void Calendar::InterruptWithRun(Member& member, uint16_t queue) {
  Guarded(member, [&] { RequireAllWait(); });
  ++counters_.calls;
  member.called.push_back(queue);
  member.request = std::min(member.request, timeline_->Now());
  Arm();
}

// Puts the queues to interrupt into the schedule, which has space for a limited number of queues.
// The guest runs once more at the same instant for each further group of queues.
void Calendar::HandOverCalls(Member& member) {
  auto& called = member.called;
  const size_t count = std::min(called.size(), SharedSchedule::kMaxQueues);
  if (count == 0) return;
  schedule_->SetCalls(member.guest.slot(), std::span(called).first(count));
  called.erase(called.begin(), called.begin() + static_cast<ptrdiff_t>(count));
}

void Calendar::Interrupt(Member& member, int channel, std::span<const std::byte> request) {
  Guarded(member, [&] {
    RequireAllWait();
    ++counters_.interrupts;
    schedule_->SetCurrentTime(ToWire(timeline_->Now()));
    member.guest.Interrupt(channel, request, options_.timeout);
    ReadRequest(member);
  });
  Arm();
}

Instant Calendar::EarliestOther(const Member* except) const {
  Instant earliest = Instant::Never();
  for (const auto& member : members_) {
    if (member.get() != except) earliest = std::min(earliest, member->request);
  }
  return earliest;
}

void Calendar::Arm() {
  if (in_wake_ || running_ != nullptr) return;
  const Instant earliest = EarliestOther(nullptr);
  const Instant at = earliest == Instant::Never() ? earliest : std::max(earliest, timeline_->Now());
  if (at == armed_) return;
  armed_ = at;
  timeline_->WakeAt(at);
}

}  // namespace viaduct::guest
