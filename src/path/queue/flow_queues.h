// Queues by flow, served by deficit round robin; queues of flows that do not build a queue are
// served first: the scheduler of RFC 8290 (sections 4.1 and 4.2), which FQ-CoDel and FQ-PIE share.
//
// Waiting packets are in memory, never on disk, because a packet of any flow may be needed next.
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "path/packet/packet_lists.h"

namespace viaduct::path {

class FlowQueues {
 public:
  // `quantum`: the bytes that a flow may send in a round. `random` salts the assignment of flows to
  // queues.
  FlowQueues(uint32_t flows, int64_t quantum, RandomStream random)
      : quantum_(quantum), seed_(random.Next()), flows_(flows) {}

  // Returns the queue of a frame's flow.
  uint32_t FlowOf(std::span<const std::byte> frame) const;
  // Appends the packet to a queue, which takes part in the rounds of the scheduler from now on.
  void Append(uint32_t flow, const Packet& packet);
  std::optional<Packet> TakeFront(uint32_t flow);

  // Returns the queue to be served now; nothing when no queue takes part in the rounds. Sent() or
  // NothingSent() must be called next.
  std::optional<uint32_t> Turn();
  void Sent(uint32_t bytes) { flows_[round_->first].credits -= bytes; }
  // Ends the turn of a queue that had nothing to send; the queue takes part again with its next
  // packet.
  void NothingSent();

  // Returns the queue with the most bytes.
  uint32_t Fattest() const;
  uint64_t packets(uint32_t flow) const { return flows_[flow].list.packets; }
  uint64_t bytes(uint32_t flow) const { return flows_[flow].list.bytes; }
  uint64_t packets() const { return packets_; }
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Flow {
    PacketLists::List list;
    int64_t credits = 0;  // bytes
    bool scheduled = false;
    uint32_t next = kNone;  // the next flow in the Round that contains this flow
  };
  // One of the two lists of RFC 8290 section 4.2, new and old queues: the list's flows in the order
  // of service.
  struct Round {
    uint32_t first = kNone, last = kNone;
  };

  void Schedule(Round& round, uint32_t flow);
  uint32_t RemoveFirst(Round& round);

  int64_t quantum_;
  uint64_t seed_;
  PacketLists lists_;
  std::vector<Flow> flows_;
  Round new_, old_;
  Round* round_ = &new_;  // list of the flow that is served now
  uint64_t packets_ = 0, bytes_ = 0;
};

// One of the queues, with the interface that Codel requires (codel.h).
class FlowQueue {
 public:
  FlowQueue(FlowQueues& all, uint32_t flow) : all_(all), flow_(flow) {}
  std::optional<Packet> TakeFront() { return all_.TakeFront(flow_); }
  uint64_t bytes() const { return all_.bytes(flow_); }
  bool Empty() const { return all_.packets(flow_) == 0; }

 private:
  FlowQueues& all_;
  uint32_t flow_;
};

}  // namespace viaduct::path
