// The queue before a link: who waits, who is dropped, who is next. One class a discipline
// (*_queue.h); which the SPEC knows is a table (disciplines.h). ECN: a discipline that marks sets
// packet.marked.
#pragma once

#include <optional>

#include "path/packet/fate.h"
#include "path/packet/packet.h"
#include "path/packet/pipeline_options.h"
#include "path/queue/queue_size.h"

namespace viaduct::path {

// What every discipline is made with, besides parameters of its own.
struct QueueSetup {
  QueueSize limit;
  FrameStore& store;  // must outlive the discipline
  RandomStream random;
  FifoMaker make_fifo;  // in memory when absent
};

class QueueDiscipline {
 public:
  virtual ~QueueDiscipline() = default;
  // Takes the packet (whose packet.ready becomes now) or hands it, or others in its stead, to
  // `drops`.
  virtual void Enqueue(Packet packet, Instant now, DropSink& drops) = 0;
  // The packet whose transmission starts at `now`. None: nothing waits, all that waited was
  // dropped, or (Stalled) the next one is still on its way from disk.
  virtual std::optional<Packet> Dequeue(Instant now, DropSink& drops) = 0;
  // The link's rate from now on, in bit/s, greater than zero: what limits in time are counted with.
  virtual void SetRate(int64_t) {}
  virtual bool Empty() const = 0;
  virtual bool Stalled() const { return false; }
  virtual uint64_t packets() const = 0;
  virtual uint64_t bytes() const = 0;
};

}  // namespace viaduct::path
