// Frames that leave an interface at given times: the queueing discipline keeps them until then
// (SO_TXTIME).
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

// One thread. Its frames are its socket's alone: those of a port on the same interface, and the
// bytes in flight that the port reports, do not know of them.
//
// Whether a frame left, and when, is what the driver says (skb_tx_timestamp(): a stamp by software
// as the frame is handed to the hardware, or to the other end of a veth pair). A frame whose fate
// is not reported within a second after its time counts as unheard.
class TimedSender {
 public:
  // What the queueing discipline compares times with: "fq" (net/sched/sch_fq.c) CLOCK_MONOTONIC,
  // "etf" (sch_etf.c, refuses others) the one that it was given, which must be CLOCK_TAI here.
  enum class Clock { kMonotonic, kTai };

  // `socket`: AF_PACKET, SOCK_RAW, protocol 0, not bound. Throws Error.
  TimedSender(UniqueFd socket, int ifindex, Clock clock);

  enum class Result {
    kTaken,    // it leaves at its time, or will be counted as missed or unheard
    kNoRoom,   // the qdisc or the socket has no room for it now
    kRefused,  // the interface does not carry it: it is down, gone, or its MTU is smaller
  };
  // `due`: CLOCK_MONOTONIC. For what is in the past fq has room and lets it leave at once, etf has
  // none.
  Result Send(FrameToSend frame, Instant due);

  // Becomes readable (poll: POLLERR) when frames have left or missed their time.
  int fd() const { return socket_.get(); }
  // Reads what is known of frames. `now`: CLOCK_MONOTONIC. `left` gets the lateness of each that
  // has left, negative if it left early. Returns how many frames that concerned.
  size_t ReadFates(Instant now, const std::function<void(Duration)>& left = {});

  struct Counters {
    uint64_t sent = 0, bytes = 0;  // frames taken
    uint64_t left = 0;             // of them, those that left
    uint64_t missed = 0;           // those that the qdisc dropped because their time was over
    uint64_t unheard = 0;          // those of which nothing was heard
    uint64_t refused = 0;
  };
  const Counters& counters() const { return counters_; }
  // How late those were that left, nanoseconds. Frames that left early count as 0 here: see
  // earliest().
  const Histogram& lateness() const { return lateness_; }
  // The most that one left before its time; 0: none did.
  Duration earliest() const { return earliest_; }
  // Frames that were taken and of which nothing is known yet.
  size_t Waiting() const { return due_.size(); }

 private:
  // Nothing is known of frames longer ago.
  void GiveUp(Instant now);
  // `at`: CLOCK_MONOTONIC.
  void HandleLeft(uint32_t id, Instant at, const std::function<void(Duration)>& left);
  void HandleMissed(uint64_t txtime);

  UniqueFd socket_;
  int ifindex_;
  Clock clock_;
  uint32_t next_id_ = 0;                       // SOF_TIMESTAMPING_OPT_ID's
  std::unordered_map<uint32_t, Instant> due_;  // by id
  Counters counters_;
  Histogram lateness_;
  Duration earliest_;
};

}  // namespace viaduct::io
