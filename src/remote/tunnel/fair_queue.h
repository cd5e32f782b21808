// The frames of many clients that wait for one server: in the order of their arrival, and by fair
// shares if there are more than the server can handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"

namespace viaduct::tunnel {

// Holds copies of frames in memory that is allocated once. As long as few wait (kInOrder), they
// leave in the order of their arrival, whatever their client. Beyond that the clients take turns by
// deficit round robin (Shreedhar and Varghese, 1995: constant work per frame) until all are served.
// A client that had nothing waiting gets a turn before those that wait (RFC 8290, section 4.2: its
// list of new queues), so that a client that sends little waits for no flood. And a client may use
// only its share of the memory: frames beyond it are dropped, so that a client that floods takes
// nothing from the others.
class FairQueue {
 public:
  struct Limits {
    size_t clients = 1;
    size_t frames = 4096;     // maximum that wait, of all clients
    size_t max_frame = 1518;  // bytes; longer ones must not be pushed
  };
  static constexpr size_t kInOrder = 256;
  // Bytes of a turn: many frames, so that a client's data is in the processor's cache for all but
  // the first of them, and they leave the simulation together, too.
  static constexpr size_t kQuantum = 16384;

  struct Frame {
    size_t client = 0;
    std::span<std::byte> bytes;  // valid until the next Pop()
    Instant received;
  };

  explicit FairQueue(const Limits& limits);

  // Adds a frame. Returns the client that loses a frame (this one, or one that has more than its
  // share), or nothing. `client` is less than Limits::clients.
  std::optional<size_t> Push(size_t client, std::span<const std::byte> frame, Instant received);
  // Returns the next frame to be served.
  std::optional<Frame> Pop();
  size_t size() const { return size_; }
  size_t SizeOf(size_t client) const { return clients_[client].size; }
  bool empty() const { return size_ == 0; }
  // Returns the number of further frames that the client may have waiting.
  size_t RoomOf(size_t client) const;
  // Whether clients take turns; else the order is that of arrival.
  bool is_fair() const { return fair_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Slot {
    uint32_t older = kNone, newer = kNone;  // among all frames
    uint32_t next = kNone;                  // frame of the same client
    uint32_t client = 0, length = 0;
    Instant received;
  };
  struct Client {
    uint32_t oldest = kNone, newest = kNone;
    size_t size = 0;
    size_t deficit = 0;   // bytes that it may still send in its turn
    bool active = false;  // is in new_turns_ or turns_
  };

  std::byte* BytesOf(uint32_t slot) { return memory_.get() + slot * max_frame_; }
  // Returns the number of frames that a client may have waiting while others wait, too.
  size_t Share() const;
  uint32_t TakeOldest(size_t client);
  uint32_t PopFair();
  void ForgetTurns(std::deque<size_t>& turns);
  void Free(uint32_t slot);
  size_t LongestClient() const;

  size_t most_, max_frame_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  std::vector<Client> clients_;
  // The clients that have frames, and perhaps some that had; fair mode. New ones, which had none,
  // are served first.
  std::deque<size_t> new_turns_, turns_;
  uint32_t oldest_ = kNone, newest_ = kNone, lent_ = kNone;
  size_t size_ = 0, waiting_clients_ = 0;
  bool fair_ = false;
};

}  // namespace viaduct::tunnel
