// Sends frames that leave an interface at given times: the queueing discipline keeps them until
// then (SO_TXTIME).
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <unordered_map>

#include "base/fd.h"
#include "base/histogram.h"
#include "base/time.h"
#include "port/port.h"

namespace viaduct::io {

// Used by one thread. Only this object's socket knows its frames: they are in no counter, nor in
// the bytes in flight, of a port on the same interface.
//
// The driver reports whether and when a frame left (skb_tx_timestamp(): a stamp by software as the
// frame is passed to the hardware, or to the peer of a veth pair). A frame whose fate is not
// reported within a second after its time counts as unheard.
class TimedSender {
 public:
  // The clock with which the queueing discipline compares times: "fq" (net/sched/sch_fq.c) uses
  // CLOCK_MONOTONIC, "etf" (sch_etf.c, refuses all others) its configured clock, which must be
  // CLOCK_TAI here.
  enum class Clock { kMonotonic, kTai };

  // `socket`: AF_PACKET, SOCK_RAW, protocol 0, not bound. Throws Error.
  TimedSender(UniqueFd socket, int ifindex, Clock clock);

  enum class Result {
    kTaken,    // leaves at its time, or will be counted as missed or unheard
    kNoRoom,   // the qdisc or the socket has no space for it now
    kRefused,  // the interface does not carry it: it is down, gone, or its MTU is smaller
  };
  // `due`: CLOCK_MONOTONIC. If it is in the past, fq accepts the frame and sends it at once; etf
  // does not accept it (kNoRoom).
  Result Send(FrameToSend frame, Instant due);

  // Becomes readable (poll: POLLERR) when frames have left or missed their time.
  int fd() const { return socket_.get(); }
  // Reads the reported fates of frames. `now`: CLOCK_MONOTONIC. `left` gets the lateness of each
  // frame that has left, negative if it left early. Returns the number of frames with a fate.
  size_t ReadFates(Instant now, const std::function<void(Duration)>& left = {});

  struct Counters {
    uint64_t sent = 0, bytes = 0;  // frames taken
    uint64_t left = 0;             // frames that left
    uint64_t missed = 0;           // frames that the qdisc dropped because their time was over
    uint64_t unheard = 0;          // frames without a report
    uint64_t refused = 0;
  };
  const Counters& counters() const { return counters_; }
  // The lateness of the frames that left, nanoseconds. Frames that left early count as 0 here: see
  // earliest().
  const Histogram& lateness() const { return lateness_; }
  // The maximum time by which a frame left too early; 0: none did.
  Duration earliest() const { return earliest_; }
  // The number of frames that were taken and have no fate yet.
  size_t Waiting() const { return due_.size(); }

 private:
  // Counts older frames without a report as unheard.
  void GiveUp(Instant now);
  // `at`: CLOCK_MONOTONIC.
  void HandleLeft(uint32_t id, Instant at, const std::function<void(Duration)>& left);
  void HandleMissed(uint64_t txtime);

  UniqueFd socket_;
  int ifindex_;
  Clock clock_;
  uint32_t next_id_ = 0;                       // the number of SOF_TIMESTAMPING_OPT_ID
  std::unordered_map<uint32_t, Instant> due_;  // key: the frame's id
  Counters counters_;
  Histogram lateness_;
  Duration earliest_;
};

}  // namespace viaduct::io
