// RED (Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993): drops
// or marks packets at the tail, with a probability that grows with the average queue.
#pragma once

#include "path/grammar/parameters.h"
#include "path/packet/ecn.h"
#include "path/queue/fifo_queue.h"

namespace viaduct::path {

struct RedParameters {
  // The thresholds, in packets, or in bytes: the queue is then measured in bytes and large packets
  // are more likely to be dropped (section 4 of the paper, "byte mode"). If only one threshold is
  // given, max is three times min; if neither is given, the thresholds are 5 and 15 packets.
  std::optional<QueueSize> min, max;
  double max_probability = 0.02;  // max_p, from the examples in section 4 of the paper
  double weight = 0.002;          // w_q, from section 4 of the paper
  // Whether the probability grows to 1 while the average grows from max to twice max (Floyd,
  // "Recommendation on using the gentle_ variant of RED", 2000); without `gentle`, all packets are
  // dropped if the average is at least max.
  bool gentle = false;
  bool ecn = false;

  static std::span<const Parameter<RedParameters>> Table();
  // Throws UsageError if the thresholds contradict each other.
  void Check() const;
};

class RedQueue : public FifoQueue {
 public:
  using Parameters = RedParameters;

  RedQueue(const RedParameters& parameters, const QueueSetup& setup);
  void Enqueue(Packet packet, Instant now, DropSink& drops) override;
  std::optional<Packet> Dequeue(Instant now, DropSink& drops) override;
  void SetRate(int64_t rate) override;

  // The average and the thresholds are in packets, or in bytes in byte mode.
  double average() const { return average_; }
  double min() const { return min_; }
  double max() const { return max_; }

 private:
  enum class Verdict : uint8_t { kKeep, kEarly, kForced };
  void UpdateAverage(Instant now);
  Verdict Judge(uint32_t bytes);
  double Probability(uint32_t bytes) const;

  RedParameters parameters_;
  bool byte_mode_;
  double min_, max_;
  FrameStore& store_;
  RandomStream random_;
  double max_packet_;  // MaximumPacketSize in the paper
  double average_ = 0;
  int64_t count_ = -1;                 // packets since the last drop or mark
  std::optional<Instant> idle_since_;  // q_time: start of the idle time
  Duration packet_time_;               // s: transmission time of a small packet
};

}  // namespace viaduct::path
