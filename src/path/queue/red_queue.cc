#include "path/queue/red_queue.h"

#include <algorithm>
#include <cmath>

namespace viaduct::path {
namespace {

// The bits of a small packet, for "a typical transmission time for a small packet" (Floyd and
// Jacobson 1993, section 4, s): in the paper's simulations and in ns-2 a packet of 500 bytes.
constexpr int64_t kSmallPacketBits = 500 * 8;
constexpr int64_t kDefaultMinimum = 5;  // packets
constexpr double kMaxByMin = 3;         // Floyd, "RED: Discussions of Setting Parameters", 1997

std::string FormatThreshold(const std::optional<QueueSize>& size) { return FormatQueueSize(*size); }

}  // namespace

std::span<const Parameter<RedParameters>> RedParameters::Table() {
  using P = RedParameters;
  static constexpr Parameter<P> kTable[] = {
      ValueParameter<ParseQueueLength, FormatThreshold, &P::min>("min"),
      ValueParameter<ParseQueueLength, FormatThreshold, &P::max>("max"),
      ProbabilityParameter<&P::max_probability>("prob"),
      ProbabilityParameter<&P::weight>("weight"),
      SwitchParameter<&P::gentle>("gentle"),
      SwitchParameter<&P::ecn>("ecn")};
  return kTable;
}

void RedParameters::Check() const {
  if (!min || !max) return;
  if (min->unit != max->unit) {
    throw UsageError("min and max must both be in packets or both in bytes");
  }
  if (min->amount >= max->amount) throw UsageError("min must be less than max");
}

RedQueue::RedQueue(const RedParameters& parameters, const QueueSetup& setup)
    : FifoQueue(setup),
      parameters_(parameters),
      store_(setup.store),
      random_(setup.random),
      max_packet_(setup.max_packet) {
  const QueueSize given =
      parameters.min.value_or(parameters.max.value_or(QueuePackets(kDefaultMinimum)));
  byte_mode_ = given.unit == QueueSize::Unit::kBytes;
  const auto amount = static_cast<double>(given.amount);
  min_ = !parameters.min && parameters.max ? amount / kMaxByMin : amount;
  max_ = parameters.max ? static_cast<double>(parameters.max->amount) : kMaxByMin * min_;
}

void RedQueue::SetRate(int64_t rate) {
  FifoQueue::SetRate(rate);
  packet_time_ = Duration::Nanoseconds(kSmallPacketBits * 1000000000 / rate);
}

// Updates the average queue (section 4, Figure 2 of Floyd and Jacobson 1993). While the queue is
// empty, the average decreases as if small packets had passed, and by at least one sample with each
// packet that arrives at an empty queue: otherwise, packets that arrive faster than small packets
// are sent would all be dropped, forever.
void RedQueue::UpdateAverage(Instant now) {
  if (!Empty()) {
    const auto queue = static_cast<double>(byte_mode_ ? bytes() : packets());
    average_ += parameters_.weight * (queue - average_);
    return;
  }
  if (!idle_since_) return;
  const double small_packets =
      packet_time_ > Duration()
          ? static_cast<double>(std::max<int64_t>(1, (now - *idle_since_) / packet_time_))
          : HUGE_VAL;
  average_ *= std::pow(1 - parameters_.weight, small_packets);
}

// Returns p_b for an average queue at or above min.
double RedQueue::Probability(uint32_t packet_bytes) const {
  const double span = max_ - min_;
  double probability = parameters_.max_probability * (average_ - min_) / span;
  if (average_ >= max_) {
    probability =
        parameters_.max_probability + (1 - parameters_.max_probability) * (average_ - max_) / max_;
  }
  return byte_mode_ ? probability * packet_bytes / max_packet_ : probability;
}

RedQueue::Verdict RedQueue::Judge(uint32_t packet_bytes) {
  if (average_ < min_) {
    count_ = -1;
    return Verdict::kKeep;
  }
  if (average_ >= (parameters_.gentle ? 2 : 1) * max_) {
    count_ = -1;
    return Verdict::kForced;
  }
  ++count_;
  // p_a makes the gaps between drops uniform on 1 ... 1/p_b instead of geometric (Floyd and
  // Jacobson 1993, section 7, method 2). After a drop, Figure 2 of the paper starts count from 0,
  // but this code starts from -1, as section 7 derives it: otherwise every p_b above 1/2 would drop
  // all packets.
  const double pb = Probability(packet_bytes);
  const double rest = 1 - static_cast<double>(count_) * pb;
  if (rest > 0 && !random_.Chance(pb / rest)) return Verdict::kKeep;
  count_ = -1;
  return Verdict::kEarly;
}

// Adds a packet. RFC 3168 section 7: above the upper threshold, packets are dropped, not marked.
void RedQueue::Enqueue(Packet packet, Instant now, DropSink& drops) {
  UpdateAverage(now);
  idle_since_.reset();
  const Verdict verdict = Judge(packet.bytes);
  const bool marks = parameters_.ecn && verdict == Verdict::kEarly;
  if (verdict != Verdict::kKeep && !(marks && Mark(packet, store_))) {
    drops.Drop(packet, Fate::kAqm, now);
  } else if (!Fits(packet)) {
    count_ = -1;
    drops.Drop(packet, Fate::kQueueFull, now);
  } else {
    Append(packet, now, drops);
  }
  if (Empty()) idle_since_ = now;
}

std::optional<Packet> RedQueue::Dequeue(Instant now, DropSink&) {
  const auto packet = TakeFront();
  if (Empty()) idle_since_ = now;
  return packet;
}

}  // namespace viaduct::path
