#include "base/result/run.h"

#include "base/result/losses.h"

namespace viaduct::result {

using fields::Always;
using fields::Among;
using fields::WhenSet;

fields::KeysOf<LinkNodes> LinkNodes::Keys() {
  static constexpr fields::Key<LinkNodes> kKeys[] = {
      Always<&LinkNodes::name>("name", "text", "the name of the link"),
      Always<&LinkNodes::nodes>("nodes", "a list of nodes", "the nodes that the link joins"),
      WhenSet<&LinkNodes::wifi>("wifi", "text", "the IEEE 802.11 standard of a Wi-Fi channel"),
      WhenSet<&LinkNodes::specs>(
          "specs", "a list of SPECs",
          "the SPECs at the start: one for all directions, or one for what the first node sends "
          "and one for what the second node sends; absent for a plain wire"),
  };
  return kKeys;
}

fields::KeysOf<ScenarioSummary> ScenarioSummary::Keys() {
  using S = ScenarioSummary;
  static constexpr fields::Key<S> kKeys[] = {
      Always<&S::name>("name", "text", "the scenario's name"),
      Always<&S::file>("file", "text", "the file from which the scenario was read"),
      Always<&S::hash>("hash", "SHA-256, hex", "the hash of `effective`"),
      Always<&S::seed>("seed", "a whole number", "the seed of all random streams"),
      Always<&S::mode>("mode", "text", "simulate, traditional, emulate or offload"),
      Always<&S::duration>("duration", "s", "the planned duration of the run after convergence"),
      Always<&S::effective>("effective", "YAML", "the scenario with every default filled in"),
      Always<&S::nodes>("nodes", "a list of text", "the nodes' names"),
      Always<&S::links>("links", "a list of maps", "the links"),
  };
  return kKeys;
}

fields::KeysOf<Convergence> Convergence::Keys() {
  static constexpr fields::Key<Convergence> kKeys[] = {
      Always<&Convergence::seconds>(
          "seconds", "s",
          "the time from the start of the protocols to convergence; in mode simulate virtual time"),
      Always<&Convergence::reachable>("reachable", "ordered pairs of nodes",
                                      "pairs of nodes that reach each other"),
      Always<&Convergence::pairs>("pairs", "ordered pairs of nodes", "all pairs of nodes"),
      Always<&Convergence::unreachable>("unreachable", "a list of pairs: from, to",
                                        "pairs of nodes that did not reach each other in time"),
      WhenSet<&Convergence::on_demand>("on_demand", "true",
                                       "true if the protocol looks for a route when a packet needs "
                                       "it, so that the run did not wait for routes"),
      WhenSet<&Convergence::by_programs>(
          "by_programs", "true",
          "true if the routes are those of the nodes' programs (`routing: none`), so that the run "
          "did not wait for routes"),
  };
  return kKeys;
}

fields::KeysOf<LinkEvent> LinkEvent::Keys() {
  static constexpr fields::Key<LinkEvent> kKeys[] = {
      Always<&LinkEvent::link>("link", "text", "the link that changed"),
      Always<&LinkEvent::change>("change", "text",
                                 "what changed: up or down; the changed keys of the link's SPEC; "
                                 "capture start or capture stop"),
      Always<&LinkEvent::at>("at", "s",
                             "the time at which the change was complete, counted from convergence"),
      WhenSet<&LinkEvent::late_ms>(
          "late_ms", "ms",
          "the delay of the change after the planned time of the event; only in the real modes"),
  };
  return kKeys;
}

fields::KeysOf<Capture> Capture::Keys() {
  static constexpr fields::Key<Capture> kKeys[] = {
      Always<&Capture::link>("link", "text", "the link whose packets were captured"),
      Always<&Capture::file>("file", "text", "the pcap file"),
      Always<&Capture::frames>("frames", "frames", "frames written to the file"),
      Always<&Capture::dropped>("dropped", "frames",
                                "frames missing from the file, because they arrived faster than "
                                "they could be written, or because the disk was full"),
      WhenSet<&Capture::unfinished>(
          "unfinished", "frames",
          "written frames that are as the kernel had them and not as on a wire, longer than the "
          "link's MTU or without their checksum, because they are in a tunnel of an unknown kind; "
          "absent if there are none"),
      WhenSet<&Capture::error>("error", "text", "why the file is incomplete"),
  };
  return kKeys;
}

fields::KeysOf<StateFiles> StateFiles::Keys() {
  static constexpr fields::Key<StateFiles> kKeys[] = {
      Always<&StateFiles::node>("node", "a node", "the node whose kernel's state was written"),
      Always<&StateFiles::files>("files", "a list of text", "the CSV files"),
  };
  return kKeys;
}

fields::KeysOf<DeviceCounters> DeviceCounters::Keys() {
  using D = DeviceCounters;
  static constexpr fields::Key<D> kKeys[] = {
      Among<&D::frames>(),
      Always<&D::tx_dropped_unclaimed>("tx_dropped_unclaimed", "frames",
                                       "frames that no socket of the control plane could send"),
      WhenSet<&D::drops>("drops", "packets, by cause", "packets dropped inside the simulator"),
  };
  return kKeys;
}

fields::KeysOf<RoutePushes> RoutePushes::Keys() {
  static constexpr fields::Key<RoutePushes> kKeys[] = {
      Always<&RoutePushes::batches>("batches", "batches",
                                    "batches of route changes that were sent to kernels"),
      Always<&RoutePushes::refused>(
          "refused", "batches",
          "batches of which a kernel did not accept every route; the refused routes were tried "
          "again with the next change, or after a second"),
      Always<&RoutePushes::missing>("missing", "changes",
                                    "changes that kernels still refused at the end"),
      Always<&RoutePushes::seconds>("seconds", "s", "the time that it took to send the changes"),
  };
  return kKeys;
}

fields::KeysOf<RoutePolls> RoutePolls::Keys() {
  static constexpr fields::Key<RoutePolls> kKeys[] = {
      Always<&RoutePolls::polls>("polls", "reads", "reads of a node's routes"),
      Always<&RoutePolls::seconds>("seconds", "s", "the processor time that the reads took"),
      Always<&RoutePolls::interval>("interval", "s",
                                    "the mean time between two reads, for the node with the "
                                    "longest: 0.1 s (`PollInterval`), or as much as is needed for "
                                    "all reads to take 5% of the time; the run is VOID above 1 s"),
  };
  return kKeys;
}

fields::KeysOf<RouteReading> RouteReading::Keys() {
  static constexpr fields::Key<RouteReading> kKeys[] = {
      Always<&RouteReading::protocol>("protocol", "text", "the ns-3 TypeId of the protocol"),
      Always<&RouteReading::method>(
          "method", "text",
          "the method with which the routes are read: `calls`, `trace sources`, `table of TYPE`, "
          "`printed table`, `RouteOutput(), for all addresses`, or `decisions about packets`: the "
          "first packet to a destination is passed to the protocol, and the protocol's decision is "
          "used as the route as long as packets use it"),
      WhenSet<&RouteReading::reason>("reason", "text",
                                     "the reason why no method earlier in this list could be used"),
      Always<&RouteReading::nodes>("nodes", "a list of nodes",
                                   "the nodes whose routes were read with this method at the end"),
  };
  return kKeys;
}

fields::KeysOf<RouteSample> RouteSample::Keys() {
  static constexpr fields::Key<RouteSample> kKeys[] = {
      Always<&RouteSample::at>("at", "s", "the time of the sample, counted from convergence"),
      Always<&RouteSample::next>("next", "text, by node and destination",
                                 "the neighbour to which the node sends packets for the other "
                                 "node's address; empty if the node has no route"),
  };
  return kKeys;
}

fields::KeysOf<SimulatorReport> SimulatorReport::Keys() {
  using S = SimulatorReport;
  static constexpr fields::Key<S> kKeys[] = {
      WhenSet<&S::timing>(
          "timing", "a map",
          "the lateness of the simulator's events; only in modes emulate and offload"),
      WhenSet<&S::port_timing>(
          "port_timing", "a map",
          "an upper bound of the time that frames waited at the simulator's interfaces and "
          "programs' devices before they were read or sent; only in modes emulate and offload"),
      WhenSet<&S::loop>("loop", "s, by activity",
                        "the time that the simulator spent in each activity: `events`, `reading`, "
                        "`writing`, `sleeping`, `spinning`; only in modes emulate and offload"),
      Always<&S::counters>(
          "counters", "a map",
          "the counters of devices that the simulator serves: NODE/INTERFACE, NODE/programs, "
          "NODE/upcalls (packets without a route that were passed to a protocol that finds routes "
          "on demand, and the part of these packets that the protocol sent; `kept`: packets that "
          "the protocol still had at the end, or discarded without a report) and NODE/copies "
          "(copies of packets that the kernel forwards); drops also for NODE/protocols (packets "
          "that the protocols could not read), NODE/stack (drops by ns-3's stack, for packets of "
          "no flow) and NODE/rbridge (drops by WMRP; `not_sent`: the packet is longer than the MTU "
          "of the next link, or this link is down)"),
      Always<&S::routes>("routes", "changes, by node",
                         "changes made in the kernels' route tables; only in mode offload"),
      WhenSet<&S::route_samples>("route_samples", "a list",
                                 "complete routes over time, if routing.sample is set"),
      WhenSet<&S::route_changes>(
          "route_changes", "a list of maps",
          "the changes of `routes` with their times, the first 100000; only in mode offload"),
      WhenSet<&S::route_changes_omitted>("route_changes_omitted", "changes",
                                         "changes that are not listed in `route_changes`"),
      WhenSet<&S::route_pushes>(
          "route_pushes", "a map",
          "the cost of sending route changes to kernels; only in the real modes"),
      WhenSet<&S::route_polls>(
          "route_polls", "a map",
          "the reading of routes from protocols that do not report changes; only in mode offload"),
      WhenSet<&S::route_readings>("route_readings", "a list of maps",
                                  "the methods with which the routes of the nodes' protocols were "
                                  "read; only in mode offload"),
      WhenSet<&S::refused>(
          "refused", "a list of text",
          "in mode offload: routes that a node's kernel still refused at the end, and changes of "
          "the node's interfaces that the kernel refused, with the reason; in mode simulate: "
          "frames that a protocol listens to and a kernel keeps"),
      WhenSet<&S::exceeded>(
          "exceeded", "a list of text",
          "resources that the lab may need beyond limits that all namespaces of the machine share; "
          "packets beyond these limits are lost; only in the real modes"),
      WhenSet<&S::unsupported>(
          "unsupported", "a list of text",
          "traffic of the protocol that no socket could carry; only in the real modes"),
      WhenSet<&S::assumptions>("assumptions", "a list of text",
                               "values that were assumed because the scenario does not specify "
                               "them; only in mode simulate"),
      WhenSet<&S::positions>(
          "positions", "m: x, y, z, by node",
          "the positions of the nodes when the traffic began, for nodes that have a position"),
      WhenSet<&S::state>("state", "a list of maps",
                         "the states of kernels over time; only in mode simulate"),
      Always<&S::captures>("captures", "a list of maps",
                           "the captures of links' packets, which were written to files"),
  };
  return kKeys;
}

fields::KeysOf<NodePlane> NodePlane::Keys() {
  using P = NodePlane;
  static constexpr fields::Key<P> kKeys[] = {
      Always<&P::name>("name", "text", "the name of the data plane, as in scenario files"),
      Always<&P::reason>("reason", "text", "the reason why this data plane was used"),
      WhenSet<&P::packets>("packets", "a map",
                           "received packets by interface and by what became of them, if the data "
                           "plane counts them (docs/limitations.md)"),
      WhenSet<&P::drops>(
          "drops", "packets, by cause",
          "packets dropped while the traffic ran: `ttl_or_header` (the TTL or hop limit was used "
          "up, as in a routing loop, or the header was invalid), `no_route`, `bad_address`, "
          "`too_long`, `truncated`, `discarded`; for plane userspace `ttl`, `malformed`, "
          "`unforwardable`, `refused` (by a route), `ring_full` (the plane was too slow), "
          "`not_sent` (refused by the interface, for which the packet may be too long); for the "
          "planes of RBridges `malformed`, `no_adjacency`, `no_route`, `hop_count`, `option`, "
          "`ring_full`, `not_sent`; where routes are found on demand also `upcall_queue_full` "
          "(packets without a route that the simulator was too slow to read)"),
  };
  return kKeys;
}

fields::KeysOf<HostResult> HostResult::Keys() {
  using H = HostResult;
  static constexpr fields::Key<H> kKeys[] = {
      Always<&H::name>("name", "text", "the name of the machine in the scenario"),
      Always<&H::address>("address", "an address", "the address to which other machines send"),
      Always<&H::nodes>("nodes", "a list of nodes", "the nodes on the machine"),
      Always<&H::kernel>("kernel", "text", "the machine's kernel"),
      Always<&H::cpu>("cpu", "text", "the machine's processor"),
      Always<&H::clock_ahead>(
          "clock_ahead_ms", "ms",
          "the time by which the machine's monotonic clock was ahead of the first rank's before "
          "the traffic; one-way delays between machines are corrected by this time"),
      Always<&H::clock_error>(
          "clock_error_ms", "ms",
          "the possible error of `clock_ahead_ms`: half of the shortest round-trip time, plus the "
          "drift between the clocks until after the traffic"),
  };
  return kKeys;
}

fields::KeysOf<RunResult> RunResult::Keys() {
  using R = RunResult;
  static constexpr fields::Key<R> kKeys[] = {
      Always<&R::scenario>("scenario", "a map", "the scenario that was run"),
      Always<&R::environment>("environment", "a map", "the machine, the program and the command"),
      WhenSet<&R::setup_seconds>("setup_seconds", "s",
                                 "the time to build the lab; only in the real modes"),
      Always<&R::teardown_seconds>("teardown_seconds", "s", "the time to remove everything"),
      Always<&R::convergence>("convergence", "a map", "the convergence of the routes"),
      Always<&R::flows>("flows", "a list of maps", "the flows, in the scenario's order"),
      Always<&R::programs>("programs", "a list of maps", "the programs, in the scenario's order"),
      Always<&R::events>("events", "a list of maps", "the changes of links"),
      WhenSet<&R::event_timing>(
          "event_timing", "a map",
          "the lateness of the events; only in the real modes, if there are events"),
      WhenSet<&R::reconvergence>("reconvergence", "a list of maps",
                                 "the time to reconverge after each event, except captures"),
      WhenSet<&R::engine>("engine", "a map",
                          "what was done to the packets of links with a SPEC, in the real modes by "
                          "the path engine (except random loss between nodes with the data plane "
                          "joined, which is caused by that data plane's program, without delay)"),
      WhenSet<&R::neighbour_discards>(
          "neighbour_discards", "packets",
          "packets discarded while the traffic ran, because too many packets waited for the "
          "address of a neighbour to be resolved; the kernel counts them for the whole machine; "
          "only in the real modes, if run in the initial network namespace"),
      WhenSet<&R::data_planes>(
          "data_planes", "a map",
          "the data plane that forwarded each node's packets; only in the real modes"),
      Among<&R::simulator>(),
      WhenSet<&R::hosts>("hosts", "a list of maps",
                         "the machines of a distributed run; the times and losses above are the "
                         "worst, or the sum, of all machines"),
      Always<&R::verdict>(
          "verdict", "VALID, VOID or not judged",
          "VOID: the simulator, its ports or the path engine were later than the limit, or lost "
          "frames; not judged: there is no limit, nothing was measured, or the run failed"),
      WhenSet<&R::judged>("judged", "a list of text", "what the verdict covers"),
      WhenSet<&R::not_judged>(
          "not_judged", "a list of text",
          "the parts of the run that packets passed and that the verdict does not cover"),
      Always<&R::failures>("failures", "a list of text",
                           "deviations from what the scenario expects"),
      Always<&R::status>("status", "an exit status",
                         "the exit status of the command: 0, 1 (failures) or 4 (VOID)"),
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
  if (has_forwarder) parts.emplace_back("the time that packets spent in the forwarder");
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
