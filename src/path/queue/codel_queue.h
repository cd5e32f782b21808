// CoDel (RFC 8289): drops or marks packets at the head, depending on the time for which packets
// have waited.
#pragma once

#include "path/queue/codel.h"
#include "path/queue/fifo_queue.h"

namespace viaduct::path {

class CodelQueue : public FifoQueue {
 public:
  // The kernel's default limit (net/sched/sch_codel.c), because RFC 8289 gives no limit.
  static constexpr QueueSize kDefaultLimit = QueuePackets(1000);
  using Parameters = CodelParameters;

  CodelQueue(const CodelParameters& parameters, const QueueSetup& setup)
      : FifoQueue(setup), parameters_(parameters), store_(setup.store), codel_(setup.max_packet) {}
  std::optional<Packet> Dequeue(Instant now, DropSink& drops) override {
    return codel_.Dequeue(*this, now, parameters_, store_, drops);
  }

  using FifoQueue::TakeFront;  // public, because Codel calls it
  const Codel& codel() const { return codel_; }

 private:
  CodelParameters parameters_;
  FrameStore& store_;
  Codel codel_;
};

}  // namespace viaduct::path
