// Many first-in-first-out lists of packets in one shared buffer: no allocation per packet once the
// buffer has grown to the maximum number of packets that waited at once.
#pragma once

#include <optional>
#include <vector>

#include "path/packet/packet.h"

namespace viaduct::path {

class PacketLists {
 public:
  struct List {
    uint32_t head = kNone, tail = kNone;
    uint64_t packets = 0, bytes = 0;
  };

  void Append(List& list, const Packet& packet) {
    const uint32_t node = Allocate(packet);
    if (list.tail == kNone) {
      list.head = node;
    } else {
      nodes_[list.tail].next = node;
    }
    list.tail = node;
    ++list.packets;
    list.bytes += packet.bytes;
  }
  std::optional<Packet> TakeFront(List& list) {
    if (list.head == kNone) return std::nullopt;
    const uint32_t node = list.head;
    const Packet packet = nodes_[node].packet;
    list.head = nodes_[node].next;
    if (list.head == kNone) list.tail = kNone;
    --list.packets;
    list.bytes -= packet.bytes;
    nodes_[node].next = free_;
    free_ = node;
    return packet;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Node {
    Packet packet;
    uint32_t next = kNone;
  };

  uint32_t Allocate(const Packet& packet) {
    if (free_ == kNone) {
      nodes_.push_back({packet, kNone});
      return static_cast<uint32_t>(nodes_.size() - 1);
    }
    const uint32_t node = free_;
    free_ = nodes_[node].next;
    nodes_[node] = {packet, kNone};
    return node;
  }

  std::vector<Node> nodes_;
  uint32_t free_ = kNone;
};

}  // namespace viaduct::path
