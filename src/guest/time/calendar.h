// The calendar of real kernels: holds the clock of every guest, and lets one guest run at a time.
//
// A guest runs from the instant that it requested until the next event of the simulator or of
// another guest is due, and may advance its clock up to that instant. So no guest is ever ahead of
// an event that could affect it, and the simulator is never ahead of a guest.
//
// A frame that a guest sends passes through these objects: Calendar (when the guest has begun to
// wait), Guest, Nic, and then, through Nic's DeviceHost, an event of the timeline, which passes the
// frame to the simulation.
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
  // The guests' uptime at the start of the simulation. The ping of iputils treats a clock below 1 s
  // as unset.
  Duration uptime = Duration::Seconds(2);
  // The maximum wall time without progress. A guest that neither advances its clock nor sends a
  // message for this time is in an endless loop or stuck.
  Duration timeout = Duration::Seconds(30);
  // The maximum virtual time for which a guest runs without returning control to the calendar.
  Duration horizon = Duration::Seconds(1);
  // The time of day at the start of the simulation, as the time since 1970.
  Duration epoch = Duration::Seconds(1'700'000'000);
};

struct CalendarCounters {
  uint64_t runs = 0;        // the number of runs of guests
  uint64_t messages = 0;    // the number of time-travel messages from guests
  uint64_t interrupts = 0;  // interrupts of devices to guests by message
  uint64_t calls = 0;       // interrupts of devices to guests through the shared schedule
};

// The calendar of the guests of one simulation. Any fault of a guest, including its end, throws
// Error with the guest's name, the virtual time and the last lines of the guest's console; all
// guests are killed first, and the calendar does nothing afterwards. Errors that prevent a guest
// from starting (UsageError, EnvironmentError) keep their exit status, and their message has
// neither time nor console. The timeline must outlive the calendar, or drop its events first.
class Calendar {
 public:
  // Creates a calendar without guests; the guests' part of the simulation starts at the timeline's
  // present instant.
  explicit Calendar(Timeline& timeline, const CalendarOptions& options = {});
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;
  ~Calendar();

  // Adds a guest; must be called before Boot(). Guests boot in the order in which they were added;
  // guests due at the same instant run in that order, too.
  Guest& AddGuest(std::string name, Guest::Launcher launcher);
  // Returns the number of guests that AddGuest() has created.
  size_t guests() const { return members_.size(); }
  // Starts all guests and lets them run until their uptime is CalendarOptions::uptime. The timeline
  // must still be at the instant at which the constructor was called; the boot ends at this
  // instant. Events that Schedule() adds before or during the boot, and that are due before the end
  // of the boot, happen during the boot, at their instants.
  void Boot();

  // Changes CalendarOptions::timeout.
  void SetTimeout(Duration timeout) { options_.timeout = timeout; }

  // Runs a guest at the present instant until it waits, without advancing its clock. Returns false
  // and does nothing if the guest has not booted. Must be called only in events of the timeline.
  bool Settle(const Guest& guest);

  // Sets the callbacks for the sockets that a guest's kernel serves. `after_run` is called whenever
  // the guest has begun to wait, at the guest's instant, with the memory of its rings
  // (SharedSchedule::SocketsOf), and returns whether the guest must run again at this instant. It
  // is never called for a kernel that serves no sockets. `keeps_more` returns, before a run,
  // whether `after_run` will return true; if so, the guest does not leave the instant.
  using AfterRun = std::function<bool(std::byte* rings)>;
  using KeepsMore = std::function<bool()>;
  void SetSockets(const Guest& guest, AfterRun after_run, KeepsMore keeps_more);
  // Returns whether the guest's kernel serves sockets of all protocols; known after the guest has
  // booted.
  bool ServesMessages(const Guest& guest) const;
  // Calls `cause`, which gives the guest a reason to run, and lets the guest run at the present
  // instant. Must be called only in events of the timeline.
  void RunNow(const Guest& guest, const std::function<void()>& cause);

  const CalendarCounters& counters() const { return counters_; }
  // Returns the present instant. If a guest runs, this is the instant of the guest; otherwise it is
  // the instant of the timeline or, while guests boot, of the boot's timeline.
  Instant Present() const;
  // Runs `action` as an event at `at`: as an event of the boot if `at` is before the end of the
  // boot, otherwise as an event of the timeline.
  void Schedule(Instant at, std::function<void()> action);
  // Returns whether the boot has not ended (Boot() has not been called or has not returned): no
  // device of the simulation carries frames yet.
  bool booting() const { return timeline_ != &main_timeline_; }
  // Returns the guests' clock at `at`: the time since the guests were started.
  Duration UptimeAt(Instant at) const { return at - origin_; }

 private:
  // A guest and the state of its clock in the calendar.
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
  // Runs a guest until it waits; the guest may advance its clock to at most `limit`.
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

  // Runs `action`; an Error that it throws becomes the calendar's Error.
  template <typename Action>
  void Guarded(const Member& member, Action action);
  [[noreturn]] void Fail(const Member& member, const Error& error);
  std::string Message(const Member& member, const Error& error) const;
  uint64_t ToWire(Instant t) const;
  Instant FromWire(uint64_t time) const;

  Timeline& main_timeline_;
  CalendarOptions options_;
  Instant start_;   // the simulation's start
  Instant origin_;  // the instant at which the guests' clock is 0
  EventQueue boot_queue_;
  Timeline* timeline_;                // the guests' timeline: main_timeline_ or boot_queue_
  std::optional<BootFolder> folder_;  // present while guests boot
  std::optional<SharedSchedule> schedule_;
  std::vector<std::unique_ptr<Member>> members_;  // the guest of slot i has the index i - 1
  Member* running_ = nullptr;
  Instant present_;  // the running guest's present instant, from its last message
  Instant limit_;    // the limit of the running guest's clock, which stays below it
  Instant armed_ = Instant::Never();
  bool in_wake_ = false;
  Instant last_run_;
  uint64_t runs_at_instant_ = 0;
  uint32_t next_sequence_ = 1;
  CalendarCounters counters_;
  std::optional<Error> failure_;
};

}  // namespace viaduct::guest
