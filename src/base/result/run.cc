#include "base/result/run.h"

#include "base/result/losses.h"

namespace viaduct::result {

using fields::Always;
using fields::Among;
using fields::WhenSet;

fields::KeysOf<LinkNodes> LinkNodes::Keys() {
  static constexpr fields::Key<LinkNodes> kKeys[] = {
      Always<&LinkNodes::name>("name", "text", "the link's"),
      Always<&LinkNodes::nodes>("nodes", "a list of nodes", "that it joins"),
      WhenSet<&LinkNodes::wifi>("wifi", "text", "the IEEE 802.11 standard of a Wi-Fi channel"),
      WhenSet<&LinkNodes::specs>("specs", "a list of SPECs",
                                 "from the start: of every direction, or of what the first node "
                                 "sends and the second; absent: a plain wire"),
  };
  return kKeys;
}

fields::KeysOf<ScenarioSummary> ScenarioSummary::Keys() {
  using S = ScenarioSummary;
  static constexpr fields::Key<S> kKeys[] = {
      Always<&S::name>("name", "text", "the scenario's name"),
      Always<&S::file>("file", "text", "the file it was read from"),
      Always<&S::hash>("hash", "SHA-256, hex", "of `effective`"),
      Always<&S::seed>("seed", "a whole number", "of all random streams"),
      Always<&S::mode>("mode", "text", "simulate, traditional, emulate or offload"),
      Always<&S::duration>("duration", "s", "how long it was to run after convergence"),
      Always<&S::effective>("effective", "YAML", "the scenario with every default filled in"),
      Always<&S::nodes>("nodes", "a list of text", "the nodes' names"),
      Always<&S::links>("links", "a list of maps", "the links"),
  };
  return kKeys;
}

fields::KeysOf<Convergence> Convergence::Keys() {
  static constexpr fields::Key<Convergence> kKeys[] = {
      Always<&Convergence::seconds>("seconds", "s",
                                    "from the protocols' start; virtual in mode simulate"),
      Always<&Convergence::reachable>("reachable", "ordered pairs of nodes",
                                      "that reach each other"),
      Always<&Convergence::pairs>("pairs", "ordered pairs of nodes", "that there are"),
      Always<&Convergence::unreachable>("unreachable", "a list of pairs: from, to",
                                        "that did not reach each other in time"),
      WhenSet<&Convergence::on_demand>("on_demand", "true",
                                       "the protocol looks for a route when a packet needs it, so "
                                       "there was none to wait for"),
      WhenSet<&Convergence::by_programs>("by_programs", "true",
                                         "the routes are those of the nodes' programs (`routing: "
                                         "none`), so none was waited for"),
  };
  return kKeys;
}

fields::KeysOf<LinkEvent> LinkEvent::Keys() {
  static constexpr fields::Key<LinkEvent> kKeys[] = {
      Always<&LinkEvent::link>("link", "text", "which link"),
      Always<&LinkEvent::change>(
          "change", "text",
          "up or down; the keys of its SPEC that changed; capture start or capture stop"),
      Always<&LinkEvent::at>("at", "s", "when it had changed, since convergence"),
      WhenSet<&LinkEvent::late_ms>("late_ms", "ms", "after the event's time; real modes"),
  };
  return kKeys;
}

fields::KeysOf<Capture> Capture::Keys() {
  static constexpr fields::Key<Capture> kKeys[] = {
      Always<&Capture::link>("link", "text", "of which link"),
      Always<&Capture::file>("file", "text", "the pcap file"),
      Always<&Capture::frames>("frames", "frames", "written"),
      Always<&Capture::dropped>("dropped", "frames",
                                "missing: they arrived faster than they could be written, or "
                                "the disk was full"),
      WhenSet<&Capture::unfinished>(
          "unfinished", "frames",
          "of these: as the kernel had them and not as on a wire, longer than the link's MTU or "
          "without their checksum, since they are in a tunnel that is not known; absent: none"),
      WhenSet<&Capture::error>("error", "text", "why the file is incomplete"),
  };
  return kKeys;
}

fields::KeysOf<StateFiles> StateFiles::Keys() {
  static constexpr fields::Key<StateFiles> kKeys[] = {
      Always<&StateFiles::node>("node", "a node", "whose kernel's state was written"),
      Always<&StateFiles::files>("files", "a list of text", "the CSV files"),
  };
  return kKeys;
}

fields::KeysOf<DeviceCounters> DeviceCounters::Keys() {
  using D = DeviceCounters;
  static constexpr fields::Key<D> kKeys[] = {
      Among<&D::frames>(),
      Always<&D::tx_dropped_unclaimed>("tx_dropped_unclaimed", "frames",
                                       "that no socket of the control plane could express"),
      WhenSet<&D::drops>("drops", "packets, by cause", "dropped inside the simulator"),
  };
  return kKeys;
}

fields::KeysOf<RoutePushes> RoutePushes::Keys() {
  static constexpr fields::Key<RoutePushes> kKeys[] = {
      Always<&RoutePushes::batches>("batches", "batches", "of changes sent to kernels"),
      Always<&RoutePushes::refused>("refused", "batches",
                                    "of which a kernel did not accept every route; what it refused "
                                    "was tried again with the next change, or after a second"),
      Always<&RoutePushes::missing>("missing", "changes", "that kernels still refused at the end"),
      Always<&RoutePushes::seconds>("seconds", "s", "spent on it"),
  };
  return kKeys;
}

fields::KeysOf<RoutePolls> RoutePolls::Keys() {
  static constexpr fields::Key<RoutePolls> kKeys[] = {
      Always<&RoutePolls::polls>("polls", "reads", "of a node's routes"),
      Always<&RoutePolls::seconds>("seconds", "s", "of processor time that they took"),
      Always<&RoutePolls::interval>(
          "interval", "s",
          "between two reads, on the average of the node with the longest: "
          "0.1 s (`PollInterval`), or as much as is needed for all of them "
          "to take 5% of the time; VOID above 1 s"),
  };
  return kKeys;
}

fields::KeysOf<RouteReading> RouteReading::Keys() {
  static constexpr fields::Key<RouteReading> kKeys[] = {
      Always<&RouteReading::protocol>("protocol", "text", "its ns-3 TypeId"),
      Always<&RouteReading::method>(
          "method", "text",
          "`calls`, `trace sources`, `table of TYPE`, `printed table`, `RouteOutput(), for all "
          "addresses`, or `decisions about packets`: the first packet to a destination goes up, "
          "and "
          "what the protocol decides is its route as long as it is used"),
      WhenSet<&RouteReading::reason>("reason", "text", "why no method before this one served"),
      Always<&RouteReading::nodes>("nodes", "a list of nodes", "where it was so at the end"),
  };
  return kKeys;
}

fields::KeysOf<RouteSample> RouteSample::Keys() {
  static constexpr fields::Key<RouteSample> kKeys[] = {
      Always<&RouteSample::at>("at", "s", "since convergence"),
      Always<&RouteSample::next>("next", "text, by node and destination",
                                 "the neighbour to which the node sends what is for the other "
                                 "node's address; empty: it has no route"),
  };
  return kKeys;
}

fields::KeysOf<SimulatorReport> SimulatorReport::Keys() {
  using S = SimulatorReport;
  static constexpr fields::Key<S> kKeys[] = {
      WhenSet<&S::timing>("timing", "a map",
                          "how late the simulator's events ran; modes emulate and offload"),
      WhenSet<&S::port_timing>(
          "port_timing", "a map",
          "how long frames waited at the simulator's interfaces and programs' devices before they "
          "were read or sent, at most; modes emulate and offload"),
      WhenSet<&S::loop>("loop", "s, by activity",
                        "how the simulator spent its time: `events`, `reading`, `writing`, "
                        "`sleeping`, `spinning`; modes emulate and offload"),
      Always<&S::counters>(
          "counters", "a map",
          "of devices that the simulator serves: NODE/INTERFACE, NODE/programs, NODE/upcalls "
          "(packets without a route that went up to a protocol that finds routes on demand, and of "
          "these those that it sent; `kept`: it still had them at the end, or gave them up in "
          "silence) and NODE/copies (of packets that the kernel forwards); drops also of "
          "NODE/protocols (what they could not read), NODE/stack (ns-3's, packets of no flow) and "
          "NODE/rbridge (WMRP's; `not_sent`: longer than the MTU of the next link, or that is "
          "down)"),
      Always<&S::routes>("routes", "changes, by node",
                         "made in the kernels' route tables; mode offload"),
      WhenSet<&S::route_samples>("route_samples", "a list",
                                 "whole routes over time, if routing.sample asks for them"),
      WhenSet<&S::route_changes>("route_changes", "a list of maps",
                                 "the same with their times, the first 100000; mode offload"),
      WhenSet<&S::route_changes_omitted>("route_changes_omitted", "changes",
                                         "that are not among them"),
      WhenSet<&S::route_pushes>("route_pushes", "a map", "the cost of these changes; real modes"),
      WhenSet<&S::route_polls>("route_polls", "a map",
                               "the reading of routes from protocols that do not report changes; "
                               "mode offload"),
      WhenSet<&S::route_readings>("route_readings", "a list of maps",
                                  "how the routes of the nodes' protocols became known; mode "
                                  "offload"),
      WhenSet<&S::refused>("refused", "a list of text",
                           "routes that a node's kernel still refused at the end, and changes of "
                           "its interfaces that it refused, with the reason; mode offload. Frames "
                           "that a protocol listens to and a kernel keeps; mode simulate"),
      WhenSet<&S::exceeded>(
          "exceeded", "a list of text",
          "what the lab may need beyond limits that all namespaces of the machine "
          "share; packets beyond them are lost; real modes"),
      WhenSet<&S::unsupported>("unsupported", "a list of text",
                               "traffic of the protocol that no socket could carry; real modes"),
      WhenSet<&S::assumptions>(
          "assumptions", "a list of text",
          "values that were assumed because the scenario does not give them; mode simulate"),
      WhenSet<&S::positions>("positions", "m: x, y, z, by node",
                             "where the nodes that have a place were when the traffic began"),
      WhenSet<&S::state>("state", "a list of maps", "kernels' states over time; mode simulate"),
      Always<&S::captures>("captures", "a list of maps", "packets of links, written to files"),
  };
  return kKeys;
}

fields::KeysOf<NodePlane> NodePlane::Keys() {
  using P = NodePlane;
  static constexpr fields::Key<P> kKeys[] = {
      Always<&P::name>("name", "text", "as in scenario files"),
      Always<&P::reason>("reason", "text", "why it is this one"),
      WhenSet<&P::packets>("packets", "a map",
                           "that came in, by interface and by what became of them, where the data "
                           "plane counts (docs/limitations.md)"),
      WhenSet<&P::drops>(
          "drops", "packets, by cause",
          "that it dropped while the traffic ran: `ttl_or_header` (TTL or hop limit "
          "used up, as in a loop of routes, or a broken header), `no_route`, "
          "`bad_address`, `too_long`, `truncated`, `discarded`; of plane userspace "
          "`ttl`, `malformed`, `unforwardable`, `refused` (by a route), `ring_full` "
          "(too slow), `not_sent` (by the interface, for which it may be too long); of RBridges' "
          "planes `malformed`, `no_adjacency`, `no_route`, `hop_count`, `option`, "
          "`ring_full`, `not_sent`; where routes are found on "
          "demand also `upcall_queue_full` (without a route, and the simulator was "
          "too slow to read them)"),
  };
  return kKeys;
}

fields::KeysOf<HostResult> HostResult::Keys() {
  using H = HostResult;
  static constexpr fields::Key<H> kKeys[] = {
      Always<&H::name>("name", "text", "in the scenario"),
      Always<&H::address>("address", "an address", "to which other hosts send"),
      Always<&H::nodes>("nodes", "a list of nodes", "that it has"),
      Always<&H::kernel>("kernel", "text", "its kernel"),
      Always<&H::cpu>("cpu", "text", "its processor"),
      Always<&H::clock_ahead>("clock_ahead_ms", "ms",
                              "its monotonic clock is ahead of the first rank's before the "
                              "traffic; one-way delays between machines are corrected by it"),
      Always<&H::clock_error>("clock_error_ms", "ms",
                              "by which that may be wrong: half of the shortest round trip, and "
                              "how much the clocks have moved until after the traffic"),
  };
  return kKeys;
}

fields::KeysOf<RunResult> RunResult::Keys() {
  using R = RunResult;
  static constexpr fields::Key<R> kKeys[] = {
      Always<&R::scenario>("scenario", "a map", "what was run"),
      Always<&R::environment>("environment", "a map", "where and how"),
      WhenSet<&R::setup_seconds>("setup_seconds", "s", "to build the lab; real modes"),
      Always<&R::teardown_seconds>("teardown_seconds", "s", "to remove everything"),
      Always<&R::convergence>("convergence", "a map", "of the routes"),
      Always<&R::flows>("flows", "a list of maps", "in the scenario's order"),
      Always<&R::programs>("programs", "a list of maps", "in the scenario's order"),
      Always<&R::events>("events", "a list of maps", "changes of links; real modes"),
      WhenSet<&R::event_timing>("event_timing", "a map",
                                "how late the events were applied; real modes, if there are some"),
      WhenSet<&R::reconvergence>("reconvergence", "a list of maps",
                                 "how long it took after each of these, but captures"),
      WhenSet<&R::engine>("engine", "a map",
                          "what was done to the packets of links with a SPEC, in the real modes by "
                          "the path engine (random loss between nodes whose data plane is joined: "
                          "by their program, which delays nothing)"),
      WhenSet<&R::neighbour_discards>(
          "neighbour_discards", "packets",
          "discarded because too many waited for the address of a neighbour to "
          "be resolved, while the traffic ran; the kernel counts them of the "
          "whole machine; real modes, if run in the initial network namespace"),
      WhenSet<&R::data_planes>("data_planes", "a map",
                               "where each node's packets were forwarded; real modes"),
      Among<&R::simulator>(),
      WhenSet<&R::hosts>("hosts", "a list of maps",
                         "the hosts of a lab on several; figures of time and loss above are the "
                         "worst, or the sum, of all"),
      Always<&R::verdict>(
          "verdict", "VALID, VOID or not judged",
          "VOID: the simulator, its ports or the path engine were later than the "
          "limit or lost frames; not judged: no limit, nothing was measured, or the "
          "run failed"),
      WhenSet<&R::judged>("judged", "a list of text", "what the verdict covers"),
      WhenSet<&R::not_judged>("not_judged", "a list of text",
                              "what the run's packets passed that the verdict does not cover"),
      Always<&R::failures>("failures", "a list of text",
                           "deviations from what the scenario expects"),
      Always<&R::status>("status", "an exit status", "of the command: 0, 1 (failures) or 4 (VOID)"),
  };
  return kKeys;
}

namespace {

// Returns the parts of the run's packet processing whose timing was not measured.
std::vector<std::string> NotJudged(const RunResult& run) {
  const bool traditional = run.scenario.mode == "traditional";
  bool has_simulator = run.data_planes.empty(), has_forwarder = false,
       has_kernel = run.data_planes.empty() && run.scenario.mode == "offload";
  for (const auto& [node, plane] : run.data_planes) {
    // The prefix includes "userspace-rbridge"; the plane "program" is a program of the scenario.
    const bool in_forwarder = plane.name.starts_with("userspace") || plane.name == "program";
    const bool in_simulator = plane.name == "simulator";
    has_forwarder |= in_forwarder;
    has_simulator |= in_simulator;
    has_kernel |= !in_forwarder && !in_simulator;
  }
  std::vector<std::string> parts;
  if (traditional && has_simulator) parts.emplace_back("ns-3's own emulation");
  if (has_kernel) parts.emplace_back("the kernel's forwarding");
  if (has_forwarder) parts.emplace_back("how long packets took in the forwarder");
  if (!run.hosts.empty()) parts.emplace_back("the network between the machines");
  return parts;
}

void JudgeTiming(RunResult& run, std::optional<Duration> limit) {
  run.verdict = Verdict::kNotJudged;
  run.judged.clear();
  const auto cover = [&](const char* what, Timing& timing) {
    const Verdict verdict = result::Judge(timing, limit);
    if (verdict != Verdict::kNotJudged) run.judged.emplace_back(what);
    run.verdict = Worse(run.verdict, verdict);
    return verdict;
  };
  SimulatorReport& simulator = run.simulator;
  if (const uint64_t lost = OwnLosses(SimulatorLosses(run)); lost > 0 && simulator.timing) {
    if (!simulator.port_timing) simulator.port_timing.emplace();
    simulator.port_timing->lost = lost;
  }
  if (simulator.timing) cover("the simulator's events", *simulator.timing);
  if (simulator.port_timing) cover("frames at the simulator's ports", *simulator.port_timing);
  if (run.event_timing) cover("changes of links", *run.event_timing);
  if (run.engine) run.engine->verdict = cover("packets of links with a SPEC", run.engine->timing);
  if (simulator.route_polls && simulator.route_polls->IsVoid()) {
    run.verdict = Verdict::kVoid;
    run.judged.emplace_back("the reading of routes");
  }
  run.not_judged = NotJudged(run);
}

}  // namespace

void RunResult::Judge(std::optional<Duration> lateness_limit) {
  JudgeTiming(*this, lateness_limit);
  Conclude();
}

void RunResult::Conclude() {
  verdict = UnlessFailed(verdict, failures);
  if (verdict == Verdict::kNotJudged) judged.clear();
  if (engine) engine->verdict = UnlessFailed(engine->verdict, failures);
  const ExitStatus exit_status = !failures.empty()           ? ExitStatus::kFailure
                                 : verdict == Verdict::kVoid ? ExitStatus::kVoid
                                                             : ExitStatus::kSuccess;
  status = static_cast<int>(exit_status);
}

}  // namespace viaduct::result
