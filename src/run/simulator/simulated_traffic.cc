#include "run/simulator/simulated_traffic.h"

#include <fmt/format.h>

namespace viaduct::run {
namespace {

// Returns a progress line: "12.0 s: link n0-n1 down".
std::string LinkEventLine(const result::LinkEvent& event) {
  return fmt::format("{:.1f} s: link {} {}", event.at, event.link, event.change);
}

}  // namespace

void SimulatedTraffic::Take(const scenario::FlowDone& done) {
  flows_.push_back(done.flow);
  Fail(result::FailureOf(done.flow));
}

void SimulatedTraffic::Take(const scenario::ProgramDone& done) {
  programs_.push_back(done.outcome);
  Fail(done.outcome.failure);
}

void SimulatedTraffic::Take(const scenario::ProgramOutput& output) {
  progress_.Line(fmt::format("{}: {}", output.program, output.line));
}

void SimulatedTraffic::Take(const scenario::LinkChanged& changed) {
  events_.push_back(changed.event);
  progress_.Line(LinkEventLine(changed.event));
}

void SimulatedTraffic::Fail(const std::string& failure) {
  if (failure.empty()) return;
  failures_.push_back(failure);
  progress_.Line(failure);
}

}  // namespace viaduct::run
