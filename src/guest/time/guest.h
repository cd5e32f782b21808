// The representation of a guest kernel in this process: the guest's process, its network devices,
// and the connections to both.
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

// A guest kernel. Any fault of the guest throws Error without the guest's name, which the calendar
// adds.
class Guest {
 public:
  // A function that starts the process of a guest, which then connects to the endpoints. It returns
  // an empty GuestProcess if the process is not a child of this one.
  using Launcher = std::function<GuestProcess(const GuestEndpoints& endpoints)>;
  // A function that receives the guest's time-travel messages.
  using Receiver = std::function<void(const TimeTravelMessage& message)>;

  // `slot`: the guest's slot (1, 2, 3...) in the shared schedule. `name`: the guest's name in error
  // messages. `host`: the host of the guest's devices; must outlive the guest.
  Guest(uint16_t slot, std::string name, Launcher launcher, DeviceHost& host, Receiver receiver);
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  // Adds a network interface; must be called before the guest's start. The guest finds the
  // interfaces in the order in which they were added. If `carrier` is false, the interface's link
  // is never taken down (NetBackend).
  Nic& AddNic(const wire::MacAddress& mac, bool carrier = true);

  const std::string& name() const { return name_; }
  void SetName(std::string name) { name_ = std::move(name); }
  uint16_t slot() const { return slot_; }
  const std::vector<std::unique_ptr<Nic>>& nics() const { return nics_; }
  const Console& console() const { return console_; }

  // --- Functions for the calendar.
  //
  // Creates the sockets in `folder` and starts the guest, whose memory is a file in `memory`.
  void Launch(const std::filesystem::path& folder, const std::filesystem::path& memory);
  void Kill() { process_.Kill(); }
  void Signal(int number) { process_.Signal(number); }
  // Returns whether the guest is embedded: such a guest runs only in LetRun() and in the functions
  // that wait for its messages.
  bool embedded() const { return process_.embedded(); }
  // Lets an embedded guest run until it waits. Must be called only if nothing was sent to the guest
  // since it last ran, except in memory.
  void LetRun(Duration timeout) { process_.LetRun(false, timeout); }
  // Closes the folder in which the guest was launched; the folder is removed once all guests have
  // booted.
  void LeaveFolder() { process_.LeaveFolder(); }
  // Waits for a message of the guest to the calendar or to a device, or for console output, and
  // handles it; returns false if `timeout` (wall time) passes before.
  bool Serve(Duration timeout);
  // Waits for one time-travel message and handles it; returns false if `timeout` (wall time) passes
  // before.
  bool ServeTimeTravel(Duration timeout);
  void Send(TimeTravelOp op, uint32_t sequence, uint64_t time,
            std::span<const int> descriptors = {}) const;
  // Sends a request on a device's channel for interrupts and waits for the guest's answer; handles
  // the guest's time-travel messages during the wait.
  void Interrupt(int channel, std::span<const std::byte> request, Duration timeout);
  // Makes the devices read the frames that the guest has sent: the devices of the queues in
  // `queues` (SharedSchedule::QueueName), or all devices if `queues` is nullopt.
  void DrainKicked(const std::optional<std::vector<uint16_t>>& queues);

 private:
  // Waits until one of the entries is readable; an embedded guest runs during the wait. Returns
  // false if `timeout` passes before.
  bool AwaitReadable(std::span<pollfd> entries, Duration timeout);
  // Calls `readable` whenever the descriptor is readable while Serve() waits.
  void Watch(int fd, std::function<void()> readable);
  void Unwatch(int fd);
  void ListenForCalendar(const std::filesystem::path& folder, const std::string& name);
  void ListenForNics(const std::filesystem::path& folder, const std::string& name);
  void AcceptNic();
  // Handles the messages of an embedded guest to its devices; returns false if there are none.
  bool ServeStreams();
  // Handles the watched descriptors that are readable, after waiting for at most `timeout`; returns
  // false if none is readable.
  bool ServeReady(Duration timeout);
  void ReadOutput();
  void ReceiveTimeTravel();
  // Throws Error with a text that describes how the guest's process ended and, if known, the
  // reason.
  [[noreturn]] void ThrowFate(const std::string& when = "");

  uint16_t slot_;
  std::string name_;
  Launcher launcher_;
  DeviceHost& host_;
  Receiver receiver_;
  std::vector<std::unique_ptr<Nic>> nics_;
  size_t connected_ = 0;  // the number of connected devices, which are the first ones of nics_
  GuestProcess process_;
  Console console_;
  Poller poller_;
  std::map<int, std::function<void()>> watched_;
  UniqueFd time_listener_, nic_listener_;
  UniqueFd time_travel_;
};

}  // namespace viaduct::guest
