#include "path/queue/dualpi2_queue.h"

#include <algorithm>

#include "path/packet/ecn.h"

namespace viaduct::path {
namespace {

// Th_len: if at most this many L4S packets wait, they are not marked.
constexpr uint64_t kNotMarkedAlone = 1;

// The function `recur` of RFC 9332: returns true for the share `likelihood` of the calls, at
// regular distances.
bool Recurs(double& count, double likelihood) {
  count += likelihood;
  if (count <= 1) return false;
  count -= 1;
  return true;
}

Packet Take(MemoryFifo& queue) {
  const Packet packet = *queue.Front();
  queue.PopFront();
  return packet;
}

}  // namespace

std::span<const Parameter<DualPi2Parameters>> DualPi2Parameters::Table() {
  using P = DualPi2Parameters;
  static constexpr Parameter<P> kTable[] = {
      TimeParameter<&P::target>("target"),
      TimeParameter<&P::update>("update"),
      GainParameter<&P::alpha>("alpha"),
      GainParameter<&P::beta>("beta"),
      GainParameter<&P::coupling>("coupling"),
      ValueParameter<ParseSpan, FormatDuration, &P::step>("step"),
      ValueParameter<ParseSpan, FormatDuration, &P::range>("range"),
      ProbabilityParameter<&P::classic>("classic")};
  return kTable;
}

void DualPi2Parameters::Check() const {
  if (classic > 0 && classic < 1) return;
  throw UsageError(
      "classic: a share of 0 or 100% starves one queue; specify a share between 0 and 100%");
}

DualPi2Queue::DualPi2Queue(const DualPi2Parameters& parameters, const QueueSetup& setup)
    : parameters_(parameters),
      store_(setup.store),
      limit_(setup),
      first_credit_(setup.max_packet * (2 * parameters.classic - 1)),
      credit_(first_credit_),
      max_squared_(std::min(1 / (parameters.coupling * parameters.coupling), 1.0)) {}

void DualPi2Queue::Enqueue(Packet packet, Instant now, DropSink& drops) {
  UpdateUntil(now);
  if (!limit_.Fits(packets(), bytes(), packet)) return drops.Drop(packet, Fate::kQueueFull, now);
  packet.ready = now;
  (EcnOf(store_.Bytes(packet.frame)) % 2 == 1 ? l4s_ : classic_).Push(packet);
}

std::optional<Packet> DualPi2Queue::Dequeue(Instant now, DropSink& drops) {
  UpdateUntil(now);
  while (!Empty()) {
    const bool l4s = L4sIsNext();
    const bool both = !l4s_.Empty() && !classic_.Empty();
    Packet packet = Take(l4s ? l4s_ : classic_);
    if (!(l4s ? PassesL4s(packet, now) : PassesClassic(packet))) {
      drops.Drop(packet, Fate::kAqm, now);
      continue;
    }
    if (both) credit_ += packet.bytes * (parameters_.classic - (l4s ? 0 : 1));
    return packet;
  }
  credit_ = first_credit_;
  return std::nullopt;
}

bool DualPi2Queue::L4sIsNext() const { return !l4s_.Empty() && (classic_.Empty() || credit_ <= 0); }

// The function `laqm` of RFC 9332: returns the marking probability of an L4S packet with this
// delay.
double DualPi2Queue::L4sProbability(Duration delay) const {
  if (l4s_.packets() <= kNotMarkedAlone) return 0;
  if (delay >= parameters_.step + parameters_.range) return 1;
  if (delay <= parameters_.step) return 0;
  return (delay - parameters_.step).ToSeconds() / parameters_.range.ToSeconds();
}

// Marks the packet if necessary; returns false if the packet must be dropped. At saturation, marks
// do not help, and L4S packets are dropped like classic packets.
bool DualPi2Queue::PassesL4s(Packet& packet, Instant now) {
  double likelihood = coupled_;
  if (coupled_ < 1) {
    likelihood = std::max(L4sProbability(now - packet.ready), coupled_);
  } else if (Recurs(l4s_count_, squared_)) {
    return false;
  }
  if (Recurs(l4s_count_, likelihood)) Mark(packet, store_);
  return true;
}

bool DualPi2Queue::PassesClassic(Packet& packet) {
  if (!Recurs(classic_count_, squared_)) return true;
  return squared_ < max_squared_ && Mark(packet, store_);
}

Duration DualPi2Queue::LongestDelay(Instant now) {
  Instant oldest = now;
  for (MemoryFifo* const queue : {&l4s_, &classic_}) {
    if (!queue->Empty()) oldest = std::min(oldest, queue->Front()->ready);
  }
  return now - oldest;
}

// The function `dualpi2_update` of RFC 9332: updates the probabilities.
void DualPi2Queue::Update(Instant now) {
  const Duration delay = LongestDelay(now);
  probability_ += parameters_.alpha * (delay - parameters_.target).ToSeconds() +
                  parameters_.beta * (delay - old_delay_).ToSeconds();
  probability_ = std::clamp(probability_, 0.0, 1.0);
  coupled_ = std::min(parameters_.coupling * probability_, 1.0);
  squared_ = std::min(probability_ * probability_, max_squared_);
  old_delay_ = delay;
}

void DualPi2Queue::UpdateUntil(Instant now) {
  if (!next_update_) next_update_ = now + parameters_.update;
  while (*next_update_ <= now) {
    if (Empty() && probability_ == 0 && old_delay_ == Duration()) {
      // Further updates would not change any value, so all idle periods are skipped in one step.
      *next_update_ += parameters_.update * ((now - *next_update_) / parameters_.update + 1);
      return;
    }
    Update(*next_update_);
    *next_update_ += parameters_.update;
  }
}

}  // namespace viaduct::path
