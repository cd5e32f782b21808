// FQ-CoDel (RFC 8290): each flow has a separate queue, controlled by CoDel; queues are served by
// deficit round robin, those of flows that build no queue first.
#pragma once

#include <vector>

#include "path/queue/codel.h"
#include "path/queue/flow_queues.h"
#include "path/queue/queue_limit.h"

namespace viaduct::path {

struct FqCodelParameters {
  CodelParameters codel{.ecn = true};  // default of net/sched/sch_fq_codel.c
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
