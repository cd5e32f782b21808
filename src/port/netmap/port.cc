#include "port/netmap/port.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/wire/ethernet.h"
#include "port/interface_watch.h"

namespace viaduct::netmap {
namespace {

uint32_t Next(const netmap_ring& ring, uint32_t slot) {
  return slot + 1 == ring.num_slots ? 0 : slot + 1;
}

// Returns the number of slots in a ring from slot `from` to before slot `to`.
uint32_t Distance(const netmap_ring& ring, uint32_t from, uint32_t to) {
  return to >= from ? to - from : to + ring.num_slots - from;
}

std::byte* BufferOf(netmap_ring& ring, const netmap_slot& slot) {
  return reinterpret_cast<std::byte*>(NETMAP_BUF(&ring, slot.buf_idx));
}

// Returns the number of slots in a ring that the process owns. The kernel changes `tail` only in
// system calls of this process.
uint32_t Available(const netmap_ring& ring) { return Distance(ring, ring.head, ring.tail); }

Instant StampOf(const netmap_ring& ring) {
  return Instant::FromNanoseconds(ring.ts.tv_sec * int64_t{1000000000} +
                                  ring.ts.tv_usec * int64_t{1000});
}

}  // namespace

Port::Port(Registered registered)
    : registered_(std::move(registered)),
      longest_(registered_.mtu + wire::EthernetHeader::kSize + 2 * wire::VlanTag::kSize) {
  netmap_if& interface = *registered_.interface;
  if (interface.ni_tx_rings == 0 || interface.ni_rx_rings == 0) {
    throw EnvironmentError(fmt::format(
        "netmap on interface {}: netmap has no send ring or no receive ring for the interface",
        std::string(interface.ni_name)));
  }
  send_ = NETMAP_TXRING(&interface, 0);
  for (uint32_t ring = 0; ring < interface.ni_rx_rings; ++ring) {
    receive_.push_back(NETMAP_RXRING(&interface, ring));
    receive_.back()->flags |= NR_TIMESTAMP;
    lent_.push_back(receive_.back()->head);
  }
  if (longest_ > size_t{send_->nr_buf_size} * (send_->num_slots - 1)) {
    throw EnvironmentError(fmt::format(
        "netmap on interface {}: the {} slots of {} bytes of the send ring are too small for a "
        "frame of the interface's MTU of {} bytes; reduce the MTU",
        std::string(interface.ni_name), send_->num_slots, send_->nr_buf_size, registered_.mtu));
  }
  bytes_.resize(send_->num_slots);
  oldest_ = send_->head;
}

// Returns the slots of lent frames to the kernel, and makes the kernel send the frames that it has
// been given.
Port::~Port() {
  ReturnLent();
  registered_.sync(NIOCTXSYNC);
}

void Port::ReturnLent() {
  for (size_t ring = 0; ring < receive_.size(); ++ring) {
    receive_[ring]->head = receive_[ring]->cur = lent_[ring];
  }
  gathered_count_ = 0;
}

size_t Port::Receive(std::span<io::ReceivedFrame> frames) {
  ReturnLent();
  if (frames.empty()) return 0;
  // Passes the released slots to the kernel, which moves `tail`.
  if (registered_.sync(NIOCRXSYNC) != 0) return 0;
  size_t count = 0;
  for (size_t i = 0; i < receive_.size() && count < frames.size(); ++i) {
    const size_t ring = (first_ring_ + i) % receive_.size();
    count += ReceiveFrom(*receive_[ring], frames.subspan(count), &lent_[ring]);
  }
  first_ring_ = (first_ring_ + 1) % receive_.size();
  for (const io::ReceivedFrame& frame : frames.first(count)) {
    counters_.rx_bytes += frame.bytes.size();
  }
  counters_.rx_frames += count;
  return count;
}

size_t Port::ReceiveFrom(netmap_ring& ring, std::span<io::ReceivedFrame> frames, uint32_t* lent) {
  size_t count = 0;
  uint32_t at = ring.head;
  uint32_t available = Available(ring);
  while (available > 0 && count < frames.size()) {
    uint32_t slots = 1;
    for (uint32_t last = at; (ring.slot[last].flags & NS_MOREFRAG) != 0; last = Next(ring, last)) {
      if (++slots > available) return count;  // the remaining slots of the frame have not arrived
    }
    if (Gather(ring, at, slots, &frames[count])) {
      ++count;
    } else {
      ++counters_.rx_dropped_truncated;
    }
    available -= slots;
    for (; slots > 0; --slots) at = Next(ring, at);
    *lent = at;
  }
  return count;
}

bool Port::Gather(netmap_ring& ring, uint32_t first, uint32_t slots, io::ReceivedFrame* frame) {
  size_t length = 0;
  uint32_t at = first;
  for (uint32_t i = 0; i < slots; ++i, at = Next(ring, at)) length += ring.slot[at].len;
  if (length > longest_) return false;
  *frame = {};
  frame->received = StampOf(ring);
  if (slots == 1) {
    frame->bytes = {BufferOf(ring, ring.slot[first]), length};
    return true;
  }
  if (gathered_.size() == gathered_count_) gathered_.emplace_back(longest_);
  std::byte* const memory = gathered_[gathered_count_++].data();
  size_t copied = 0;
  for (at = first; slots > 0; --slots, at = Next(ring, at)) {
    std::memcpy(memory + copied, BufferOf(ring, ring.slot[at]), ring.slot[at].len);
    copied += ring.slot[at].len;
  }
  frame->bytes = {memory, length};
  return true;
}

size_t Port::Transmit(std::span<const io::FrameToSend> frames) {
  refused_.clear();
  const bool is_up = registered_.is_up();
  size_t taken = 0;
  for (bool has_synced = false; taken < frames.size();) {
    if (!is_up || !io::FitsMtu(frames[taken], registered_.mtu)) {
      ++counters_.tx_dropped_error;
      refused_.push_back(static_cast<uint32_t>(taken++));
    } else if (Put(frames[taken])) {
      ++counters_.tx_frames;
      counters_.tx_bytes += frames[taken++].size();
    } else if (!std::exchange(has_synced, true)) {
      registered_.sync(NIOCTXSYNC);
      Collect();
    } else {
      break;
    }
  }
  registered_.sync(NIOCTXSYNC);
  Collect();
  return taken;
}

bool Port::Put(io::FrameToSend frame) {
  netmap_ring& ring = *send_;
  const size_t room = ring.nr_buf_size;
  const size_t slots = (frame.size() + room - 1) / room;
  if (slots > Available(ring)) return false;
  uint32_t at = ring.head;
  for (size_t part = 0; part < slots; ++part, at = Next(ring, at)) {
    const io::FrameToSend bytes =
        frame.subspan(part * room, std::min(room, frame.size() - part * room));
    netmap_slot& slot = ring.slot[at];
    std::memcpy(BufferOf(ring, slot), bytes.data(), bytes.size());
    slot.len = static_cast<uint16_t>(bytes.size());
    slot.flags =
        static_cast<uint16_t>((slot.flags & ~NS_MOREFRAG) | (part + 1 < slots ? NS_MOREFRAG : 0));
    bytes_[at] = slot.len;
  }
  ring.head = ring.cur = at;
  in_flight_ += frame.size();
  return true;
}

// Removes the frames that have left from the bytes in flight. The process owns the slots from
// `head` to before `tail`; all other slots but one hold frames in flight and belong to the kernel.
void Port::Collect() {
  const uint32_t in_flight = send_->num_slots - 1 - Available(*send_);
  while (Distance(*send_, oldest_, send_->head) > in_flight) {
    in_flight_ -= std::exchange(bytes_[oldest_], 0);
    oldest_ = Next(*send_, oldest_);
  }
}

size_t Port::BytesInFlight() {
  if (in_flight_ > 0) registered_.sync(NIOCTXSYNC);
  Collect();
  return in_flight_;
}

io::PortCounters Port::Counters() {
  io::PortCounters counters = counters_;
  for (size_t i = 0; i < receive_.size(); ++i) {
    const netmap_ring& ring = *receive_[i];
    for (uint32_t at = lent_[i]; at != ring.tail; at = Next(ring, at)) {
      counters.rx_waiting += (ring.slot[at].flags & NS_MOREFRAG) == 0 ? 1 : 0;
    }
  }
  return counters;
}

std::string Port::Description() const {
  return fmt::format(
      "netmap: {} receive ring{}, {} slots of {} bytes in the send ring, bytes in flight exact",
      receive_.size(), receive_.size() == 1 ? "" : "s", send_->num_slots, send_->nr_buf_size);
}

}  // namespace viaduct::netmap
