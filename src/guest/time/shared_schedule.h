// The schedule that a calendar shares in memory with guests whose kernel is Linux 6.12 or newer
// (include/uapi/linux/um_timetravel.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "guest/virtio/shared_mapping.h"

namespace viaduct::guest {

// The shared schedule: struct um_timetravel_schedshm and its extensions by patches. The calendar
// has slot 0; guests have the slots 1 ... guests. Guests can write to all of the schedule at any
// time: every value is read once and not trusted, and the positions of the schedule's parts are
// computed only from this process's own memory. The schedule's size is sealed.
class SharedSchedule {
 public:
  // Creates the schedule. If `sockets`, it has rings for the sockets of guests (SocketsOf()),
  // unless the number of guests makes the rings too large. Throws SystemError if memory cannot be
  // allocated.
  explicit SharedSchedule(uint16_t guests, bool sockets = false);
  SharedSchedule(const SharedSchedule&) = delete;
  SharedSchedule& operator=(const SharedSchedule&) = delete;

  // Returns the descriptor of the schedule's memory, which is passed to guests with the answer to
  // kStart.
  int memory_fd() const { return memory_.get(); }
  // The parts of the schedule that a guest uses; the guest records them directly after the answer
  // to kStart.
  struct Use {
    bool time = false;       // the guest uses the schedule
    bool queues = false;     // notifications of virtqueues: the kernel has patch 0005
    bool doorbells = false;  // doorbells: the kernel has patch 0010
    bool sockets = false;    // the kernel serves sockets: it has patch 0011
    bool messages = false;   // the kernel serves sockets of all protocols, not only TCP
  };
  Use UseOf(uint16_t slot) const;
  uint64_t CurrentTime() const;
  void SetCurrentTime(uint64_t time);
  void SetFreeUntil(uint64_t time);
  // Sets the slot of the guest that runs; 0: no guest runs. Only the running guest advances the
  // current time.
  void SetRunning(uint16_t slot);
  // Returns the time at which the guest requests to run; kNeverWire if the guest has not requested
  // to run.
  uint64_t Request(uint16_t slot) const;
  void ClearRequest(uint16_t slot);

  // --- Notifications of virtqueues, which patch 0005 stores in the schedule instead of sending
  // messages.
  static constexpr size_t kMaxQueues = 24;
  static constexpr uint16_t kQueuesPerDevice = 16;
  static constexpr size_t kMaxDevices = 4096;
  // Returns the number that identifies a queue for the calendar and the guest; nullopt if the
  // number of the queue's device is too large.
  static std::optional<uint16_t> QueueName(size_t device, uint32_t queue);
  // Returns the queues that a waiting guest has kicked since its previous wait, possibly with
  // duplicates; clears the list. Returns nullopt if the guest kicked more queues than the list has
  // space for.
  std::optional<std::vector<uint16_t>> TakeKicks(uint16_t slot);
  // Sets the queues whose interrupts are passed with the guest's next run: at most kMaxQueues.
  void SetCalls(uint16_t slot, std::span<const uint16_t> queues);

  // --- Doorbells: RUN and WAIT, which patch 0010 stores in the schedule instead of sending
  // messages.
  //
  // Lets a waiting guest run. If `listens`, the guest reports its next wait in this memory, and the
  // caller must call AwaitWait() next; otherwise the guest sends a message.
  void LetRun(uint16_t slot, bool listens);
  // Wakes the guest after LetRun() if it sleeps in a separate process.
  void Wake(uint16_t slot);
  // Sleeps until the guest's number of waits differs from `waits`, and returns that number. Returns
  // nullopt if `timeout` passes before; in that case, the guest sends a kWait message, whose time
  // is the number of its waits.
  std::optional<uint32_t> AwaitWait(uint16_t slot, uint32_t waits, Duration timeout);

  // --- Rings of the sockets that a guest's kernel serves, which patch 0011 adds.
  //
  // Returns the memory of the guest's rings, SocketRing::kSize bytes; must be called only if
  // UseOf() returns that the guest uses them.
  std::byte* SocketsOf(uint16_t slot) const;

 private:
  struct Layout;
  struct Client;
  struct Doorbell;
  size_t Length() const;
  size_t SocketsAt() const;
  Client& ClientOf(uint16_t slot) const;
  Doorbell& BellOf(uint16_t slot) const;

  uint16_t clients_;  // the number of clients: the calendar and the guests
  bool has_rings_;
  UniqueFd memory_;
  SharedMapping mapping_;
  Layout* layout_;
};

}  // namespace viaduct::guest
