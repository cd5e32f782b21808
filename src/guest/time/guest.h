// The representation of a guest kernel in this process: its process, its network devices, the
// connections to both.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/poller.h"
#include "base/time.h"
#include "guest/process/console.h"
#include "guest/process/guest_process.h"
#include "guest/time/time_travel.h"
#include "guest/virtio/device_host.h"
#include "guest/virtio/nic.h"

namespace viaduct::guest {

// A guest. Any fault of it throws Error without the guest's name, which the calendar adds.
class Guest {
 public:
  // Starts the process that will connect to the endpoints; returns an empty process if it is not a
  // child of this one.
  using Launcher = std::function<GuestProcess(const GuestEndpoints& endpoints)>;
  // Receives the guest's messages about time.
  using Receiver = std::function<void(const TimeTravelMessage& message)>;

  // `slot`: 1, 2, 3... in the shared schedule. `name`: for error messages. `host`: the host of its
  // devices; must outlive the guest.
  Guest(uint16_t slot, std::string name, Launcher launcher, DeviceHost& host, Receiver receiver);
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  // Adds a network interface; call it before the start. The guest finds the interfaces in this
  // order. If not `carrier`, its link is never taken down (NetBackend).
  Nic& AddNic(const wire::MacAddress& mac, bool carrier = true);

  const std::string& name() const { return name_; }
  void SetName(std::string name) { name_ = std::move(name); }
  uint16_t slot() const { return slot_; }
  const std::vector<std::unique_ptr<Nic>>& nics() const { return nics_; }
  const Console& console() const { return console_; }

  // --- Functions for the calendar.
  // Creates the sockets in `folder` and starts the guest, whose memory is a file in `memory`.
  void Launch(const std::filesystem::path& folder, const std::filesystem::path& memory);
  void Kill() { process_.Kill(); }
  void Signal(int number) { process_.Signal(number); }
  // Whether the guest runs only while this process lets it: in LetRun(), and while it is served.
  bool embedded() const { return process_.embedded(); }
  // Lets an embedded guest run until it waits; call it only if nothing was sent to it since it last
  // ran, other than in memory.
  void LetRun(Duration timeout) { process_.LetRun(false, timeout); }
  // Releases the folder that the guest was launched in, which is removed once guests have booted.
  void LeaveFolder() { process_.LeaveFolder(); }
  // Waits for messages of the guest to the calendar, to its devices and for console output, and
  // handles them; returns false when `timeout` (wall time) has passed without any.
  bool Serve(Duration timeout);
  // Waits for one message about time, and handles it; returns false as Serve() does.
  bool ServeTimeTravel(Duration timeout);
  void Send(TimeTravelOp op, uint32_t sequence, uint64_t time,
            std::span<const int> descriptors = {}) const;
  // Sends a request on a device's channel for interrupts and waits for the guest's answer; handles
  // its messages about time meanwhile.
  void Interrupt(int channel, std::span<const std::byte> request, Duration timeout);
  // Makes the devices read the frames that the guest sent: in these queues
  // (SharedSchedule::QueueName), or in all if nullopt.
  void DrainKicked(const std::optional<std::vector<uint16_t>>& queues);

 private:
  // Waits until one of the entries is readable; an embedded guest runs meanwhile. Returns false
  // when `timeout` has passed before.
  bool AwaitReadable(std::span<pollfd> entries, Duration timeout);
  // Calls `readable` whenever the descriptor is readable, while the guest is served.
  void Watch(int fd, std::function<void()> readable);
  void Unwatch(int fd);
  void ListenForCalendar(const std::filesystem::path& folder, const std::string& name);
  void ListenForNics(const std::filesystem::path& folder, const std::string& name);
  void AcceptNic();
  // Handles the messages of an embedded guest to its devices; returns whether there were any.
  bool ServeStreams();
  // Handles the watched descriptors that are readable, after waiting at most `timeout` for one;
  // returns whether there were any.
  bool ServeReady(Duration timeout);
  void ReadOutput();
  void ReceiveTimeTravel();
  // Throws Error that states how the process ended, and why if that is known.
  [[noreturn]] void ThrowFate(const std::string& when = "");

  uint16_t slot_;
  std::string name_;
  Launcher launcher_;
  DeviceHost& host_;
  Receiver receiver_;
  std::vector<std::unique_ptr<Nic>> nics_;
  size_t connected_ = 0;  // the number of nics_, from the first on, that are connected
  GuestProcess process_;
  Console console_;
  Poller poller_;
  std::map<int, std::function<void()>> watched_;
  UniqueFd time_listener_, nic_listener_;
  UniqueFd time_travel_;
};

}  // namespace viaduct::guest
