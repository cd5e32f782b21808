// FQ-CoDel (RFC 8290): each flow has a separate queue, controlled by CoDel; queues are served by
// deficit round robin; queues of flows that do not build a queue are served first.
#pragma once

#include <vector>

#include "path/queue/codel.h"
#include "path/queue/flow_queues.h"
#include "path/queue/queue_limit.h"

namespace viaduct::path {

struct FqCodelParameters {
  CodelParameters codel{.ecn = true};  // default of net/sched/sch_fq_codel.c
  uint32_t flows = 1024;               // RFC 8290 section 5.2.5
  int64_t quantum = 1514;              // bytes, RFC 8290 section 5.2.4

  static std::span<const Parameter<FqCodelParameters>> Table();
  void Check() const { codel.Check(); }
};

class FqCodelQueue : public QueueDiscipline {
 public:
  static constexpr QueueSize kDefaultLimit = QueuePackets(10240);  // RFC 8290 section 5.2.3
  using Parameters = FqCodelParameters;

  FqCodelQueue(const FqCodelParameters& parameters, const QueueSetup& setup);
  // Adds a packet. Above the limit, up to 64 packets and at most half of the bytes of the queue
  // with the most bytes are dropped from its head (RFC 8290 section 4.1): the search for this queue
  // is made once per batch.
  void Enqueue(Packet packet, Instant now, DropSink& drops) override;
  std::optional<Packet> Dequeue(Instant now, DropSink& drops) override;
  void SetRate(int64_t rate) override { limit_.SetRate(rate); }
  bool Empty() const override { return flows_.packets() == 0; }
  uint64_t packets() const override { return flows_.packets(); }
  uint64_t bytes() const override { return flows_.bytes(); }

 private:
  void DropFromFattest(Instant now, DropSink& drops);

  QueueLimit limit_;
  CodelParameters parameters_;
  FrameStore& store_;
  FlowQueues flows_;
  std::vector<Codel> codels_;  // indexed by flow
};

}  // namespace viaduct::path
