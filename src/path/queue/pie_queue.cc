#include "path/queue/pie_queue.h"

#include <algorithm>
#include <charconv>

namespace viaduct::path {
namespace {

constexpr double kMarkBelow =
    0.1;  // mark_ecnth, section 5.1: above this, ECN-capable packets are dropped, too

// A number from 0 to 1000.
double ParseGain(std::string_view text) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || !(value >= 0) ||
      value > 1000) {
    throw UsageError(fmt::format("\"{}\": give a number from 0 to 1000, as in \"1.25\"", text));
  }
  return value;
}

std::string FormatGain(double gain) { return fmt::format("{}", gain); }

// Section 4.2: small probabilities move in small steps.
double Scale(double probability) {
  struct Row {
    double below, divisor;
  };
  constexpr Row kTable[] = {{0.000001, 2048}, {0.00001, 512}, {0.0001, 128},
                            {0.001, 32},      {0.01, 8},      {0.1, 2}};
  for (const Row& row : kTable) {
    if (probability < row.below) return 1 / row.divisor;
  }
  return 1;
}

}  // namespace

std::span<const Parameter<PieParameters>> PieParameters::Table() {
  using P = PieParameters;
  static constexpr Parameter<P> kTable[] = {
      TimeParameter<&P::target>("target"),
      TimeParameter<&P::update>("update"),
      TimeParameter<&P::max_burst>("burst"),
      ValueParameter<ParseGain, FormatGain, &P::alpha>("alpha"),
      ValueParameter<ParseGain, FormatGain, &P::beta>("beta"),
      SwitchParameter<&P::ecn>("ecn")};
  return kTable;
}

void PieQueue::Enqueue(Packet packet, Instant now, DropSink& drops) {
  UpdateUntil(now);
  if (!Fits(packet)) {
    accumulated_ = 0;
    return drops.Drop(packet, Fate::kQueueFull, now);
  }
  if (burst_allowance_ == Duration() && DropEarly() && !MarkInstead(packet)) {
    return drops.Drop(packet, Fate::kAqm, now);
  }
  Append(packet, now, drops);
}

// Section 4.1 with 5.4: a drop neither too soon after another nor too late.
bool PieQueue::DropEarly() {
  const bool calm = old_delay_ < parameters_.target / 2 && probability_ < 0.2;
  if (calm || bytes() <= 2 * mean_packet_) return false;
  if (probability_ == 0) accumulated_ = 0;
  accumulated_ += probability_;
  if (accumulated_ < 0.85) return false;
  if (accumulated_ < 8.5 && !random_.Chance(probability_)) return false;
  accumulated_ = 0;
  return true;
}

bool PieQueue::MarkInstead(Packet& packet) {
  return parameters_.ecn && probability_ < kMarkBelow && Mark(packet, store_);
}

std::optional<Packet> PieQueue::Dequeue(Instant now, DropSink&) {
  UpdateUntil(now);
  const auto packet = TakeFront();
  if (packet) delay_ = now - packet->ready;
  if (Empty()) delay_ = Duration();
  return packet;
}

void PieQueue::UpdateUntil(Instant now) {
  if (!next_update_) next_update_ = now + parameters_.update;
  while (*next_update_ <= now) {
    if (probability_ == 0 && delay_ == Duration() && old_delay_ == Duration()) {
      burst_allowance_ = parameters_.max_burst;
      // Nothing changes any more, so all idle periods are skipped at once.
      *next_update_ += parameters_.update * ((now - *next_update_) / parameters_.update + 1);
      return;
    }
    Update();
    *next_update_ += parameters_.update;
  }
}

double PieQueue::Adjustment() const {
  const double seconds_off = (delay_ - parameters_.target).ToSeconds();
  const double seconds_grown = (delay_ - old_delay_).ToSeconds();
  const double adjustment =
      (parameters_.alpha * seconds_off + parameters_.beta * seconds_grown) * Scale(probability_);
  return probability_ >= 0.1 ? std::min(adjustment, 0.02) : adjustment;  // section 5.5
}

// Sections 4.2 and 4.4.
void PieQueue::Update() {
  probability_ += Adjustment();
  if (delay_ == Duration() && old_delay_ == Duration()) probability_ *= 0.98;
  probability_ = std::clamp(probability_, 0.0, 1.0);
  burst_allowance_ = std::max(Duration(), burst_allowance_ - parameters_.update);
  const Duration half = parameters_.target / 2;
  if (probability_ == 0 && delay_ < half && old_delay_ < half) {
    burst_allowance_ = parameters_.max_burst;
  }
  old_delay_ = delay_;
}

}  // namespace viaduct::path
