#include "run/hub/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "run/hub/rates.h"
#include "run/report/table.h"
#include "scenario/events.h"
#include "sys/descriptor_limit.h"

namespace viaduct::run {
namespace {

// The time within which flows must report their results; a UDP flow waits for packets that are
// still in the network.
constexpr Duration kEndTimeout = Duration::Seconds(20);

void CheckNode(const scenario::Scenario& scenario, const std::string& name,
               const std::string& where) {
  const auto node = std::ranges::find(scenario.nodes, name, &scenario::NodeSettings::name);
  if (node == scenario.nodes.end() || !node->remote) return;
  throw UsageError(fmt::format(
      "{}: {}: node {} is remote, so programs of the node run on its client; specify another node",
      scenario.file, where, name));
}

// Throws UsageError for a link that cannot be captured. A capture has the frames that arrive at
// each end; for a link with only one end in the lab it also has the frames that this end sends.
void CheckLabCaptures(const scenario::Scenario& scenario) {
  for (const std::string& link : scenario::CapturedLinks(scenario)) {
    const size_t ends = EndpointsOf(scenario, link).size();
    const size_t here = EndpointsOf(scenario, link, RemoteHosts::kAreElsewhere).size();
    if (here == ends || here == 1) continue;
    throw UsageError(fmt::format(
        "{}: captures: link {} has {} remote nodes and {} other nodes; frames to the remote nodes "
        "cannot be captured here; remove the link from captures",
        scenario.file, link, ends - here, here));
  }
}

std::unique_ptr<Captures> CapturesOf(const scenario::Scenario& scenario, broker::Client& client) {
  if (scenario::CapturedLinks(scenario).empty()) return nullptr;
  return std::make_unique<Captures>(scenario, client, HubCaptureFolder(scenario),
                                    RemoteHosts::kAreElsewhere);
}

}  // namespace

bool HasHubTraffic(const scenario::Scenario& scenario) {
  return HasTimedTraffic(scenario) || !scenario.captures.empty() || !scenario.state.empty();
}

bool HasTimedTraffic(const scenario::Scenario& scenario) {
  return !scenario.flows.empty() || !scenario.programs.empty() || !scenario.link_events.empty();
}

void CheckHubTraffic(const scenario::Scenario& scenario) {
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    CheckNode(scenario, scenario.flows[i].from, fmt::format("flows[{}].from", i));
    CheckNode(scenario, scenario.flows[i].to, fmt::format("flows[{}].to", i));
  }
  for (size_t i = 0; i < scenario.programs.size(); ++i) {
    CheckNode(scenario, scenario.programs[i].node, fmt::format("programs[{}].node", i));
  }
  if (scenario.mode != scenario::Mode::kSimulate) {
    CheckFlowPrograms(scenario);
    CheckLabCaptures(scenario);
  } else {
    CheckHubRates(scenario);
  }
  scenario::TryEvents(scenario);
}

std::string HubCaptureFolder(const scenario::Scenario& scenario) {
  return scenario.name + "-captures";
}

result::HubTraffic DescribeTraffic(const scenario::Scenario& scenario,
                                   std::vector<result::FlowResult> flows,
                                   const std::vector<result::ProgramOutcome>& programs) {
  result::HubTraffic traffic;
  traffic.flows = std::move(flows);
  for (size_t i = 0; i < std::min(traffic.flows.size(), scenario.flows.size()); ++i) {
    traffic.flows[i].start = scenario.flows[i].start.ToSeconds();
  }
  for (const result::ProgramOutcome& outcome : programs) {
    traffic.programs.push_back(outcome.program);
  }
  return traffic;
}

std::string EventsToCome(const scenario::Scenario& scenario, size_t count) {
  const std::vector<scenario::LinkEvent>& all = scenario.link_events;
  if (count == 0) return "";
  const scenario::LinkEvent& first = all[all.size() - count];
  return fmt::format(
      "{} of {} events had not occurred when the hub ended; the first is {}: link {} {} at {}",
      count, all.size(), first.where, first.link, scenario::DescribeEvent(first),
      FormatDuration(first.at));
}

std::string HubTrafficTable(const result::HubTraffic& traffic) {
  std::string text = TrafficTable(traffic.flows, traffic.programs);
  if (!traffic.events.empty()) {
    text += fmt::format("{} events; the last at {:.1f} s: link {} {}\n", traffic.events.size(),
                        traffic.events.back().at, traffic.events.back().link,
                        traffic.events.back().change);
  }
  return text + FileLines(traffic.captures, traffic.state) + FlowRemarks(traffic.flows);
}

LabTraffic::LabTraffic(const scenario::Scenario& scenario, sys::EventLoop& loop,
                       broker::Client& client, EngineWatch* engine, Progress& progress)
    : scenario_(scenario),
      loop_(loop),
      captures_(CapturesOf(scenario, client)),
      runner_(scenario, loop, client,
              LinkEvents(scenario, client, engine, captures_.get(), Machines::Alone(),
                         RemoteHosts::kAreElsewhere),
              progress) {}

void LabTraffic::Start() {
  sys::RaiseDescriptorLimit();  // each program of a flow needs three descriptors
  runner_.Start();
}

result::HubTraffic LabTraffic::Finish(std::vector<std::string>* failures) {
  if (!runner_.Done()) {
    runner_.EndEarly();
    loop_.Run([&] { return runner_.FlowsDone(); }, MonotonicClock::Now() + kEndTimeout);
  }
  runner_.Finish();
  result::HubTraffic traffic = DescribeTraffic(scenario_, runner_.Flows(), runner_.Programs());
  traffic.events = runner_.events();
  if (const Histogram& lateness = runner_.event_lateness(); lateness.Count() > 0) {
    traffic.event_timing = result::Summarize(lateness);
  }
  if (captures_) traffic.captures = captures_->Finish();
  std::ranges::copy(runner_.failures(), std::back_inserter(*failures));
  if (const std::string left = EventsToCome(scenario_, runner_.EventsToCome()); !left.empty()) {
    failures->push_back(left);
  }
  for (const result::Capture& capture : traffic.captures) {
    if (capture.error.empty()) continue;
    failures->push_back(fmt::format("capture of link '{}': {}", capture.link, capture.error));
  }
  return traffic;
}

}  // namespace viaduct::run
