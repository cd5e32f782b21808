#include "lab/broker/test/joined_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/wire/test/packet_builder.h"

namespace viaduct::broker::test {
namespace {

using namespace wire::packet;  // NOLINT(google-build-using-namespace): short packet descriptions

lab::Interface InterfaceOnLine(const char* name, int link, int side) {
  lab::Interface interface;
  interface.name = name;
  interface.mac = wire::MacAddress::Parse(MacOnLine(link, side));
  interface.addresses = {wire::IpPrefix::Parse(fmt::format("10.1.{}.{}/24", link, side)),
                         wire::IpPrefix::Parse(fmt::format("2001:db8:{}::{}/64", link, side))};
  return interface;
}

lab::Link LinkOfLine(int i, const std::map<int, std::string>& specs) {
  lab::Link link{
      fmt::format("l{}", i),
      lab::Link::Kind::kPair,
      {{JoinedLine::Name(i), i == 0 ? "eth0" : "eth1"}, {JoinedLine::Name(i + 1), "eth0"}},
      {}};
  const auto spec = specs.find(i);
  if (spec != specs.end()) link.specs.assign(2, path::ParseSpec(spec->second));
  return link;
}

}  // namespace

std::string MacOnLine(int link, int side) {
  return fmt::format("02:00:00:01:{:02x}:{:02x}", link, side);
}

std::string JoinedLine::Name(int node) { return fmt::format("n{}", node); }

JoinedLine::JoinedLine(int routers, const fib::DataPlane& plane,
                       const std::map<int, std::string>& specs)
    : last_(routers + 1), client_(Client::ConnectOrSpawn()) {
  topology_.name = fmt::format("joi{}", getpid());
  for (int i = 0; i <= last_; ++i) topology_.nodes.push_back(MakeNode(i, plane));
  for (int i = 0; i < last_; ++i) topology_.links.push_back(LinkOfLine(i, specs));
  client_.CreateLab(topology_);
  for (int i = 0; i <= last_; ++i) Configure(i);
}

void JoinedLine::Run(int node, const std::string& command) {
  ProgramOptions options;
  options.node = Name(node);
  options.arguments = {"sh", "-c", command};
  const Program program = client_.Spawn(options);
  int32_t status = -1;
  if (read(program.exit_status.get(), &status, sizeof status) != sizeof status || status != 0) {
    throw Error(fmt::format("node {}: {}: status {}", node, command, status));
  }
}

uint64_t JoinedLine::Count(int node, const std::string& what, const char* interface) {
  return client_.Describe()["packets"][Name(node)][interface][what].get<uint64_t>();
}

Frame JoinedLine::Packet(int number, uint8_t ttl) const {
  return Build(
      Ethernet{.source = MacOnLine(0, 1), .destination = MacOnLine(0, 2)} /
      Ipv4{.source = "10.1.0.1", .destination = fmt::format("10.1.{}.2", last_ - 1), .ttl = ttl} /
      Udp{.source = 1000, .destination = static_cast<uint16_t>(2000 + number)});
}

Frame JoinedLine::Packet6(int number, uint8_t hop_limit) const {
  return Build(Ethernet{.source = MacOnLine(0, 1), .destination = MacOnLine(0, 2)} /
               Ipv6{.source = "2001:db8:0::1",
                    .destination = fmt::format("2001:db8:{}::2", last_ - 1),
                    .hop_limit = hop_limit} /
               Udp{.source = 1000, .destination = static_cast<uint16_t>(2000 + number)});
}

lab::Node JoinedLine::MakeNode(int i, const fib::DataPlane& plane) const {
  lab::Node node{Name(i), &plane, {}, {}, {}};
  if (i > 0) node.interfaces.push_back(InterfaceOnLine("eth0", i - 1, 2));
  if (i < last_) node.interfaces.push_back(InterfaceOnLine(i == 0 ? "eth0" : "eth1", i, 1));
  node.sysctls = {{"net.ipv4.icmp_ratemask", "0"}, {"net.ipv6.icmp.ratemask", "255"}};
  return node;
}

void JoinedLine::Configure(int i) {
  std::string commands = "true";
  if (i > 0) {
    commands += fmt::format(
        " && ip neigh replace 10.1.{0}.1 lladdr {1} dev eth0 nud permanent && ip neigh replace "
        "2001:db8:{0}::1 lladdr {1} dev eth0 nud permanent && ip route add 10.1.0.0/24 via "
        "10.1.{0}.1 metric 9 && ip route add 2001:db8:0::/64 via 2001:db8:{0}::1 metric 9999",
        i - 1, MacOnLine(i - 1, 1));
  }
  if (i < last_) {
    commands += fmt::format(
        " && ip neigh replace 10.1.{0}.2 lladdr {1} dev {2} nud permanent && ip neigh replace "
        "2001:db8:{0}::2 lladdr {1} dev {2} nud permanent && ip route add 10.1.{3}.0/24 via "
        "10.1.{0}.2 metric 9 && ip route add 2001:db8:{3}::/64 via 2001:db8:{0}::2 metric 9999",
        i, MacOnLine(i, 2), i == 0 ? "eth0" : "eth1", last_ - 1);
  }
  Run(i, commands);
}

std::vector<std::string> EndTap::Take() const {
  std::vector<std::string> frames;
  tap_.Take([&](wire::ConstBytes frame) {
    const bool is_to_group = (std::to_integer<int>(frame[0]) & 1) != 0;
    if (is_to_group) return;
    std::string text = Describe(frame);
    if (text.find("udp") != std::string::npos || text.find(" / icmp") != std::string::npos) {
      frames.push_back(std::move(text));
    }
  });
  return frames;
}

}  // namespace viaduct::broker::test
