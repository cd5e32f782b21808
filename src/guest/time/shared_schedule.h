// The schedule that a calendar shares in memory with guests whose kernel is 6.12 or newer
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

// struct um_timetravel_schedshm. Slot 0 is the calendar's; guests have 1 ... guests. Guests can
// write to all of it at any time: everything is read once and not trusted, and the positions of its
// parts are computed from this process's own memory only. Its size is sealed.
class SharedSchedule {
 public:
  // Creates the schedule. With `sockets` it has rings for the sockets of guests (SocketsOf()),
  // unless the number of guests makes them too large. Throws SystemError when there is no memory.
  explicit SharedSchedule(uint16_t guests, bool sockets = false);
  SharedSchedule(const SharedSchedule&) = delete;
  SharedSchedule& operator=(const SharedSchedule&) = delete;

  // Returns the descriptor that is passed to guests with the answer to kStart.
  int memory_fd() const { return memory_.get(); }
  // The parts of the schedule that the guest in a slot uses; it records them right after the answer
  // to kStart.
  struct Use {
    bool time = false;       // the schedule at all
    bool queues = false;     // notifications of virtqueues: the kernel has patch 0005
    bool doorbells = false;  // the kernel has patch 0010
    bool sockets = false;    // the kernel serves sockets: it has patch 0011
    bool messages = false;   // serves all protocols, not only TCP
  };
  Use UseOf(uint16_t slot) const;
  uint64_t CurrentTime() const;
  void SetCurrentTime(uint64_t time);
  void SetFreeUntil(uint64_t time);
  // Sets the guest that runs; 0: none. Only the running guest advances the current time.
  void SetRunning(uint16_t slot);
  // Returns the time at which the guest wants to run; kNeverWire when it has not asked.
  uint64_t Request(uint16_t slot) const;
  void ClearRequest(uint16_t slot);

  // --- Notifications of virtqueues, which patch 0005 places here instead of in messages.
  static constexpr size_t kMaxQueues = 24;
  static constexpr uint16_t kQueuesPerDevice = 16;
  static constexpr size_t kMaxDevices = 4096;
  // Returns the number that identifies a queue on both sides; nullopt if its device's number is too
  // large.
  static std::optional<uint16_t> QueueName(size_t device, uint32_t queue);
  // Returns the queues that a waiting guest kicked since it last waited, possibly with duplicates;
  // clears the list. Returns nullopt if there were more than fit.
  std::optional<std::vector<uint16_t>> TakeKicks(uint16_t slot);
  // Sets the queues that interrupt the guest when it is run next: at most kMaxQueues.
  void SetCalls(uint16_t slot, std::span<const uint16_t> queues);

  // --- Doorbells: kRun and kWait, which patch 0010 places here instead of in messages.
  // Lets a waiting guest run. If `listens`, the guest signals in this memory that it waits again,
  // and AwaitWait() must follow; otherwise it sends a message.
  void LetRun(uint16_t slot, bool listens);
  // Wakes the guest after LetRun(), if it sleeps in a separate process.
  void Wake(uint16_t slot);
  // Sleeps until the guest has begun to wait more often than `waits` times, and returns the number
  // of its waits. Returns nullopt when `timeout` has passed: the guest then sends a kWait message,
  // whose time is that number.
  std::optional<uint32_t> AwaitWait(uint16_t slot, uint32_t waits, Duration timeout);

  // --- Rings of the sockets that a guest's kernel serves, which patch 0011 adds: SocketRing::kSize
  // bytes, if UseOf() returns that it uses them.
  std::byte* SocketsOf(uint16_t slot) const;

 private:
  struct Layout;
  struct Client;
  struct Doorbell;
  size_t Length() const;
  size_t SocketsAt() const;
  Client& ClientOf(uint16_t slot) const;
  Doorbell& BellOf(uint16_t slot) const;

  uint16_t clients_;  // the calendar and the guests
  bool has_rings_;
  UniqueFd memory_;
  SharedMapping mapping_;
  Layout* layout_;
};

}  // namespace viaduct::guest
