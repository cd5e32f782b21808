// FQ-PIE (net/sched/sch_fq_pie.c): each flow has a separate queue, controlled by PIE; queues are
// served as in FQ-CoDel.
#pragma once

#include <vector>

#include "path/queue/flow_queues.h"
#include "path/queue/pie_control.h"
#include "path/queue/queue_limit.h"

namespace viaduct::path {

// The parameters of FQ-PIE, with the kernel's defaults.
struct FqPieParameters {
  PieParameters pie;
  uint32_t flows = 1024;
  int64_t quantum = 1514;  // bytes

  static std::span<const Parameter<FqPieParameters>> Table();
  void Check() const { pie.Check(); }
};

class FqPieQueue : public QueueDiscipline {
 public:
  static constexpr QueueSize kDefaultLimit = QueuePackets(10240);
  using Parameters = FqPieParameters;

  FqPieQueue(const FqPieParameters& parameters, const QueueSetup& setup);
  // Adds a packet; at the limit, the arriving packet is dropped.
  void Enqueue(Packet packet, Instant now, DropSink& drops) override;
  std::optional<Packet> Dequeue(Instant now, DropSink& drops) override;
  void SetRate(int64_t rate) override { limit_.SetRate(rate); }
  bool Empty() const override { return flows_.packets() == 0; }
  uint64_t packets() const override { return flows_.packets(); }
  uint64_t bytes() const override { return flows_.bytes(); }

  const PieControl::State& state(uint32_t flow) const { return states_[flow]; }
  const FlowQueues& flows() const { return flows_; }

 private:
  QueueLimit limit_;
  FrameStore& store_;
  PieControl control_;
  FlowQueues flows_;
  std::vector<PieControl::State> states_;  // indexed by flow
};

}  // namespace viaduct::path
