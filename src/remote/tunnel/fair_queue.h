// The frames of many clients that wait for one server. They are served in the order of their
// arrival, or by fair shares if there are more than the server can handle.
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

// Holds copies of frames in memory that is allocated once. While at most kInOrder frames wait,
// frames leave in the order of their arrival, whatever their client. Beyond that number the clients
// are served by deficit round robin (Shreedhar and Varghese, 1995: constant work per frame) until
// no frame waits. A client that had no waiting frame gets a turn before the clients that wait (RFC
// 8290, section 4.2: its list of new queues), so that a client that sends little does not wait for
// a flood. A client may use only its share of the memory: frames beyond the share are dropped, so
// that a client that floods takes nothing from other clients.
class FairQueue {
 public:
  struct Limits {
    size_t clients = 1;
    size_t frames = 4096;     // maximum number of waiting frames, of all clients
    size_t max_frame = 1518;  // bytes; longer frames must not be pushed
  };
  static constexpr size_t kInOrder = 256;
  // The bytes that a client may send in one turn. A turn is long enough for many frames, so that
  // the client's data is in the processor's cache for all frames but the first, and the frames
  // leave the simulation together.
  static constexpr size_t kQuantum = 16384;

  struct Frame {
    size_t client = 0;
    std::span<std::byte> bytes;  // valid until the next Pop()
    Instant received;
  };

  explicit FairQueue(const Limits& limits);

  // Adds a frame. Returns the client that loses a frame (`client`, or a client that has more than
  // its share), or nothing if no frame is lost. `client` is less than Limits::clients.
  std::optional<size_t> Push(size_t client, std::span<const std::byte> frame, Instant received);
  // Returns the next frame to be served.
  std::optional<Frame> Pop();
  size_t size() const { return size_; }
  size_t SizeOf(size_t client) const { return clients_[client].size; }
  bool empty() const { return size_ == 0; }
  // Returns the number of further frames that the client may have waiting.
  size_t RoomOf(size_t client) const;
  // Whether clients are served in turns. If not, frames are served in their order of arrival.
  bool is_fair() const { return fair_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Slot {
    // The slots of the frames before and after this frame in the order of arrival of all frames.
    uint32_t older = kNone, newer = kNone;
    uint32_t next = kNone;  // the next frame of the same client
    uint32_t client = 0, length = 0;
    Instant received;
  };
  struct Client {
    uint32_t oldest = kNone, newest = kNone;
    size_t size = 0;
    size_t deficit = 0;   // bytes that the client may still send in its turn
    bool active = false;  // the client is in new_turns_ or turns_
  };

  std::byte* BytesOf(uint32_t slot) { return memory_.get() + slot * max_frame_; }
  // Returns the number of frames that a client may have waiting while other clients wait, too.
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
  // The clients that wait for a turn, if clients are served in turns. A client in the lists may
  // have no frames left. The clients in new_turns_, which had no frames before, are served first.
  std::deque<size_t> new_turns_, turns_;
  uint32_t oldest_ = kNone, newest_ = kNone, lent_ = kNone;
  size_t size_ = 0, waiting_clients_ = 0;
  bool fair_ = false;
};

}  // namespace viaduct::tunnel
