// Sends frames that leave an interface at given times: a queueing discipline keeps each frame until
// its time (SO_TXTIME).
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

// Sends frames with due times through a packet socket. Used by one thread. No port on the same
// interface has these frames in its counters or bytes in flight.
//
// The driver reports whether and when a frame left (skb_tx_timestamp(): a software stamp that is
// set when the frame is passed to the hardware, or to the peer of a veth pair). A frame whose fate
// is not reported within a second after its due time counts as unheard.
class TimedSender {
 public:
  // The clock with which the queueing discipline compares due times: "fq" (net/sched/sch_fq.c) uses
  // CLOCK_MONOTONIC; "etf" (sch_etf.c) uses its configured clock, which must be CLOCK_TAI here, and
  // refuses frames with any other clock.
  enum class Clock { kMonotonic, kTai };

  // `socket`: AF_PACKET, SOCK_RAW, protocol 0, not bound. Throws Error.
  TimedSender(UniqueFd socket, int ifindex, Clock clock);

  enum class Result {
    kTaken,    // the frame leaves at its time, or will count as missed or unheard
    kNoRoom,   // the qdisc or the socket has no space for the frame now
    kRefused,  // the interface is down or gone, or its MTU is too small
  };
  // Sends a frame at the time `due` (CLOCK_MONOTONIC). If that time is in the past, fq accepts the
  // frame and sends it at once; etf does not accept it (kNoRoom).
  Result Send(FrameToSend frame, Instant due);

  // Returns the descriptor of the socket, on which poll() reports POLLERR when frames have left or
  // missed their time.
  int fd() const { return socket_.get(); }
  // Reads the fates of frames that the kernel has reported. `now`: CLOCK_MONOTONIC. Calls `left`
  // with the lateness of each frame that has left, which is negative if the frame left early.
  // Returns the number of frames that got a fate.
  size_t ReadFates(Instant now, const std::function<void(Duration)>& left = {});

  struct Counters {
    uint64_t sent = 0, bytes = 0;  // frames that Send() took, and their bytes
    uint64_t left = 0;             // frames that left
    uint64_t missed = 0;           // frames that the qdisc dropped because their time was over
    uint64_t unheard = 0;          // frames whose fate was not reported in time
    uint64_t refused = 0;
  };
  const Counters& counters() const { return counters_; }
  // Returns the lateness of the frames that left, in nanoseconds. Frames that left early count as
  // 0; earliest() has their maximum.
  const Histogram& lateness() const { return lateness_; }
  // Returns the maximum time by which a frame left too early; 0 if no frame did.
  Duration earliest() const { return earliest_; }
  // Returns the number of frames that Send() took and that have no fate yet.
  size_t Waiting() const { return due_.size(); }

 private:
  // Counts frames whose fate was not reported within a second after their due time as unheard.
  void GiveUp(Instant now);
  // Counts a frame as left. `at`: the time at which it left, CLOCK_MONOTONIC.
  void HandleLeft(uint32_t id, Instant at, const std::function<void(Duration)>& left);
  void HandleMissed(uint64_t txtime);

  UniqueFd socket_;
  int ifindex_;
  Clock clock_;
  uint32_t next_id_ = 0;                       // the id of the next frame (SOF_TIMESTAMPING_OPT_ID)
  std::unordered_map<uint32_t, Instant> due_;  // due times by the frames' ids
  Counters counters_;
  Histogram lateness_;
  Duration earliest_;
};

}  // namespace viaduct::io
