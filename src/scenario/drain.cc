#include "scenario/drain.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "path/queue/disciplines.h"
#include "path/queue/fifo_queue.h"

namespace viaduct::scenario {
namespace {

constexpr Duration kMinQuiet = Duration::Seconds(1);
constexpr Duration kMinLimit = Duration::Seconds(5);
constexpr Duration kMost = Duration::Seconds(60);
constexpr Duration kUnknown = Duration::Seconds(5);
// Hardly any packet's delay differs from the mean delay by more than this multiple of the jitter.
constexpr int64_t kJitters = 8;
constexpr int64_t kEthernetBytes = 18;  // bytes of header and VLAN tag

path::QueueSize LimitOf(const path::QueueSpec& queue) {
  if (queue.limit) return *queue.limit;
  for (const path::Discipline& discipline : path::Disciplines()) {
    if (queue.aqm && discipline.name == queue.aqm->name) return discipline.default_limit;
  }
  return path::FifoQueue::kDefaultLimit;
}

// Returns the time in which `bytes` are sent at this rate, at most kMost.
Duration TimeOnLink(double bytes, int64_t rate) {
  const double nanoseconds = bytes * 8e9 / static_cast<double>(rate);
  return nanoseconds < static_cast<double>(kMost.nanoseconds())
             ? Duration::Nanoseconds(static_cast<int64_t>(nanoseconds))
             : kMost;
}

Duration QueueingOf(const path::Spec& spec, int mtu) {
  if (spec.link.trace || spec.link.shared) return kUnknown;
  if (!spec.link.rate) return Duration();
  const auto overhead = spec.link.overhead.value_or(path::FrameOverhead());
  const auto packet = static_cast<double>(overhead.Of(static_cast<uint32_t>(mtu + kEthernetBytes)));
  const path::QueueSize limit = LimitOf(spec.queue);
  const auto amount = static_cast<double>(limit.amount);
  const Duration own = TimeOnLink(packet, *spec.link.rate);
  switch (limit.unit) {
    case path::QueueSize::Unit::kPackets:
      return own + TimeOnLink(amount * packet, *spec.link.rate);
    case path::QueueSize::Unit::kBytes:
      return own + TimeOnLink(amount, *spec.link.rate);
    case path::QueueSize::Unit::kTime:
      break;
  }
  return own + std::min(Duration::Nanoseconds(limit.amount), kMost);
}

Duration DelayOf(const path::DelaySpec& delay) {
  if (delay.trace) return kUnknown;
  const Duration jitter = delay.jitter ? std::min(delay.jitter->amount, kMost) : Duration();
  return std::min(delay.base.value_or(Duration()), kMost) + jitter * kJitters;
}

Duration HoldOf(const path::Spec& spec, int mtu) {
  return std::min(DelayOf(spec.delay) + QueueingOf(spec, mtu), kMost);
}

// Returns the maximum time for which the link holds a packet, over both directions and all its
// SPECs.
Duration HoldOf(const Scenario& scenario, const LinkSettings& link) {
  if (IsWifi(link)) return kUnknown;  // queues, retries and rates are those of the Wi-Fi MAC
  Duration most = std::max(HoldOf(link.up.value_or(link.spec), link.mtu),
                           HoldOf(link.down.value_or(link.spec), link.mtu));
  for (const path::TrafficClass& each : ClassesOf(link)) {
    most = std::max({most, HoldOf(each.up, link.mtu), HoldOf(each.down, link.mtu)});
  }
  for (const LinkEvent& event : scenario.link_events) {
    if (event.kind != LinkEvent::Kind::kSpec || event.link != link.name) continue;
    most = std::max({most, HoldOf(event.up_spec, link.mtu), HoldOf(event.down_spec, link.mtu)});
  }
  return most;
}

// Returns the maximum time for which a path with the fewest links holds a packet; kMost if there is
// no path.
Duration HoldOfShortest(const Scenario& scenario, const Flow& flow) {
  std::map<std::string, Duration> reached = {{flow.from, Duration()}};
  std::deque<std::string> next = {flow.from};
  while (!next.empty() && !reached.contains(flow.to)) {
    const std::string node = next.front();
    next.pop_front();
    for (const LinkSettings& link : scenario.links) {
      if (std::find(link.nodes.begin(), link.nodes.end(), node) == link.nodes.end()) continue;
      const Duration hold = std::min(reached[node] + HoldOf(scenario, link), kMost);
      for (const std::string& other : link.nodes) {
        if (reached.emplace(other, hold).second) next.push_back(other);
      }
    }
  }
  const auto found = reached.find(flow.to);
  return found == reached.end() ? kMost : found->second;
}

// Returns the maximum time for which any path that visits no node twice can hold a packet.
Duration HoldOfLongest(const Scenario& scenario) {
  std::vector<Duration> holds;
  for (const LinkSettings& link : scenario.links) holds.push_back(HoldOf(scenario, link));
  std::sort(holds.begin(), holds.end(), std::greater<>());
  holds.resize(std::min(holds.size(), scenario.nodes.size() - 1));
  Duration sum;
  for (const Duration hold : holds) sum = std::min(sum + hold, kMost);
  return sum;
}

}  // namespace

Drain DrainOf(const Scenario& scenario, const Flow& flow) {
  // The number of directions: a ping is under way until its answer has arrived.
  const int64_t ways = flow.kind == Flow::Kind::kPing ? 2 : 1;
  const Duration limit = std::min(kMinLimit + HoldOfLongest(scenario) * ways, kMost);
  return {std::min(kMinQuiet + HoldOfShortest(scenario, flow) * ways, limit), limit};
}

}  // namespace viaduct::scenario
