#include "scenario/messages/simulator_messages.h"

#include "base/text/json_text.h"
#include "sys/ipc/tagged.h"

namespace viaduct::scenario {
namespace {

using fields::Always;
using fields::Among;
using fields::Key;
using fields::KeysOf;
using fields::WhenSet;
using nlohmann::json;

constexpr char kAdvice[] =
    "viaduct and viaduct-sim have different versions; install both from one build";
constexpr ipc::Dialogue kEvents{"event", "the simulator", kAdvice};
constexpr ipc::Dialogue kCommands{"command", "the command", kAdvice};

template <class Messages>
Messages Decode(const ipc::Dialogue& dialogue, std::string_view line) {
  const json message = json::parse(line, nullptr, false);
  if (message.is_discarded()) {
    throw Error(
        fmt::format("{} sent a malformed message: {}", dialogue.sender, line.substr(0, 200)));
  }
  return ipc::FromTagged<Messages>(dialogue, message);
}

}  // namespace

KeysOf<LabBuilt> LabBuilt::Keys() {
  static constexpr Key<LabBuilt> kKeys[] = {
      Always<&LabBuilt::name>("name", "text", "the name of the lab")};
  return kKeys;
}

KeysOf<SimulatorProgress> SimulatorProgress::Keys() {
  using P = SimulatorProgress;
  static constexpr Key<P> kKeys[] = {
      Always<&P::time>("time", "s", "the simulated time"),
      WhenSet<&P::reachable>("reachable", "pairs", "pairs of nodes that reach each other"),
      WhenSet<&P::pairs>("pairs", "pairs", "all pairs of nodes")};
  return kKeys;
}

KeysOf<Passages> Passages::Keys() {
  static constexpr Key<Passages> kKeys[] = {
      Among<&Passages::here>(),
      Always<&Passages::late>("late", "true or false", "whether convergence.timeout has passed"),
      Always<&Passages::passages>("passages", "lists of numbers", "by node")};
  return kKeys;
}

KeysOf<Converged> Converged::Keys() {
  static constexpr Key<Converged> kKeys[] = {Among<&Converged::convergence>()};
  return kKeys;
}

KeysOf<TimingNow> TimingNow::Keys() {
  static constexpr Key<TimingNow> kKeys[] = {Among<&TimingNow::timing>()};
  return kKeys;
}

KeysOf<RouteDifference> RouteDifference::Keys() {
  static constexpr Key<RouteDifference> kKeys[] = {
      Always<&RouteDifference::message>("message", "text", "what differs")};
  return kKeys;
}

KeysOf<FlowDone> FlowDone::Keys() {
  static constexpr Key<FlowDone> kKeys[] = {Among<&FlowDone::flow>()};
  return kKeys;
}

KeysOf<LinkChanged> LinkChanged::Keys() {
  static constexpr Key<LinkChanged> kKeys[] = {Among<&LinkChanged::event>()};
  return kKeys;
}

KeysOf<ProgramOutput> ProgramOutput::Keys() {
  static constexpr Key<ProgramOutput> kKeys[] = {
      Always<&ProgramOutput::program>("program", "text", "the name of the program"),
      Always<&ProgramOutput::line>("line", "text", "the line, without its newline")};
  return kKeys;
}

KeysOf<ProgramDone> ProgramDone::Keys() {
  static constexpr Key<ProgramDone> kKeys[] = {Among<&ProgramDone::outcome>()};
  return kKeys;
}

KeysOf<Paused> Paused::Keys() {
  static constexpr Key<Paused> kKeys[] = {
      Always<&Paused::time>("time", "s", "the simulated time"),
      Always<&Paused::nodes>("nodes", "a list", "the nodes on which a shell can be opened")};
  return kKeys;
}

KeysOf<Note> Note::Keys() {
  static constexpr Key<Note> kKeys[] = {Always<&Note::message>("message", "text", "a line")};
  return kKeys;
}

KeysOf<Resumed> Resumed::Keys() {
  static constexpr Key<Resumed> kKeys[] = {
      Always<&Resumed::time>("time", "s", "the simulated time")};
  return kKeys;
}

KeysOf<HubNow> HubNow::Keys() {
  static constexpr Key<HubNow> kKeys[] = {Among<&HubNow::progress>()};
  return kKeys;
}

KeysOf<Claimed> Claimed::Keys() {
  static constexpr Key<Claimed> kKeys[] = {
      Always<&Claimed::node>("node", "text", "the name of the node")};
  return kKeys;
}

KeysOf<HubStatistics> HubStatistics::Keys() {
  static constexpr Key<HubStatistics> kKeys[] = {
      Always<&HubStatistics::results>(
          "results", "a map", "the results of the hub; each message has a part of the clients"),
      Always<&HubStatistics::last>("last", "true or false",
                                   "whether this is the last of these messages")};
  return kKeys;
}

KeysOf<SimulatorDone> SimulatorDone::Keys() {
  using D = SimulatorDone;
  static constexpr Key<D> kKeys[] = {
      Always<&D::ns3>("ns3", "text", "ns-3's version"),
      Always<&D::build>("build", "text", "the kind of ns-3's build"),
      Always<&D::results>("results", "a map", "the simulator's results of the run"),
      WhenSet<&D::links>("links", "a map", "the results of the simulated paths"),
      Always<&D::lost_at>("lost_at", "a list of maps",
                          "for each flow, the lost packets by where they were lost"),
      WhenSet<&D::hub>("hub", "a map", "the results of a hub")};
  return kKeys;
}

KeysOf<SimulatorFailed> SimulatorFailed::Keys() {
  using F = SimulatorFailed;
  static constexpr Key<F> kKeys[] = {Always<&F::message>("message", "text", "what went wrong"),
                                     Always<&F::status>("status", "a number", "the exit status")};
  return kKeys;
}

KeysOf<Stop> Stop::Keys() { return {}; }

KeysOf<Resume> Resume::Keys() { return {}; }

KeysOf<Go> Go::Keys() {
  static constexpr Key<Go> kKeys[] = {
      Always<&Go::pairs>("pairs", "pairs", "the number of pairs of nodes on all machines"),
      Always<&Go::unreachable>("unreachable", "a list of pairs",
                               "pairs of nodes that do not reach each other")};
  return kKeys;
}

KeysOf<Claim> Claim::Keys() {
  static constexpr Key<Claim> kKeys[] = {
      Always<&Claim::node>("node", "text", "the name of the node"),
      Always<&Claim::address>("address", "an address", "the address of the client"),
      Always<&Claim::port>("port", "a port",
                           "the UDP port of the client; 0: the same port number as the hub's")};
  return kKeys;
}

KeysOf<Release> Release::Keys() {
  static constexpr Key<Release> kKeys[] = {
      Always<&Release::node>("node", "text", "the name of the node")};
  return kKeys;
}

KeysOf<AskStatistics> AskStatistics::Keys() { return {}; }

std::string Encode(const SimulatorEvent& event) { return JsonText(ipc::ToTagged(kEvents, event)); }

std::string Encode(const SimulatorCommand& command) {
  return JsonText(ipc::ToTagged(kCommands, command));
}

SimulatorEvent DecodeEvent(std::string_view line) { return Decode<SimulatorEvent>(kEvents, line); }

SimulatorCommand DecodeCommand(std::string_view line) {
  return Decode<SimulatorCommand>(kCommands, line);
}

}  // namespace viaduct::scenario
