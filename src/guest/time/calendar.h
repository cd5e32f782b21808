// The calendar of real kernels: holds the clock of every guest, and lets one run at a time.
//
// A guest runs from the instant at which it asked to until something else is due (an event of the
// simulator, another guest), and may advance its own clock up to there. So no guest is ever ahead
// of an event that could concern it, and the simulator never ahead of a guest.
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
#include "guest/process/guest.h"
#include "guest/time/event_queue.h"
#include "guest/time/simulator.h"
#include "guest/time/time_travel.h"

namespace viaduct::guest {

struct CalendarOptions {
  // How long guests have been up when the simulation starts. iputils' ping takes a clock below 1 s
  // for none.
  Duration uptime = Duration::Seconds(2);
  // Of wall time: a guest that neither advances nor says anything for so long spins or is stuck.
  Duration patience = Duration::Seconds(30);
  // A guest with nothing else to wait for is looked after so often, in virtual time.
  Duration horizon = Duration::Seconds(1);
  // The time of day at the start of the simulation, since 1970.
  Duration epoch = Duration::Seconds(1'700'000'000);
};

struct CalendarCounters {
  uint64_t runs = 0;        // a guest was let run
  uint64_t messages = 0;    // of time travel, from guests
  uint64_t interrupts = 0;  // of devices, to guests, by message
  uint64_t calls = 0;       // of devices, to guests, with being let run
};

// Whatever guests do wrong, also dying, throws Error with the guest's name, the virtual time and
// the last lines of its console; all guests are killed first, and the calendar does nothing from
// then on. What keeps a guest from starting (UsageError, EnvironmentError) keeps its exit status,
// and is told without time and console. The simulator outlives the calendar, or drops its events
// first.
class Calendar {
 public:
  // The guests' part of the simulation starts at the simulator's present instant.
  explicit Calendar(Simulator& simulator, const CalendarOptions& options = {});
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;
  ~Calendar();

  // Before Boot(). Guests boot in this order, which is also that of guests due at one instant.
  Guest& AddGuest(std::string name, Guest::Launcher launcher);
  // Starts all guests and lets them run until the simulator's present instant, still that of the
  // constructor, `uptime` after their own start. What was scheduled here before or is meanwhile
  // happens at instants before it.
  void Boot();

  // How long a guest may be silent from now on (CalendarOptions::patience).
  void SetPatience(Duration patience) { options_.patience = patience; }

  // Lets a guest work at the present instant until it waits, without its clock going on. False, and
  // nothing happens, before it has booted. Only in events of the simulator.
  bool Settle(Guest& guest);

  const CalendarCounters& counters() const { return counters_; }
  const std::vector<std::unique_ptr<Guest>>& guests() const { return guests_; }
  // The present instant: the running guest's, or the simulator's (while guests boot: theirs).
  Instant Present() const;
  // An event in the simulator (while guests boot: before its start, if it is due by then).
  void Schedule(Instant at, std::function<void()> action);
  // Guests are to boot or do: no device of the simulation carries frames yet.
  bool booting() const { return simulator_ != &main_simulator_; }
  // Of the time until `at`, as guests count it.
  Duration UptimeAt(Instant at) const { return at - origin_; }

 private:
  friend class Guest;

  void NoteMode(Guest& guest);
  void Handle(Guest& guest, const TimeTravelMessage& message);
  void HandleUpdate(Guest& guest, const TimeTravelMessage& message);
  void Interrupt(Guest& guest, int channel, std::span<const std::byte> request);
  void Call(Guest& guest, uint16_t queue);
  void HandOverCalls(Guest& guest);

  void AwaitStart(Guest& guest);
  void BootGuest(Guest& guest);
  void Wake();
  Instant Limit(const Guest& guest) const;
  // Lets it run until it waits, at the latest at `limit`.
  void Run(Guest& guest, Instant limit);
  void RunByDoorbell(Guest& guest);
  void EndRun(Guest& guest);
  void Promise(Guest& guest, Instant until);
  void AwaitAcknowledgement(Guest& guest);
  void ServeUntilWait(Guest& guest);
  void Arm();
  Instant EarliestOther(const Guest* except) const;
  void ReadRequest(Guest& guest);
  void NoteProgress(Instant now);

  // Runs `action`; what it throws becomes the calendar's one Error.
  template <typename Action>
  void Guarded(Guest& guest, Action action);
  [[noreturn]] void Fail(const Guest& guest, const Error& error);
  std::string Message(const Guest& guest, const Error& error) const;
  uint64_t ToWire(Instant t) const;
  Instant FromWire(uint64_t time) const;

  Simulator& main_simulator_;
  CalendarOptions options_;
  Instant start_;   // of the simulation, for guests
  Instant origin_;  // the guests' 0
  EventQueue boot_queue_;
  Simulator* simulator_;              // the one of the two that the guests are in
  std::optional<BootFolder> folder_;  // while guests boot
  std::optional<SharedSchedule> schedule_;
  std::vector<std::unique_ptr<Guest>> guests_;
  Guest* running_ = nullptr;
  Instant present_;  // of the running guest, as it last said in a message
  Instant limit_;    // how far the running guest may advance
  Instant armed_ = Instant::Never();
  bool in_wake_ = false;
  Instant last_run_;
  uint64_t runs_at_instant_ = 0;
  uint32_t next_sequence_ = 1;
  CalendarCounters counters_;
  std::optional<Error> failure_;
};

}  // namespace viaduct::guest
