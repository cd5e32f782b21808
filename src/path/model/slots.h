// The slot stage: packets wait for the next slot and leave together, in the order in which they
// arrived.
#pragma once

#include <optional>

#include "path/model/delay_model.h"
#include "path/model/slot_spec.h"
#include "path/packet/memory_fifo.h"

namespace viaduct::path {

// The instants of the slots. A packet that finds no future slot opens a slot, whose instant is
// drawn relative to the arrival; a slot that is full opens the next slot at its own instant.
class Slots {
 public:
  // `read_file` reads the distribution's file; the constructor throws UsageError if the file is
  // invalid.
  Slots(const SlotSpec& spec, const FileReader& read_file);

  // Takes a packet that is ready at packet.ready, which must not decrease; returns the instant at
  // which the packet leaves.
  Instant Leave(const Packet& packet, RandomStream& random);

 private:
  void Open(Instant now, RandomStream& random);

  DelayModel interval_;
  int64_t packets_, bytes_;  // limits of one slot
  Instant slot_;             // instant of the current slot
  bool opened_ = false;
  int64_t packets_left_ = 0, bytes_left_ = 0;
};

// The packets that wait for their slot, in memory.
class SlotStage {
 public:
  explicit SlotStage(RandomStream random) : random_(random) {}

  // Sets the slots of packets pushed from now on; packets that already wait keep their slots.
  void Set(std::optional<Slots> slots) { slots_ = std::move(slots); }
  bool HasSlots() const { return slots_.has_value(); }
  // Takes a packet that is ready at packet.ready, which must not decrease. Requires HasSlots().
  void Push(Packet packet);
  // Returns the instant at which the first packet leaves; Never when no packet waits.
  Instant Next() const { return next_; }
  // Takes the packet that leaves at Next(); packet.ready is that instant.
  Packet PopFirst();
  uint64_t packets() const { return line_.packets(); }
  uint64_t bytes() const { return line_.bytes(); }

 private:
  RandomStream random_;
  std::optional<Slots> slots_;
  MemoryFifo line_;
  Instant next_ = Instant::Never();
  Instant last_;  // leaving instant of the packet that arrived last
};

}  // namespace viaduct::path
