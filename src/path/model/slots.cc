#include "path/model/slots.h"

#include <algorithm>

namespace viaduct::path {

Slots::Slots(const SlotSpec& spec, const FileReader& read_file)
    : interval_(spec.Interval(), read_file),
      packets_(spec.packets.value_or(INT64_MAX)),
      bytes_(spec.bytes.value_or(INT64_MAX)) {}

void Slots::Open(Instant now, RandomStream& random) {
  slot_ = now + interval_.Sample(now, random);
  opened_ = true;
  packets_left_ = packets_;
  bytes_left_ = bytes_;
}

// Returns the slot in which a packet leaves. As in netem, the packet that exceeds the byte limit of
// a slot is the last packet to leave in this slot.
Instant Slots::Leave(const Packet& packet, RandomStream& random) {
  if (!opened_ || slot_ < packet.ready) Open(packet.ready, random);
  const Instant leaves = slot_;
  --packets_left_;
  bytes_left_ -= packet.bytes;
  if (packets_left_ <= 0 || bytes_left_ <= 0) Open(leaves, random);
  return leaves;
}

// Adds a packet that waits for its slot. After a change of the slots, a new packet does not
// overtake packets that still wait for an old slot.
void SlotStage::Push(Packet packet) {
  packet.ready = std::max(slots_->Leave(packet, random_), last_);
  last_ = packet.ready;
  line_.Push(packet);
  next_ = std::min(next_, packet.ready);
}

Packet SlotStage::PopFirst() {
  const Packet packet = *line_.Front();
  line_.PopFront();
  next_ = line_.Empty() ? Instant::Never() : line_.Front()->ready;
  return packet;
}

}  // namespace viaduct::path
