// The queue in front of a link: a discipline decides which packets wait, which packets are dropped
// and which packet is next. There is one class per discipline (*_queue.h); the table of the
// disciplines that a SPEC can name is in disciplines.h. ECN: a discipline that marks sets
// packet.marked.
#pragma once

#include <optional>

#include "path/packet/fate.h"
#include "path/packet/packet.h"
#include "path/packet/pipeline_options.h"
#include "path/queue/frame_overhead.h"
#include "path/queue/queue_size.h"

namespace viaduct::path {

// The arguments with which every discipline is constructed, in addition to its own parameters.
struct QueueSetup {
  QueueSize limit;
  FrameStore& store;  // must outlive the discipline
  RandomStream random;
  FifoMaker make_fifo;          // absent: Fifos in memory
  uint32_t max_packet = 1514;   // PipelineOptions::max_packet
  FrameOverhead overhead = {};  // added to each packet's bytes on the link
};

class QueueDiscipline {
 public:
  virtual ~QueueDiscipline() = default;
  // Takes the packet (packet.ready becomes `now`). Passes the packets that must be dropped, which
  // may be this packet or others, to `drops`.
  virtual void Enqueue(Packet packet, Instant now, DropSink& drops) = 0;
  // Returns the packet whose transmission starts at `now`. Returns nothing if the queue is empty,
  // all waiting packets were dropped, or (Stalled) the next packet is still being read from disk.
  virtual std::optional<Packet> Dequeue(Instant now, DropSink& drops) = 0;
  // Sets the link's rate from now on, in bit/s, greater than zero: limits given in time are
  // converted with this rate.
  virtual void SetRate(int64_t) {}
  virtual bool Empty() const = 0;
  virtual bool Stalled() const { return false; }
  virtual uint64_t packets() const = 0;
  virtual uint64_t bytes() const = 0;
};

}  // namespace viaduct::path
