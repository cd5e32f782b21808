// A hierarchical timing wheel (Varghese and Lauck 1987) of packets, which leave in the order of
// their exact due instants: slots are sorted when their time begins. There are two wheels, with
// slots of 8 us and of 34 ms, and a heap for packets that are due in more than 34 s. Insertion and
// removal take constant time; no packet waits for another packet, and packets due at one instant
// leave in the order of their turns.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "path/packet/packet.h"

namespace viaduct::path {

class TimingWheel {
 public:
  TimingWheel();

  // Inserts a packet. packet.ready is its due instant; packet.turn orders packets of the same
  // instant. `now` is at most packet.ready and must not decrease.
  void Insert(const Packet& packet, Instant now);
  // Returns the instant at which the first packet is due; Never when there is no packet.
  Instant Next() const { return next_; }
  // Returns the turn of the packet that is due at Next(); unspecified when there is no packet.
  uint32_t NextTurn();
  // Removes and returns the first packet. Precondition: the wheel is not empty.
  Packet PopFirst();
  uint64_t packets() const { return packets_; }
  uint64_t bytes() const { return bytes_; }

 private:
  using Index = uint32_t;  // index into nodes_
  static constexpr Index kNone = 0xffffffff;
  static constexpr int kSlotBits = 13;  // log2 of the nanoseconds in a near slot
  static constexpr int kNearBits = 12;  // log2 of the number of near slots
  // Log2 of the number of far slots, each as long as the near wheel.
  static constexpr int kFarBits = 10;
  static constexpr int64_t kNearSlots = 1 << kNearBits, kFarSlots = 1 << kFarBits;
  struct Node {
    Packet packet;
    Index next = kNone;
  };
  // A bitmap of the non-empty slots of a wheel; finds the first non-empty slot at or after a given
  // slot, cyclically.
  template <int bits>
  class Occupied {
   public:
    void Set(int64_t slot) { words_[Word(slot)] |= Bit(slot); }
    void Clear(int64_t slot) { words_[Word(slot)] &= ~Bit(slot); }
    int64_t FirstFrom(int64_t slot) const;  // -1: none

   private:
    static constexpr size_t kWords = (size_t{1} << bits) / 64;
    static size_t Word(int64_t slot) { return static_cast<size_t>(slot) / 64; }
    static uint64_t Bit(int64_t slot) { return uint64_t{1} << (slot % 64); }
    std::array<uint64_t, kWords> words_{};
  };

  static int64_t Tick(Instant at) { return at.nanoseconds() >> kSlotBits; }
  Index NewNode(const Packet& packet);
  bool Before(Index a, Index b) const;
  void Place(Index node);
  void PlaceNow(Index node);
  void LoadNext();
  void TakeSlot(Index head);
  void FindNext();

  std::vector<Node> nodes_;
  Index free_ = kNone;
  std::vector<Index> now_;  // packets due in the slot of cursor_ or before, the first packet last
  std::vector<Index> near_, far_, later_;  // near_: heads of lists; far_: lists; later_: a heap
  std::vector<Instant> far_next_;          // minimum instant in each far slot
  Occupied<kNearBits> near_occupied_;
  Occupied<kFarBits> far_occupied_;
  int64_t cursor_ = 0;  // tick; packets due earlier are in now_
  Instant next_ = Instant::Never();
  uint64_t packets_ = 0, bytes_ = 0;
};

}  // namespace viaduct::path
