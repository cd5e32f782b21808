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
          "and one for what the second node sends; absent if the link has no SPEC"),
  };
  return kKeys;
}

fields::KeysOf<ScenarioSummary> ScenarioSummary::Keys() {
  using S = ScenarioSummary;
  static constexpr fields::Key<S> kKeys[] = {
      Always<&S::name>("name", "text", "the scenario's name"),
      Always<&S::file>("file", "text", "the scenario file"),
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
      Always<&Convergence::unreachable>(
          "unreachable", "a list of pairs: from, to",
          "pairs of nodes that did not reach each other within the timeout (convergence.timeout)"),
      WhenSet<&Convergence::on_demand>("on_demand", "true",
                                       "true if the protocol looks for a route when a packet needs "
                                       "the route, so the run did not wait for routes"),
      WhenSet<&Convergence::by_programs>("by_programs", "true",
                                         "true if programs in the nodes make the routes (`routing: "
                                         "none`), so the run did not wait for routes"),
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
          "the delay of the change after the planned time of the event; not in mode simulate"),
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
          "written frames that differ from frames on a wire: they are not segmented (longer than "
          "the link's MTU) or have no complete checksum, because Viaduct does not know the kind of "
          "tunnel that they use; absent if there are none"),
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
                                       "frames that were not sent, because the control plane has "
                                       "no socket for this kind of frame"),
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
      Always<&RoutePushes::seconds>("seconds", "s", "how long it took to send the changes"),
  };
  return kKeys;
}

fields::KeysOf<RoutePolls> RoutePolls::Keys() {
  static constexpr fields::Key<RoutePolls> kKeys[] = {
      Always<&RoutePolls::polls>("polls", "reads",
                                 "how often the simulator read the routes of a node"),
      Always<&RoutePolls::seconds>("seconds", "s", "the processor time for reading routes"),
      Always<&RoutePolls::interval>(
          "interval", "s",
          "the mean interval between two reads of one node's routes, for the node with the longest "
          "interval: 0.1 s (`PollInterval`), or longer, to limit all reads to 5% of the time; "
          "above 1 s the run is VOID"),
  };
  return kKeys;
}

fields::KeysOf<RouteReading> RouteReading::Keys() {
  static constexpr fields::Key<RouteReading> kKeys[] = {
      Always<&RouteReading::protocol>("protocol", "text", "the ns-3 TypeId of the protocol"),
      Always<&RouteReading::method>(
          "method", "text",
          "how the simulator gets the protocol's routes: `calls` (the protocol passes its routes "
          "to a function of Viaduct), `trace sources` (the protocol's trace sources report the "
          "routes), `table of TYPE` (from the table of ns-3's protocol TYPE), `printed table` "
          "(from the table that the protocol prints), `RouteOutput(), for all addresses` (this "
          "function of the protocol is called for every address), or `decisions about packets` "
          "(the first packet to a destination is passed to the protocol, and the protocol's "
          "decision is the route as long as packets use it)"),
      WhenSet<&RouteReading::reason>(
          "reason", "text",
          "the reason why no method that is earlier in the list of methods could be used"),
      Always<&RouteReading::nodes>("nodes", "a list of nodes",
                                   "the nodes whose routes were read with this method at the end"),
  };
  return kKeys;
}

fields::KeysOf<RouteSample> RouteSample::Keys() {
  static constexpr fields::Key<RouteSample> kKeys[] = {
      Always<&RouteSample::at>("at", "s", "the time of the sample, counted from convergence"),
      Always<&RouteSample::next>("next", "a neighbour, by node and destination",
                                 "the neighbour to which the node sends packets for the "
                                 "destination's address; empty if the node has no route"),
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
          "an upper bound of how long frames waited at the simulator's interfaces and programs' "
          "devices before the simulator received or sent them; only in modes emulate and offload"),
      WhenSet<&S::loop>(
          "loop", "s, by activity",
          "how long the simulator spent in each activity: `events`, `reading`, `writing`, "
          "`sleeping`, `spinning` (busy-waiting); only in modes emulate and offload"),
      Always<&S::counters>(
          "counters", "a map",
          "the counters of the simulator's devices: NODE/INTERFACE; NODE/programs (the device of a "
          "node's programs); NODE/upcalls (packets without a route that were passed to a protocol "
          "that finds routes on demand, and those of these packets that the protocol sent; `kept`: "
          "packets that the protocol still had at the end, or discarded without a report); "
          "NODE/copies (copies of packets that the kernel forwards). Only drops: NODE/protocols "
          "(packets that the protocols could not parse), NODE/stack (packets of no flow, dropped "
          "by ns-3's stack), NODE/rbridge (dropped by WMRP; `not_sent`: the packet is longer than "
          "the MTU of the next link, or the next link is down)"),
      Always<&S::routes>("routes", "changes, by node",
                         "changes made in the kernels' route tables; only in mode offload"),
      WhenSet<&S::route_samples>(
          "route_samples", "a list",
          "the routes of all nodes at regular times, if routing.sample is set"),
      WhenSet<&S::route_changes>("route_changes", "a list of maps",
                                 "the first 100000 of the changes that `routes` counts, with their "
                                 "times; only in mode offload"),
      WhenSet<&S::route_changes_omitted>("route_changes_omitted", "changes",
                                         "changes that are not listed in `route_changes`"),
      WhenSet<&S::route_pushes>(
          "route_pushes", "a map",
          "statistics of sending route changes to kernels; not in mode simulate"),
      WhenSet<&S::route_polls>("route_polls", "a map",
                               "statistics of reading the routes of protocols that do not report "
                               "changes; only in mode offload"),
      WhenSet<&S::route_readings>("route_readings", "a list of maps",
                                  "the methods with which the routes of the nodes' protocols were "
                                  "read; only in mode offload"),
      WhenSet<&S::refused>(
          "refused", "a list of text",
          "in mode offload: routes that a node's kernel still refused at the end, and changes of "
          "the node's interfaces that the kernel refused, with the reason; in mode simulate: "
          "frames that a protocol expects but that its node's kernel does not pass on"),
      WhenSet<&S::exceeded>(
          "exceeded", "a list of text",
          "kernel limits, for all namespaces of the machine together, that the lab may exceed; "
          "packets beyond a limit are lost; not in mode simulate"),
      WhenSet<&S::unsupported>(
          "unsupported", "a list of text",
          "traffic of the protocol for which no socket could be opened; not in mode simulate"),
      WhenSet<&S::assumptions>("assumptions", "a list of text",
                               "values that were assumed because the scenario does not specify "
                               "them; only in mode simulate"),
      WhenSet<&S::positions>(
          "positions", "m: x, y, z, by node",
          "the positions of the nodes when the traffic began, for nodes that have a position"),
      WhenSet<&S::state>("state", "a list of maps",
                         "the files with the state of kernels over time; only in mode simulate"),
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
      Always<&P::forwards_in>("forwards_in", "kernel, forwarder or simulator",
                              "the process that forwards the node's packets"),
      WhenSet<&P::packets>("packets", "a map",
                           "received packets, by interface and outcome, if the data plane counts "
                           "them (docs/limitations.md)"),
      WhenSet<&P::drops>(
          "drops", "packets, by cause",
          "packets dropped while the traffic ran: `ttl_or_header` (the TTL or hop limit was used "
          "up, as in a routing loop, or the header was invalid), `no_route`, `bad_address` (not an "
          "address that the node forwards), `too_long`, `truncated`, `discarded` (no memory, or "
          "forbidden by a policy); for data plane userspace `ttl`, `malformed`, `unforwardable` "
          "(addresses that no router forwards, or options), `refused` (by a route), `ring_full` "
          "(the data plane was too slow), `not_sent` (refused by the interface, perhaps because "
          "the packet is too long); for the data planes of RBridges `malformed`, `no_adjacency`, "
          "`no_route`, `hop_count`, `option`, `ring_full`, `not_sent`; where routes are found on "
          "demand also `upcall_queue_full` (packets without a route that the simulator was too "
          "slow to read)"),
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
      Always<&H::clock_ahead>("clock_ahead_ms", "ms",
                              "the time by which the machine's monotonic clock was ahead of the "
                              "clock of the machine with MPI rank 0 before the traffic; one-way "
                              "delays between machines are corrected by this time"),
      Always<&H::clock_error>(
          "clock_error_ms", "ms",
          "the possible error of `clock_ahead_ms`: half of the shortest round-trip time, plus the "
          "drift between the clocks during the traffic"),
  };
  return kKeys;
}

fields::KeysOf<RunResult> RunResult::Keys() {
  using R = RunResult;
  static constexpr fields::Key<R> kKeys[] = {
      Always<&R::scenario>("scenario", "a map", "the scenario that was run"),
      Always<&R::environment>("environment", "a map", "the machine, the program and the command"),
      WhenSet<&R::setup_seconds>("setup_seconds", "s",
                                 "the time to build the lab; not in mode simulate"),
      Always<&R::teardown_seconds>("teardown_seconds", "s", "the time to clean up after the run"),
      Always<&R::convergence>("convergence", "a map", "the convergence of the routes"),
      Always<&R::flows>("flows", "a list of maps", "the flows, in the scenario's order"),
      Always<&R::programs>("programs", "a list of maps", "the programs, in the scenario's order"),
      Always<&R::events>("events", "a list of maps", "the changes of links"),
      WhenSet<&R::event_timing>(
          "event_timing", "a map",
          "the lateness of the changes in `events`; absent in mode simulate and if there are none"),
      WhenSet<&R::reconvergence>("reconvergence", "a list of maps",
                                 "the time to reconverge after each event, except captures"),
      WhenSet<&R::engine>(
          "engine", "a map",
          "statistics of the emulation of links with a SPEC, in all modes except simulate by the "
          "path engine (but random loss without delay, between nodes with data plane joined, is "
          "emulated by the program of that data plane)"),
      WhenSet<&R::neighbour_discards>(
          "neighbour_discards", "packets",
          "packets discarded while the traffic ran, because too many packets waited for the "
          "address of a neighbour to be resolved; counted for all namespaces of the machine; not "
          "in mode simulate, and only if the command runs in the initial network namespace"),
      WhenSet<&R::data_planes>(
          "data_planes", "a map",
          "the data plane that forwarded each node's packets; not in mode simulate"),
      Among<&R::simulator>(),
      WhenSet<&R::hosts>(
          "hosts", "a list of maps",
          "the machines of a run on several machines; times such as `setup_seconds` are the "
          "longest, the lateness is the worst, and losses are the sums of all machines"),
      Always<&R::verdict>(
          "verdict", "VALID, VOID or not judged",
          "VOID: the simulator, its ports or the path engine were later than the limit or lost "
          "more than 1 in 100 frames, or a node's routes were read too rarely; not judged: there "
          "is no limit, nothing was measured, or the run failed"),
      WhenSet<&R::judged>("judged", "a list of text", "what the verdict covers"),
      WhenSet<&R::not_judged>("not_judged", "a list of text",
                              "parts of the run through which packets passed, but whose timing the "
                              "verdict does not cover"),
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
    const bool in_forwarder = plane.forwards_in == "forwarder";
    const bool in_simulator = plane.forwards_in == "simulator";
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
