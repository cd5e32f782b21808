// The calendar of real kernels: holds the clock of every guest, and lets one run at a time.
//
// A guest runs from the instant that it requested until something else is due (an event of the
// simulator, another guest), and may advance its own clock up to that instant. So no guest is ever
// ahead of an event that could affect it, and the simulator is never ahead of a guest.
//
// A frame that a guest sends takes this path: Calendar (when the guest has begun to wait), Guest,
// Nic, and through Nic's DeviceHost an event of the timeline, which passes it to the simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "guest/process/boot_folder.h"
#include "guest/time/event_queue.h"
#include "guest/time/guest.h"
#include "guest/time/shared_schedule.h"
#include "guest/time/time_travel.h"
#include "guest/time/timeline.h"

namespace viaduct::guest {

struct CalendarOptions {
  // The guests' uptime when the simulation starts. iputils' ping treats a clock below 1 s as unset.
  Duration uptime = Duration::Seconds(2);
  // The maximum wall time without progress: a guest that neither advances its clock nor sends
  // anything for this long is in an endless loop or stuck.
  Duration timeout = Duration::Seconds(30);
  // The maximum virtual time that a guest runs without returning control to the calendar.
  Duration horizon = Duration::Seconds(1);
  // The time of day at the start of the simulation, since 1970.
  Duration epoch = Duration::Seconds(1'700'000'000);
};

struct CalendarCounters {
  uint64_t runs = 0;        // runs of guests
  uint64_t messages = 0;    // time-travel messages from guests
  uint64_t interrupts = 0;  // interrupts of devices to guests, by message
  uint64_t calls = 0;       // interrupts of devices to guests, through the shared schedule
};

// Any fault of a guest, including its end, throws Error with the guest's name, the virtual time and
// the last lines of its console; all guests are killed first, and the calendar does nothing from
// then on. Errors that prevent a guest from starting (UsageError, EnvironmentError) keep their exit
// status, and their message has neither time nor console. The timeline must outlive the calendar,
// or drop its events first.
class Calendar {
 public:
  // The guests' part of the simulation starts at the timeline's present instant.
  explicit Calendar(Timeline& timeline, const CalendarOptions& options = {});
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;
  ~Calendar();

  // Adds a guest; call it before Boot(). Guests boot in this order, in which guests due at the same
  // instant also run.
  Guest& AddGuest(std::string name, Guest::Launcher launcher);
  // The number of guests that AddGuest() created.
  size_t guests() const { return members_.size(); }
  // Starts all guests and lets them run until the timeline's present instant, still that of the
  // constructor, `uptime` after their own start. Events that are scheduled here before or meanwhile
  // and are due before that instant happen during the boot, at their instants.
  void Boot();

  // Changes CalendarOptions::timeout.
  void SetTimeout(Duration timeout) { options_.timeout = timeout; }

  // Runs a guest at the present instant until it waits, without advancing its clock. Returns false
  // and does nothing before it has booted. Call it only in events of the timeline.
  bool Settle(const Guest& guest);

  // Sets the callbacks for sockets that the guest's kernel serves: `after_run` is called whenever
  // the guest has begun to wait, at its instant, with the memory of its rings
  // (SharedSchedule::SocketsOf), and returns whether the guest must run again at this instant.
  // Never called for a kernel without served sockets. `keeps_more` returns, before a run, whether
  // `after_run` will return true: the guest then does not leave the instant.
  using AfterRun = std::function<bool(std::byte* rings)>;
  using KeepsMore = std::function<bool()>;
  void SetSockets(const Guest& guest, AfterRun after_run, KeepsMore keeps_more);
  // Returns whether its kernel serves sockets of all protocols; known once it has booted.
  bool ServesMessages(const Guest& guest) const;
  // Calls `cause`, which is a cause for the guest to run at the present instant. Call it only in
  // events of the timeline.
  void RunNow(const Guest& guest, const std::function<void()>& cause);

  const CalendarCounters& counters() const { return counters_; }
  // Returns the present instant: that of the running guest; if none runs, the timeline's (while
  // guests boot, that of the boot).
  Instant Present() const;
  // Runs `action` as an event at `at`: of the boot if it is due before the boot's end, else of the
  // timeline.
  void Schedule(Instant at, std::function<void()> action);
  // Whether Boot() has not been called or has not returned: no device of the simulation carries
  // frames yet.
  bool booting() const { return timeline_ != &main_timeline_; }
  // Returns the guests' clock at `at`, as time since they were started.
  Duration UptimeAt(Instant at) const { return at - origin_; }

 private:
  // A guest and the calendar's knowledge of its clock.
  struct Member;

  Member& MemberOf(const Guest& guest) const;
  void NoteMode(Member& member);
  void Handle(Member& member, const TimeTravelMessage& message);
  void HandleWait(Member& member, const TimeTravelMessage& message);
  void HandleUpdate(Member& member, const TimeTravelMessage& message);
  void Interrupt(Member& member, int channel, std::span<const std::byte> request);
  void InterruptWithRun(Member& member, uint16_t queue);
  void HandOverCalls(Member& member);
  void RequireAllWait() const;

  void AwaitStart(Member& member);
  void BootGuest(Member& member);
  void Wake();
  Instant Limit(const Member& member) const;
  // Runs a guest until it waits, at the latest at `limit`.
  void Run(Member& member, Instant limit);
  void RunByDoorbell(Member& member);
  void EndRun(Member& member);
  void Promise(Member& member, Instant until);
  void AwaitAcknowledgement(Member& member);
  void ServeUntilWait(Member& member);
  void Arm();
  Instant EarliestOther(const Member* except) const;
  void ReadRequest(Member& member);
  void NoteProgress(Instant now);

  // Runs `action`; an exception from it becomes the calendar's Error.
  template <typename Action>
  void Guarded(const Member& member, Action action);
  [[noreturn]] void Fail(const Member& member, const Error& error);
  std::string Message(const Member& member, const Error& error) const;
  uint64_t ToWire(Instant t) const;
  Instant FromWire(uint64_t time) const;

  Timeline& main_timeline_;
  CalendarOptions options_;
  Instant start_;   // the simulation's start, for guests
  Instant origin_;  // the guests' 0
  EventQueue boot_queue_;
  Timeline* timeline_;                // the guests' timeline: main_timeline_ or boot_queue_
  std::optional<BootFolder> folder_;  // while guests boot
  std::optional<SharedSchedule> schedule_;
  std::vector<std::unique_ptr<Member>> members_;  // the guest of slot i is the (i-1)th
  Member* running_ = nullptr;
  Instant present_;  // the running guest's present instant, from its last message
  Instant limit_;    // the running guest stays before this instant
  Instant armed_ = Instant::Never();
  bool in_wake_ = false;
  Instant last_run_;
  uint64_t runs_at_instant_ = 0;
  uint32_t next_sequence_ = 1;
  CalendarCounters counters_;
  std::optional<Error> failure_;
};

}  // namespace viaduct::guest
