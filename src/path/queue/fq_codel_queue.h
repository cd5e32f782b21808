// FQ-CoDel (RFC 8290): each flow has a queue of its own, controlled by CoDel; queues are served by
// deficit round robin, those of flows that build no queue first.
//
// Waiting packets are in memory, never on disk, because a packet of any flow may be needed next.
#pragma once

#include <vector>

#include "path/packet/packet_lists.h"
#include "path/queue/codel.h"
#include "path/queue/queue_limit.h"

namespace viaduct::path {

struct FqCodelParameters {
  CodelParameters codel{.ecn = true};  // as net/sched/sch_fq_codel.c
  uint32_t flows = 1024;               // section 5.2.4
  int64_t quantum = 1514;              // bytes, section 5.2.3

  static std::span<const Parameter<FqCodelParameters>> Table();
  void Check() const { codel.Check(); }
};

class FqCodelQueue : public QueueDiscipline {
 public:
  static constexpr QueueSize kDefaultLimit = QueuePackets(10240);  // 5.2.5
  using Parameters = FqCodelParameters;

  FqCodelQueue(const FqCodelParameters& parameters, const QueueSetup& setup);
  // Above the limit, up to 64 packets and at most half of its bytes are dropped from the head of
  // the queue with the most bytes (section 4.1): searching for it is paid once per batch.
  void Enqueue(Packet packet, Instant now, DropSink& drops) override;
  std::optional<Packet> Dequeue(Instant now, DropSink& drops) override;
  void SetRate(int64_t rate) override { limit_.SetRate(rate); }
  bool Empty() const override { return packets_ == 0; }
  uint64_t packets() const override { return packets_; }
  uint64_t bytes() const override { return bytes_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Flow {
    explicit Flow(uint32_t max_packet) : codel(max_packet) {}
    PacketLists::List list;
    Codel codel;
    int64_t credits = 0;  // bytes
    bool scheduled = false;
    uint32_t next = kNone;  // the next flow of its round
  };
  // One of the two lists of section 4.2: its flows in the order of service.
  struct Round {
    uint32_t first = kNone, last = kNone;
  };
  // The interface to one flow's queue that Codel expects.
  class FlowQueue;

  void Append(Round& round, uint32_t flow);
  uint32_t RemoveFirst(Round& round);
  uint32_t FattestFlow() const;
  void DropFromFattest(Instant now, DropSink& drops);
  std::optional<Packet> Take(Flow& flow);

  QueueLimit limit_;
  FqCodelParameters parameters_;
  FrameStore& store_;
  uint64_t seed_;  // salts the hash that assigns flows to queues
  PacketLists lists_;
  std::vector<Flow> flows_;
  Round new_, old_;
  uint64_t packets_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace viaduct::path
