#include "base/result/reconvergence.h"

#include <algorithm>
#include <limits>

#include "base/result/run.h"

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;

fields::KeysOf<RouteChange> RouteChange::Keys() {
  using C = RouteChange;
  static constexpr fields::Key<C> kKeys[] = {
      Always<&C::at>(
          "at", "s",
          "the time of the change, counted from convergence; negative if before convergence"),
      Always<&C::node>("node", "a node", "the node whose route table changed"),
      WhenSet<&C::added>("added", "a list of text",
                         "routes that were added, as `ip route` prints them"),
      WhenSet<&C::replaced>("replaced", "a list of text", "routes whose next hops changed"),
      WhenSet<&C::removed>("removed", "a list of text", "routes that were removed"),
  };
  return kKeys;
}

fields::KeysOf<FlowRecovery> FlowRecovery::Keys() {
  using R = FlowRecovery;
  static constexpr fields::Key<R> kKeys[] = {
      Always<&R::flow>("flow", "text", "the name of the flow"),
      Always<&R::lost>("lost", "packets",
                       "lost packets that were sent after the event and before the time `steady`"),
      Always<&R::last_lost>("last_lost", "s",
                            "the time from the event until the last lost packet was sent "
                            "(interpolated between the packets that arrived before and after)"),
      WhenSet<&R::steady>("steady", "s",
                          "the time from the event until the first packet after the loss was sent, "
                          "if this packet and at least the next nine arrived; absent if there was "
                          "no such packet before the next event or the flow's end"),
  };
  return kKeys;
}

fields::KeysOf<Reconvergence> Reconvergence::Keys() {
  using R = Reconvergence;
  static constexpr fields::Key<R> kKeys[] = {
      Always<&R::link>("link", "text", "the link that changed"),
      Always<&R::change>("change", "text", "the change, as in `events`"),
      Always<&R::at>("at", "s", "the time of the change, as in `events`"),
      WhenSet<&R::routes>("routes", "s",
                          "the time from the event until the last change of a route table before "
                          "the next event; only in mode offload; absent if no table changed"),
      Always<&R::flows>("flows", "a list of maps",
                        "the flows that lost packets, for any reason; the time to reconverge is "
                        "between `last_lost` and `steady`"),
  };
  return kKeys;
}

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Returns the time at which the n-th packet of a gap was sent, if all packets were sent at equal
// intervals. `to`: the end of the gap.
double SentAt(const Gap& gap, std::optional<double> to, uint64_t n) {
  if (!to) return gap.from;
  return gap.from +
         (*to - gap.from) * static_cast<double>(n + 1) / static_cast<double>(gap.lost + 1);
}

// Returns the recovery of a flow from an event at `from`; nothing if the flow lost no packet.
// `until`: the time of the next event; `end`: the flow's end. All times are in s since the flow's
// start.
std::optional<FlowRecovery> RecoveryOf(const FlowResult& flow, double from, double until,
                                       std::optional<double> end) {
  FlowRecovery recovery{flow.name, 0, 0, std::nullopt};
  const Gap* last = nullptr;
  for (const Gap& gap : flow.gaps) {
    const std::optional<double> to = gap.to ? gap.to : end;
    if (to && SentAt(gap, to, gap.lost - 1) <= from) continue;
    if (last != nullptr && gap.first - (last->first + last->lost) >= kSteadyPackets) break;
    bool counts = false;
    for (uint64_t n = 0; n < gap.lost; ++n) {
      const double sent = SentAt(gap, to, n);
      if (sent >= until) break;
      if (to && sent <= from) continue;
      counts = true;
      ++recovery.lost;
      recovery.last_lost = std::max(sent - from, 0.0);
    }
    if (!counts) break;
    last = &gap;
  }
  if (last == nullptr) return std::nullopt;
  if (last->to && *last->to < until) recovery.steady = *last->to - from;
  return recovery;
}

bool ChangesPackets(const LinkEvent& event) { return !event.change.starts_with("capture"); }

}  // namespace

std::vector<Reconvergence> FindReconvergence(const RunResult& run) {
  std::vector<LinkEvent> events;
  std::ranges::copy_if(run.events, std::back_inserter(events), ChangesPackets);
  std::ranges::stable_sort(events, {}, &LinkEvent::at);
  std::vector<Reconvergence> all;
  for (const LinkEvent& event : events) {
    const auto next = std::ranges::upper_bound(events, event.at, {}, &LinkEvent::at);
    const double until = next == events.end() ? kNever : next->at;
    Reconvergence& one = all.emplace_back();
    one.link = event.link;
    one.change = event.change;
    one.at = event.at;
    for (const RouteChange& change : run.simulator.route_changes) {
      if (change.at < event.at || change.at >= until) continue;
      one.routes = std::max(one.routes.value_or(0), change.at - event.at);
    }
    for (const FlowResult& flow : run.flows) {
      if (flow.gaps_omitted) continue;
      const double start = flow.start.value_or(0);
      const std::optional<double> end = flow.end ? std::optional(*flow.end - start) : std::nullopt;
      if (const auto recovery = RecoveryOf(flow, event.at - start, until - start, end)) {
        one.flows.push_back(*recovery);
      }
    }
  }
  return all;
}

}  // namespace viaduct::result
