#include "port/packet/packet_ring.h"

#include <linux/if_packet.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/wire/ethernet.h"
#include "base/wire/link_tag.h"
#include "port/interface.h"

namespace viaduct::io {

bool PacketRing::IsLeftOut(const std::byte* address) {
  if (!leaves_out_outgoing_) return false;
  sockaddr_ll link;
  std::memcpy(&link, address, sizeof link);
  const bool is_left_out = link.sll_pkttype == PACKET_OUTGOING;
  if (is_left_out) counters_.rx.left_out.Add(1);
  return is_left_out;
}

void PacketRing::Describe(const About& about, const VnetHeader& header, std::span<std::byte> bytes,
                          ReceivedFrame& frame) {
  frame = {};
  last_status_.store(about.status, std::memory_order_relaxed);
  frame.received =
      Instant::FromNanoseconds(about.seconds * int64_t{1000000000} + about.nanoseconds);
  header.Describe(frame);
  if ((about.status & TP_STATUS_VLAN_VALID) != 0 && bytes.size() >= wire::EthernetHeader::kSize) {
    const uint16_t type =
        (about.status & TP_STATUS_VLAN_TPID_VALID) != 0 ? about.vlan_tpid : wire::ether_type::kVlan;
    bytes = *wire::PushTag(bytes, {wire::LinkTag::Kind::kVlan, type, about.vlan_tci});
    if (frame.checksum == Checksum::kPartial) {
      frame.checksum_start = static_cast<uint16_t>(frame.checksum_start + wire::LinkTag::kSize);
    }
  }
  frame.bytes = bytes;
}

RingMemory::RingMemory(int fd, size_t bytes) : bytes_(bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) throw SystemError("map a packet ring", errno);
  memory_ = static_cast<std::byte*>(memory);
}

RingMemory::~RingMemory() { munmap(memory_, bytes_); }

size_t LongestFrame(int fd, const RingOptions& options) {
  constexpr size_t kTags = 2 * wire::VlanTag::kSize;  // two tags: IEEE 802.1ad
  return options.slot_bytes != 0
             ? options.slot_bytes
             : size_t{InterfaceMtu(fd, options.ifindex)} + wire::EthernetHeader::kSize + kTags;
}

}  // namespace viaduct::io
