#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "base/file.h"
#include "base/units.h"
#include "scenario/addresses.h"
#include "scenario/aliases.h"
#include "scenario/binding.h"
#include "scenario/end_hosts.h"
#include "scenario/events.h"
#include "scenario/links.h"
#include "scenario/loopbacks.h"
#include "scenario/machines.h"
#include "scenario/moments.h"
#include "scenario/multicast.h"
#include "scenario/nodes.h"
#include "scenario/places.h"
#include "scenario/protocols.h"
#include "scenario/remotes.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {
namespace {

template <class Settings>
std::vector<std::string> NamesOf(const std::vector<Settings>& all) {
  std::vector<std::string> names(all.size());
  std::ranges::transform(all, names.begin(), &Settings::name);
  return names;
}

class Loader {
 public:
  Loader(const Value& root, Scenario& scenario)
      : root_(root), file_(root, "", ""), scenario_(scenario) {}

  void Load(const std::string& default_name, Mode default_mode) {
    ReadTop(default_name, default_mode);
    scenario_.machines = ReadMachines(file_);
    scenario_.nodes = ReadNodes(file_, scenario_.routing.protocol);
    nodes_ = NameTable("node", NamesOf(scenario_.nodes));
    CheckFramePrograms(file_, &scenario_);
    bridged_ = FrameNodesOf(scenario_);
    scenario_.links = ReadLinks(file_, scenario_.nodes, bridged_);
    links_ = NameTable("link", NamesOf(scenario_.links));
    CheckNodes();
    CheckRouters();
    CheckProgramsRoutes();
    ReadPlaces(file_, &scenario_);
    ReadLoopbacks(file_, &scenario_);
    CheckRemoteRouters(file_, scenario_);
    scenario_.multicast = ReadMulticast(file_, nodes_, links_, scenario_);
    ReadFlows();
    ReadPrograms();
    ReadCaptures();
    scenario_.link_events = ReadEvents(file_, links_, scenario_);
    ReadState();
    CheckMode();
    CheckMachines(file_, scenario_);
  }

 private:
  void ReadTop(const std::string& default_name, Mode default_mode) {
    scenario_.name = file_.Has("name") ? file_.Text("name") : default_name;
    ReadMembers(file_, scenario_);
    if (!file_.Has("mode")) scenario_.mode = default_mode;
    if (scenario_.duration <= Duration()) file_.Fail("duration", "must be greater than 0");
    const Section routing = file_.Inner("routing");
    CheckRoutingIsGiven(root_);
    std::string& protocol = scenario_.routing.protocol;
    if (protocol.empty()) routing.Fail("protocol", "empty; set a protocol, such as AODV");
    if (const std::string_view why = ProtocolUnavailable(protocol); !why.empty()) {
      routing.Fail("protocol", std::string(why));
    }
    protocol = CanonicalProtocol(protocol);
    if ((protocol == "static" || protocol == kNoProtocol) && routing.Has("attributes")) {
      routing.Fail("attributes",
                   protocol == kNoProtocol
                       ? "not supported, because protocol is none; remove the key attributes"
                       : "not supported, because protocol is static; remove the key attributes");
    }
    CheckSample(routing);
  }

  void CheckSample(const Section& routing) const {
    const auto& sample = scenario_.routing.sample;
    if (!sample) return;
    const Duration shortest = Duration::Milliseconds(100);
    if (*sample < shortest) routing.Fail("sample", "too short; the shortest interval is 100ms");
    if (scenario_.routing.protocol == kNoProtocol) {
      routing.Fail("sample",
                   "protocol is none, so no protocol has routes to sample; remove the key sample");
    }
    const RoutingProtocol* known = FindRoutingProtocol(scenario_.routing.protocol);
    if (known != nullptr && (known->bridges || known->reactive)) {
      routing.Fail(
          "sample",
          fmt::format("{} has no routes that can be sampled; remove the key sample", known->name));
    }
    if (file_.Has("machines"))
      routing.Fail("sample",
                   "not supported with machines, because no machine knows all routes; remove the "
                   "key sample");
  }

  void CheckNodes() {
    const HostChecks hosts(scenario_, file_, nodes_);
    std::set<std::string> interfaces = LinkedInterfaces();
    for (NodeSettings& node : scenario_.nodes) {
      if (!hosts.IsLinked(node.name) && node.physical_interfaces.empty()) {
        Fail(PlaceOfNode(file_, node.name),
             fmt::format("nodes: '{}' is on no link; add the node to a link", node.name));
      }
      for (const std::string& interface : node.physical_interfaces) {
        if (interface.empty() || interface.size() > 15 || !interfaces.insert(interface).second) {
          Fail(PlaceOfNode(file_, node.name),
               fmt::format(
                   "nodes.{}.interfaces: '{}' is given twice or is not a valid interface name",
                   node.name, interface));
        }
      }
      hosts.Check(node);
    }
  }

  std::set<std::string> LinkedInterfaces() const {
    std::set<std::string> interfaces;
    for (const LinkSettings& link : scenario_.links) {
      if (link.interface.empty() || interfaces.insert(link.interface).second) continue;
      file_.Fail("links", fmt::format("interface '{}' is given twice", link.interface));
    }
    return interfaces;
  }

  // Checks that each router has an address of the version of IP that its protocol routes: otherwise
  // ns-3 would end the simulation.
  void CheckRouters() const {
    const RoutingProtocol* protocol = FindRoutingProtocol(scenario_.routing.protocol);
    if (!protocol || protocol->bridges) return;
    std::set<std::string> routed;
    for (const LinkSettings& link : scenario_.links) {
      const auto is_routed = [&](const wire::IpPrefix& one) {
        return one.address.family == protocol->family;
      };
      if (std::ranges::any_of(link.addresses, is_routed)) {
        routed.insert(link.nodes.begin(), link.nodes.end());
      }
    }
    const bool ipv4 = protocol->family == wire::Family::kIpv4;
    for (const NodeSettings& node : scenario_.nodes) {
      if (node.host) CheckHost(node, *protocol);
      if (!RunsProtocol(scenario_, node) || routed.contains(node.name)) continue;
      file_.Inner("routing").Fail(
          "protocol", fmt::format("{} routes {}, but node '{}' has no address of this family; "
                                  "assign one (addressing.{}), or use {} or static",
                                  protocol->type, ipv4 ? "IPv4" : "IPv6", node.name,
                                  ipv4 ? "ipv4" : "ipv6", ipv4 ? "ns3::RipNg" : "ns3::Rip"));
    }
  }

  // Checks the routers whose routes are made by programs.
  void CheckProgramsRoutes() {
    for (NodeSettings& node : scenario_.nodes) {
      if (node.host || RunsProtocol(scenario_, node)) continue;
      const auto fail = [&](const char* why) {
        Fail(PlaceOfNode(file_, node.name), fmt::format("nodes.{}.routing: {}", node.name, why));
      };
      if (!node.routed_by_programs && !node.program.empty()) continue;
      if (bridged_) {
        fail(fmt::format(
                 "none is supported only for routers, but this node is {}; remove the key routing",
                 bridged_->one)
                 .c_str());
      }
      if (node.routed_by_programs && file_.Has("machines")) {
        fail(
            "not supported with machines, because no machine knows all routes; set the top-level "
            "routing: none, which applies to all nodes");
      }
      // Programs change the kernel's routes, so the kernel must forward; by default the simulator
      // would forward in mode emulate.
      if (node.data_plane == nullptr && scenario_.mode == Mode::kEmulate) {
        node.data_plane = &fib::kKernelPlane;
      }
    }
  }

  void CheckHost(const NodeSettings& node, const RoutingProtocol& protocol) const {
    if (protocol.announces_networks) return;
    Fail(PlaceOfNode(file_, node.name),
         fmt::format("nodes.{}.host: {} announces nodes, not networks, so no other router would "
                     "reach the host; remove host: true, or use another routing.protocol",
                     node.name, protocol.name));
  }

  std::string Node(const Section& section, const char* key) const {
    section.Need({key});
    return section.Located(key, [&] { return nodes_.Check(section.Text(key)); });
  }

  // Returns `name`, with " #2", " #3"... appended if the name is taken.
  static std::string Unique(const std::string& name, std::set<std::string>& taken) {
    std::string unique = name;
    for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{} #{}", name, i);
    return unique;
  }

  // Reads the names that the file gives before names are generated, so that generated names differ
  // from them.
  static std::set<std::string> ExplicitNames(const Value& list, const char* what) {
    std::set<std::string> names;
    for (const Value& item : list.items) {
      const Value* name = item.Find("name");
      if (!name || !name->IsScalar()) continue;
      if (name->text.empty()) Fail(*name, fmt::format("{}: a name is empty", what));
      if (name->text.find_first_of("\n\r\t") != std::string::npos) {
        Fail(*name, fmt::format("{}: a name contains a line break or a tab", what));
      }
      if (!names.insert(name->text).second) {
        Fail(*name, fmt::format("{}: the name '{}' is used twice", what, name->text));
      }
    }
    return names;
  }

  void ReadFlows() {
    const Value* flows = file_.Find("flows");
    if (!flows) return;
    std::set<std::string> names = ExplicitNames(*flows, "flows");
    file_.Each("flows",
               [&](const Section& flow) { scenario_.flows.push_back(ReadFlow(flow, names)); });
  }

  Flow ReadFlow(const Section& section, std::set<std::string>& names) {
    Flow flow;
    ReadMembers(section, flow);
    flow.from = Node(section, "from");
    flow.to = Node(section, "to");
    if (flow.from == flow.to)
      section.Fail("to", "the receiver is the same node as the sender; choose another receiver");
    if (bridged_) CheckHosts(section, flow);
    if (flow.kind == Flow::Kind::kUdp && !flow.rate && IsOnWifi(scenario_, flow.from)) {
      section.Fail("type", fmt::format("udp: '{}' is on Wi-Fi, which has no fixed rate; set the "
                                       "flow's rate, for example rate: 2Mbit",
                                       flow.from));
    }
    if (section.Has("address")) {
      section.Located("address", [&] { return AddressOf(scenario_, flow); });
    }
    // The minimum size of the payload: a UDP packet carries 28 bytes of sequence number and time
    // (base/wire/probe_header.h), a ping 16 bytes of time. The maximum, 65507, is the limit of
    // IPv4.
    flow.size =
        static_cast<int>(section.Integer("size", flow.kind == Flow::Kind::kPing ? 16 : 28, 65507));
    if (flow.rate && flow.kind == Flow::Kind::kPing)
      section.Fail("rate", "not supported for type ping; use the key interval");
    if (section.Has("interval") && flow.kind != Flow::Kind::kPing) {
      section.Fail("interval", "supported only for type ping; use the key rate");
    }
    if (section.Has("size") && flow.kind == Flow::Kind::kTcp) {
      section.Fail(
          "size",
          "not supported for type tcp, whose segments depend on the MTU; remove the key size");
    }
    CheckInterval(section, flow.interval);
    flow.start = ReadMoment(section, "start", scenario_.duration);
    flow.duration = section.Has("duration")
                        ? ReadSpan(section, "duration", flow.start, scenario_.duration)
                        : scenario_.duration - flow.start;
    if (flow.kind == Flow::Kind::kTcp) WholeSeconds(section, flow.duration);
    flow.name =
        section.Has("name")
            ? section.Text("name")
            : Unique(fmt::format("{} {}->{}", KindName(flow.kind), flow.from, flow.to), names);
    ReadGroup(section, links_, scenario_, flow);
    return flow;
  }

  void CheckHosts(const Section& section, const Flow& flow) const {
    for (const NodeSettings& node : scenario_.nodes) {
      const bool from = node.name == flow.from;
      if (node.host || (!from && node.name != flow.to)) continue;
      section.Fail(
          from ? "from" : "to",
          fmt::format("'{}' is {}, which has no address; choose a host", node.name, bridged_->one));
    }
  }

  static void CheckInterval(const Section& section, Duration interval) {
    if (interval < Duration::Microseconds(100))
      section.Fail("interval", "too short; the shortest interval is 100us");
  }

  // Makes the duration a number of whole seconds, at most a day, as iperf3 requires: a given
  // duration must be whole; a duration that is derived from the run is rounded down.
  static void WholeSeconds(const Section& section, Duration& duration) {
    const Duration whole = Duration::Seconds(duration / Duration::Seconds(1));
    const bool exact = section.Has("duration") && !section.Text("duration").ends_with('%');
    if (whole != duration && exact) {
      section.Fail("duration", "a TCP flow must last a whole number of seconds");
    }
    if (whole == Duration()) {
      section.Fail("type",
                   "a TCP flow lasts at least 1 s, but less than 1 s is left from its start to the "
                   "end of the run");
    }
    if (whole > Duration::Seconds(86400)) {
      section.Fail(section.Has("duration") ? "duration" : "type",
                   "a TCP flow can last at most one day");
    }
    duration = whole;
  }

  // Replaces "{n4}" by the address for traffic to node n4.
  std::string WithAddresses(std::string text) const {
    for (const NodeSettings& node : scenario_.nodes) {
      const std::string mark = "{" + node.name + "}";
      size_t at = text.find(mark);
      if (at == std::string::npos || !HasAddress(scenario_, node.name)) continue;
      const std::string address = AddressOf(scenario_, node.name).ToString();
      for (; at != std::string::npos; at = text.find(mark, at + address.size())) {
        text.replace(at, mark.size(), address);
      }
    }
    return text;
  }

  void ReadPrograms() {
    const Value* programs = file_.Find("programs");
    if (!programs) return;
    std::set<std::string> names = ExplicitNames(*programs, "programs");
    file_.Each("programs", [&](const Section& program) {
      scenario_.programs.push_back(ReadProgram(program, names));
    });
    CheckOutputFiles(*programs);
  }

  void CheckOutputFiles(const Value& programs) const {
    std::map<std::string, std::string> files;
    for (size_t i = 0; i < scenario_.programs.size(); ++i) {
      const std::string& name = scenario_.programs[i].name;
      const auto [other, added] = files.emplace(OutputFileOf(name), name);
      if (added) continue;
      Fail(programs.items[i], fmt::format("programs: the output of '{}' and of '{}' would go to "
                                          "the same file, {}; rename one of these programs",
                                          other->second, name, other->first));
    }
  }

  Program ReadProgram(const Section& section, std::set<std::string>& names) {
    Program program;
    ReadMembers(section, program);
    program.node = Node(section, "node");
    for (const std::string& word : section.Texts("command")) {
      program.command.push_back(WithAddresses(word));
    }
    if (program.command.empty() || program.command[0].empty()) {
      section.Fail("command", "missing; for example: command: ping -c 3 {n1}");
    }
    program.start = ReadMoment(section, "start", scenario_.duration);
    if (section.Has("timeout")) {
      program.timeout = ReadSpan(section, "timeout", program.start, scenario_.duration);
    }
    if (program.background && section.Has("expect")) {
      section.Fail("expect",
                   "not supported with background, which ignores the exit status; remove one of "
                   "the two keys");
    }
    for (const auto& [name, value] : program.environment) {
      if (name.empty() || name.find('=') != std::string::npos) {
        section.Fail("environment", fmt::format("'{}' is not a valid variable name", name));
      }
    }
    const std::string file = std::filesystem::path(program.command[0]).filename();
    program.name = section.Has("name") ? section.Text("name")
                                       : Unique(fmt::format("{} {}", program.node, file), names);
    return program;
  }

  void ReadCaptures() {
    const Value* captures = file_.Find("captures");
    if (!captures) return;
    if (captures->IsScalar()) {
      scenario_.captures = links_.names();
      return;
    }
    for (const std::string& name : file_.Texts("captures")) {
      file_.Located("captures", [&] { links_.Check(name); });
      if (std::count(scenario_.captures.begin(), scenario_.captures.end(), name) == 0) {
        scenario_.captures.push_back(name);
      }
    }
  }

  void ReadState() {
    if (!file_.Has("state")) return;
    const Section state = file_.Inner("state");
    if (scenario_.state_interval <= Duration()) state.Fail("interval", "must be greater than 0");
    const Value* nodes = state.Find("nodes");
    const bool all = nodes == nullptr || nodes->IsScalar();
    std::set<std::string> wanted;
    for (const std::string& name : state.Texts("nodes")) {
      if (!all) wanted.insert(state.Located("nodes", [&] { return nodes_.Check(name); }));
    }
    for (const NodeSettings& node : scenario_.nodes) {
      if (all ? node.kernel.has_value() : wanted.contains(node.name)) {
        if (!node.kernel)
          state.Fail("nodes", fmt::format("the stack of node {} is ns-3's, not a kernel; remove "
                                          "the node from this list, or set its stack: kernel",
                                          node.name));
        scenario_.state.push_back(node.name);
      }
    }
    if (scenario_.state.empty()) {
      file_.Fail("state", "no node has a kernel whose state could be written; set stack: kernel");
    }
  }

  void CheckMode() {
    if (scenario_.mode != Mode::kSimulate) {
      SettleStacks();
      if (scenario_.kernel_memory) {
        file_.Fail("kernel_memory", fmt::format("supported only in mode simulate, which has "
                                                "kernels in virtual time, not in mode {}",
                                                ModeName(scenario_.mode)));
      }
      if (!scenario_.state.empty()) {
        file_.Fail(
            "state",
            fmt::format("the state of kernels is only available in mode simulate, not in mode {}",
                        ModeName(scenario_.mode)));
      }
      return;
    }
    CheckSimulatedPrograms();
    CheckKernelMemory();
    for (const LinkSettings& link : scenario_.links) {
      if (!link.interface.empty()) {
        file_.Fail("links",
                   fmt::format("interface {}: not supported in mode simulate", link.interface));
      }
    }
    for (const NodeSettings& node : scenario_.nodes) {
      if (!node.physical_interfaces.empty()) {
        Fail(PlaceOfNode(file_, node.name), "interfaces: not supported in mode simulate");
      }
      if (!node.container.empty()) {
        Fail(PlaceOfNode(file_, node.name), "container: not supported in mode simulate");
      }
    }
  }

  void CheckKernelMemory() const {
    const bool has_kernels = std::ranges::any_of(
        scenario_.nodes, [](const NodeSettings& node) { return node.kernel.has_value(); });
    if (scenario_.kernel_memory && !has_kernels) {
      file_.Fail("kernel_memory", "no node has a kernel in virtual time; set stack: kernel");
    }
  }

  // Checks that programs are on nodes with a real kernel, in mode simulate: ns-3's model of a stack
  // cannot run programs.
  void CheckSimulatedPrograms() const {
    for (size_t i = 0; i < scenario_.programs.size(); ++i) {
      const std::string& name = scenario_.programs[i].node;
      const auto node = std::find_if(scenario_.nodes.begin(), scenario_.nodes.end(),
                                     [&](const NodeSettings& each) { return each.name == name; });
      if (node->kernel) continue;
      Fail(file_.At("programs").items[i],
           fmt::format("programs[{}].node: {} has ns-3's own stack, which cannot run programs in "
                       "mode simulate; set its stack: kernel, or use mode emulate or offload",
                       i, name));
    }
  }

  // Checks `stack: kernel`. In mode offload nodes use the host's kernel anyway, which is all that
  // `stack: kernel` requests in that mode; in other modes except simulate a node has no second
  // kernel.
  void SettleStacks() {
    for (NodeSettings& node : scenario_.nodes) {
      const bool is_host_kernel =
          scenario_.mode == Mode::kOffload &&
          (node.data_plane == nullptr ||
           node.data_plane->Unavailable(fib::Feature::kKernelStack).empty());
      if (is_host_kernel && node.kernel == "") node.kernel.reset();
      if (!node.kernel) continue;
      const std::string why =
          is_host_kernel
              ? fmt::format(
                    "stack: kernel:{0} is supported only in mode simulate; in mode offload nodes "
                    "use this machine's kernel (set stack: kernel)",
                    *node.kernel)
              : fmt::format(
                    "stack: a kernel in virtual time is supported only in mode simulate; in mode "
                    "{} ns-3 forwards the packets of node {}; change mode or stack",
                    ModeName(scenario_.mode), node.name);
      Fail(file_.Has("stack") ? file_.At("stack") : PlaceOfNode(file_, node.name), why);
    }
  }

  const Value& root_;
  const Section file_;
  Scenario& scenario_;
  NameTable nodes_, links_;
  const FrameNodes* bridged_ = nullptr;  // null: the nodes are routers
};

// Returns the name of a lab that is derived from the file's base name.
std::string NameFrom(const std::string& file) {
  std::string name = std::filesystem::path(file).stem();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '-';
  }
  if (name.empty() || !std::isalnum(static_cast<unsigned char>(name[0]))) name = "lab" + name;
  return name.substr(0, 32);
}

// Replaces `routing: none` by `routing: {protocol: none}`.
void WriteRoutingAsMap(Value& root) {
  Value* routing = root.IsMap() ? root.Find("routing") : nullptr;
  if (routing == nullptr || !routing->IsScalar()) return;
  Value map;
  map.kind = Value::Kind::kMap;
  map.where = routing->where;
  map.members.push_back({"protocol", *routing});
  *routing = std::move(map);
}

}  // namespace

Scenario Parse(const std::string& text, const std::string& file,
               const std::vector<std::string>& overrides, Mode default_mode) {
  Value root = ParseYaml(text, file);
  ResolveAliases(root);
  WriteRoutingAsMap(root);
  for (const std::string& assignment : overrides) {
    Override(root, ResolveAliases(assignment));
    ResolveAliases(root);
    WriteRoutingAsMap(root);
  }
  Scenario scenario;
  scenario.file = file;
  Loader(root, scenario).Load(NameFrom(file), default_mode);
  scenario.hash = Hash(scenario);
  return scenario;
}

Scenario Load(const std::string& file, const std::vector<std::string>& overrides,
              Mode default_mode) {
  return Parse(ReadNamedFile(file), file, overrides, default_mode);
}

}  // namespace viaduct::scenario
