// A guest kernel as its calendar sees it: its sockets, its process, its interfaces.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "guest/process/console.h"
#include "guest/process/guest_process.h"
#include "guest/time/time_travel.h"
#include "guest/virtio/nic.h"

namespace viaduct::guest {

class Calendar;

class Guest {
 public:
  // Starts what will connect to the endpoints; an empty process where that is not one of ours.
  using Launcher = std::function<GuestProcess(const GuestEndpoints& endpoints)>;

  // `slot`: 1, 2, 3... in the shared schedule. `name`: how errors call it.
  Guest(Calendar& calendar, uint16_t slot, std::string name, Launcher launcher);
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  ~Guest();

  // A network interface, before the start; the guest finds them in this order.
  // Without `carrier`: one whose link is never taken down (NetBackend).
  Nic& AddNic(const wire::MacAddress& mac, bool carrier = true);

  const std::string& name() const { return name_; }
  void SetName(std::string name) { name_ = std::move(name); }
  uint16_t slot() const { return slot_; }
  const std::vector<std::unique_ptr<Nic>>& nics() const { return nics_; }
  const Console& console() const { return console_; }
  int pid() const { return process_.pid(); }

  // --- For its interfaces.
  // Calls `readable` whenever the descriptor is, while the guest is served.
  void Watch(int fd, std::function<void()> readable);
  void Unwatch(int fd);
  // The instant at which the guest does what it is doing.
  Instant Present() const;
  void Schedule(Instant at, std::function<void()> action);
  // Sends a request that the guest's interrupt handler answers, and waits for that.
  void Interrupt(int channel, std::span<const std::byte> request);
  // Interrupts it for a queue of a device when it next runs, which is at this instant, without a
  // message; false where its kernel wants one. A device's first interrupt is always a message.
  bool Call(const Nic& nic, uint32_t queue);

 private:
  friend class Calendar;
  enum class State { kStarting, kReady, kRunning, kWaiting };

  // Creates the sockets in the folder and starts the guest.
  void Launch(const std::filesystem::path& folder);
  void AcceptCalendar(const UniqueFd& listener);
  void ReadOutput();
  // The process is gone: says how, and why where that is known.
  [[noreturn]] void ThrowFate(const std::string& when = "");
  // Reads one message of the time-travel socket and has the calendar handle it.
  void ReceiveTimeTravel();
  void Send(TimeTravelOp op, uint32_t sequence, uint64_t time) const;
  // Waits for readable descriptors and serves them; false when `patience` passed without one.
  bool ServeOnce(Duration patience);
  // The same as ServeOnce() for one message of time travel only.
  bool AwaitTimeTravel(Duration patience);
  // And for the answer on `channel`: true when it can be read.
  bool AwaitAnswer(int channel, Duration patience);
  // Has the interfaces hand over what the guest sent since it last waited.
  void DrainKicked(const std::optional<std::vector<uint16_t>>& queues);

  Calendar& calendar_;
  uint16_t slot_;
  std::string name_;
  Launcher launcher_;
  std::vector<std::unique_ptr<Nic>> nics_;
  GuestProcess process_;
  Console console_;
  UniqueFd epoll_;
  std::map<int, std::function<void()>> watched_;
  std::vector<UniqueFd> listeners_;
  UniqueFd time_travel_;

  // The calendar's.
  State state_ = State::kStarting;
  bool mode_known_ = false;
  bool shared_ = false;           // takes part in the shared schedule
  bool shares_queues_ = false;    // notifications of queues are in the schedule
  bool has_doorbell_ = false;     // it is let run, and waits, in the schedule
  uint32_t waits_ = 0;            // how often it has waited, with a doorbell
  std::vector<uint16_t> called_;  // queues to interrupt it for
  bool acknowledged_ = false;     // an answer to kRun, kFreeUntil came
  uint32_t start_sequence_ = 0;   // of the START to answer
  Instant request_ = Instant::Never();
};

}  // namespace viaduct::guest
