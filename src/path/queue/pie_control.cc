#include "path/queue/pie_control.h"

#include <algorithm>

namespace viaduct::path {
namespace {

constexpr double kMarkBelow =
    0.1;  // mark_ecnth, RFC 8033 section 5.1: at this probability or above, ECN packets are dropped

// Returns the divisor of an adjustment of the probability, RFC 8033 section 4.2: small
// probabilities change in small steps.
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
      TimeParameter<&P::target>("target"),   TimeParameter<&P::update>("update"),
      TimeParameter<&P::max_burst>("burst"), GainParameter<&P::alpha>("alpha"),
      GainParameter<&P::beta>("beta"),       SwitchParameter<&P::ecn>("ecn")};
  return kTable;
}

bool PieControl::Drops(State& state, Packet& packet, uint64_t bytes) {
  return state.burst_allowance == Duration() && DropEarly(state, bytes) &&
         !MarkInstead(state, packet);
}

// Returns whether an arriving packet is dropped, RFC 8033 sections 4.1 and 5.4: drops are neither
// too close to each other nor too far apart.
bool PieControl::DropEarly(State& state, uint64_t bytes) {
  const bool calm = state.old_delay < parameters_.target / 2 && state.probability < 0.2;
  if (calm || bytes <= 2 * mean_packet_) return false;
  if (state.probability == 0) state.accumulated = 0;
  state.accumulated += state.probability;
  if (state.accumulated < 0.85) return false;
  if (state.accumulated < 8.5 && !random_.Chance(state.probability)) return false;
  state.accumulated = 0;
  return true;
}

bool PieControl::MarkInstead(const State& state, Packet& packet) {
  return parameters_.ecn && state.probability < kMarkBelow && Mark(packet, store_);
}

void PieControl::UpdateUntil(State& state, Instant now) const {
  if (!state.next_update) state.next_update = now + parameters_.update;
  while (*state.next_update <= now) {
    if (state.probability == 0 && state.delay == Duration() && state.old_delay == Duration()) {
      state.burst_allowance = parameters_.max_burst;
      // Further updates would not change any value, so all idle periods are skipped in one step.
      *state.next_update +=
          parameters_.update * ((now - *state.next_update) / parameters_.update + 1);
      return;
    }
    Update(state);
    *state.next_update += parameters_.update;
  }
}

double PieControl::Adjustment(const State& state) const {
  const double seconds_off = (state.delay - parameters_.target).ToSeconds();
  const double seconds_grown = (state.delay - state.old_delay).ToSeconds();
  const double adjustment = (parameters_.alpha * seconds_off + parameters_.beta * seconds_grown) *
                            Scale(state.probability);
  // An adjustment is at most 0.02 (RFC 8033 section 5.5).
  return state.probability >= 0.1 ? std::min(adjustment, 0.02) : adjustment;
}

// Updates the probability, RFC 8033 sections 4.2 and 4.4.
void PieControl::Update(State& state) const {
  state.probability += Adjustment(state);
  if (state.delay == Duration() && state.old_delay == Duration()) state.probability *= 0.98;
  state.probability = std::clamp(state.probability, 0.0, 1.0);
  state.burst_allowance = std::max(Duration(), state.burst_allowance - parameters_.update);
  const Duration half = parameters_.target / 2;
  if (state.probability == 0 && state.delay < half && state.old_delay < half) {
    state.burst_allowance = parameters_.max_burst;
  }
  state.old_delay = state.delay;
}

}  // namespace viaduct::path
