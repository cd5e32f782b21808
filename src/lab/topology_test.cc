#include "lab/topology.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/text/json_text.h"
#include "lab/client.h"

namespace viaduct::lab {
namespace {

using ::testing::HasSubstr;

Interface MakeInterface(const std::string& name, int number, const std::string& address) {
  Interface interface;
  interface.name = name;
  interface.mac.bytes = {2, 0, 0, 0, 0, static_cast<uint8_t>(number)};
  interface.addresses = {wire::IpPrefix::Parse(address)};
  return interface;
}

// Returns the link n0 -- n1, and a bridge with n1 and n2.
Topology Example() {
  Topology topology;
  topology.name = "example";
  topology.nodes = {
      {"n0", &fib::kKernelPlane, {MakeInterface("eth0", 1, "10.0.0.1/24")}, {}, {}},
      {"n1",
       &fib::kKernelPlane,
       {MakeInterface("eth0", 2, "10.0.0.2/24"), MakeInterface("eth1", 3, "2001:db8::1/64")},
       {},
       {{"net.ipv4.ip_default_ttl", "32"}}},
      {"n2",
       &fib::kSimulatorPlane,
       {MakeInterface("eth0", 4, "2001:db8::2/64")},
       {wire::IpPrefix::Parse("2001:db8::2/64")},
       {}}};
  topology.links = {
      {"n0-n1",
       Link::Kind::kPair,
       {{"n0", "eth0"}, {"n1", "eth0"}},
       {path::ParseSpec("rate=10Mbit queue=100p"), path::Spec()},
       Emulator::kEngine},
      {"lan", Link::Kind::kBridge, {{"n1", "eth1"}, {"n2", "eth0"}}, {}, Emulator::kEngine}};
  return topology;
}

std::string ErrorOf(const Topology& topology) {
  try {
    Validate(topology);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string ErrorOfJson(const nlohmann::json& json) {
  try {
    json.get<Topology>();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Topology, ExampleIsValid) { EXPECT_EQ(ErrorOf(Example()), ""); }

TEST(Topology, ClassesNeedTheEngineAndSpecs) {
  Topology example = Example();
  example.links[0].classes = {{"dns", "udp port 53", path::Spec(), path::Spec()}};
  EXPECT_EQ(ErrorOf(example), "");
  example.links[0].emulator = Emulator::kKernel;
  EXPECT_EQ(
      ErrorOf(example),
      "link n0-n1: the kernel's qdiscs do not support classes of packets; use emulator: engine");
  example.links[0].emulator = Emulator::kEngine;
  example.links[0].specs.clear();
  EXPECT_EQ(ErrorOf(example), "link n0-n1: a link with classes of packets also needs SPECs");
}

TEST(Topology, JsonKeepsEverything) {
  Topology example = Example();
  example.links[0].emulator = Emulator::kKernel;
  example.links[1].classes = {
      {"dns", "udp port 53", path::ParseSpec("loss=list:2,4"), path::ParseSpec("dup=1%")}};
  example.seed = 1ULL << 60;
  example.directory = "/tmp";
  const nlohmann::json json = example;
  const auto read = nlohmann::json::parse(JsonText(json)).get<Topology>();
  EXPECT_EQ(nlohmann::json(read), json);
  EXPECT_EQ(read.links[1].classes, example.links[1].classes);
  ASSERT_EQ(read.nodes.size(), 3U);
  EXPECT_EQ(read.nodes[2].data_plane, &fib::kSimulatorPlane);
  EXPECT_EQ(read.nodes[2].program_addresses, Example().nodes[2].program_addresses);
  EXPECT_EQ(read.nodes[1].interfaces[1].addresses, Example().nodes[1].interfaces[1].addresses);
  EXPECT_EQ(read.nodes[1].sysctls, Example().nodes[1].sysctls);
  EXPECT_EQ(read.links[0].specs, Example().links[0].specs);
  EXPECT_EQ(read.links[0].emulator, Emulator::kKernel);
  EXPECT_EQ(read.seed, 1ULL << 60);
  EXPECT_EQ(read.directory, "/tmp");
  EXPECT_EQ(read.links[1].kind, Link::Kind::kBridge);
  EXPECT_EQ(read.links[1].endpoints[1].node, "n2");
}

TEST(Topology, JsonNamesTheUnknownKey) {
  nlohmann::json json = Example();
  json["nodes"][1]["interfaces"][0]["mttu"] = 9000;
  EXPECT_EQ(ErrorOfJson(json), "topology.nodes[1].interfaces[0]: unknown key \"mttu\"");
}

TEST(Topology, JsonNamesWhatIsMissing) {
  nlohmann::json json = Example();
  json["links"][1]["endpoints"][0].erase("node");
  EXPECT_EQ(ErrorOfJson(json), "topology.links[1].endpoints[0].node is missing");
}

TEST(Topology, JsonRefusesWrongTypes) {
  nlohmann::json json = Example();
  json["nodes"][0]["interfaces"][0]["mtu"] = "1500";
  EXPECT_THAT(ErrorOfJson(json), HasSubstr("nodes[0].interfaces[0].mtu"));
  json = Example();
  json["nodes"][0]["interfaces"][0]["mtu"] = 1e9;
  EXPECT_THAT(ErrorOfJson(json), HasSubstr("68..65535"));
  json = Example();
  json["nodes"] = "n0";
  EXPECT_EQ(ErrorOfJson(json), "topology.nodes: expected a list");
  json = Example();
  json["links"][0]["kind"] = "tube";
  EXPECT_THAT(ErrorOfJson(json), HasSubstr("pair, bridge or tunnel"));
  EXPECT_EQ(ErrorOfJson(nlohmann::json::array()), "topology: expected an object");
}

// Returns Example() with the link n0 -- far, in which the node far is remote.
Topology WithRemote() {
  Topology topology = Example();
  topology.nodes[0].interfaces.push_back(MakeInterface("eth1", 8, "10.0.9.1/30"));
  Remote remote;
  remote.name = "far";
  remote.interface = MakeInterface("eth0", 9, "10.0.9.2/30");
  remote.vni = 5;
  remote.address = wire::IpAddress::Parse("2001:db8::7");
  topology.remotes = {remote};
  topology.hub = {"2001:db8::1", 4789, 3, 5000};
  topology.links.push_back({"n0-far", Link::Kind::kPair, {{"n0", "eth1"}, {"far", "eth0"}}, {}});
  return topology;
}

TEST(Topology, RemoteNodesAreEndsOfLinks) {
  const Topology topology = WithRemote();
  EXPECT_EQ(ErrorOf(topology), "");
  const nlohmann::json json = topology;
  EXPECT_EQ(nlohmann::json(json.get<Topology>()), json);
  ASSERT_NE(FindRemote(topology, "far"), nullptr);
  EXPECT_EQ(FindRemote(topology, "far")->vni, 5U);
  EXPECT_EQ(FindRemote(topology, "n0"), nullptr);
  EXPECT_TRUE(HasRemote(topology, topology.links.back()));
  EXPECT_FALSE(HasRemote(topology, topology.links.front()));
  for (const int vni : {0, 1 << 24}) {
    nlohmann::json wrong = json;
    wrong["remotes"][0]["vni"] = vni;
    EXPECT_THROW(wrong.get<Topology>(), UsageError);
  }
}

TEST(Topology, RefusesWhatARemoteNodeCannotBe) {
  Topology topology = WithRemote();
  topology.remotes[0].name = topology.links.back().endpoints[1].node = "n1";
  EXPECT_THAT(ErrorOf(topology), HasSubstr("two nodes have the name n1"));
  topology = WithRemote();
  topology.links.back().specs = {path::ParseSpec("delay=1ms"), path::Spec()};
  EXPECT_EQ(ErrorOf(topology), "");
  topology.links.back().emulator = Emulator::kKernel;
  EXPECT_THAT(ErrorOf(topology), HasSubstr("emulator: engine"));
  topology = WithRemote();
  topology.links.pop_back();
  EXPECT_THAT(ErrorOf(topology), HasSubstr("is neither on a link nor a physical interface"));
}

// Returns Example() with the data plane of n2 in the simulator, and a client that runs the programs
// of n2.
Topology WithClient() {
  Topology topology = Example();
  topology.nodes[2].program_addresses.clear();
  topology.nodes[2].interfaces.push_back(MakeInterface(kClientInterface, 8, "10.0.9.1/30"));
  topology.nodes[2].interfaces.back().addresses.clear();
  Remote client;
  client.name = ClientNameOf("n2");
  client.programs_of = "n2";
  client.interface = MakeInterface("eth0", 9, "10.0.9.2/30");
  client.vni = 5;
  topology.remotes = {client};
  topology.links.push_back(
      {"n2-client", Link::Kind::kPair, {{"n2", kClientInterface}, {client.name, "eth0"}}, {}});
  return topology;
}

TEST(Topology, AClientMayHaveTheProgramsOfANode) {
  const Topology topology = WithClient();
  EXPECT_EQ(ErrorOf(topology), "");
  const nlohmann::json json = topology;
  EXPECT_EQ(json.get<Topology>().remotes[0].programs_of, "n2");
  EXPECT_EQ(FindRemote(topology, "n2"), nullptr) << "the node is in the lab";
  EXPECT_TRUE(HasRemote(topology, topology.links.back()));
}

TEST(Topology, RefusesWhatAClientCannotHaveTheProgramsOf) {
  Topology topology = WithClient();
  topology.nodes[2].data_plane = &fib::kKernelPlane;
  EXPECT_THAT(ErrorOf(topology), HasSubstr("data plane is the simulator"));
  topology = WithClient();
  topology.nodes[2].program_addresses = topology.nodes[2].interfaces[0].addresses;
  EXPECT_THAT(ErrorOf(topology), HasSubstr("programs run on this machine"));
  topology = WithClient();
  topology.remotes[0].programs_of = "n7";
  EXPECT_THAT(ErrorOf(topology), HasSubstr("invalid name"));
  topology.remotes[0].name = ClientNameOf("n7");
  EXPECT_THAT(ErrorOf(topology), HasSubstr("the node does not exist"));
  topology = WithClient();
  topology.remotes[0].programs_of.clear();
  EXPECT_THAT(ErrorOf(topology), HasSubstr("letters, digits"));
}

TEST(Topology, RefusesNamesTakenTwice) {
  Topology topology = Example();
  topology.nodes[1].name = "n0";
  EXPECT_EQ(ErrorOf(topology), "two nodes have the name n0");
  topology = Example();
  topology.links[1].name = "n0-n1";
  EXPECT_EQ(ErrorOf(topology), "two links have the name n0-n1");
  topology = Example();
  topology.nodes[1].interfaces[1].name = "eth0";
  EXPECT_EQ(ErrorOf(topology), "node n1: two interfaces have the name eth0");
}

TEST(Topology, RefusesMalformedNames) {
  for (const char* name : {"", "a b", "a/b", "../a", "a.b", "-a"}) {
    Topology topology = Example();
    topology.name = name;
    EXPECT_THAT(ErrorOf(topology), HasSubstr("lab \"" + std::string(name) + "\"")) << name;
  }
  Topology topology = Example();
  topology.nodes[0].name = "fabric";
  EXPECT_THAT(ErrorOf(topology), HasSubstr("reserved for the lab"));
  for (const char* name : {"", "sixteen-letters-", "a b", "a/b", ".."}) {
    topology = Example();
    topology.nodes[0].interfaces[0].name = name;
    EXPECT_THAT(ErrorOf(topology), HasSubstr("interface name")) << name;
  }
}

TEST(Topology, RefusesWrongEndpoints) {
  Topology topology = Example();
  topology.links[0].endpoints[1].interface = "eth7";
  EXPECT_EQ(ErrorOf(topology), "link n0-n1: missing interface eth7 of node n1");
  topology = Example();
  topology.links[1].endpoints[0].interface = "eth0";
  EXPECT_EQ(ErrorOf(topology), "link lan: interface eth0 of node n1 is already on link n0-n1");
  topology = Example();
  topology.links.pop_back();
  EXPECT_EQ(ErrorOf(topology),
            "interface eth1 of node n1 is neither on a link nor a physical interface");
  topology = Example();
  topology.links[0].endpoints.pop_back();
  EXPECT_THAT(ErrorOf(topology), HasSubstr("two endpoints, not 1"));
  topology = Example();
  topology.links[1].specs.resize(1);
  EXPECT_THAT(ErrorOf(topology), HasSubstr("1 SPECs for 2 endpoints"));
}

TEST(Topology, RefusesAddressesTwiceOnALink) {
  Topology topology = Example();
  topology.nodes[1].interfaces[0].addresses = topology.nodes[0].interfaces[0].addresses;
  EXPECT_EQ(ErrorOf(topology), "link n0-n1: address 10.0.0.1 is used twice");
  topology = Example();
  topology.nodes[1].interfaces[0].mac = topology.nodes[0].interfaces[0].mac;
  EXPECT_THAT(ErrorOf(topology), HasSubstr("MAC address 02:00:00:00:00:01 is used twice"));
}

TEST(Topology, RefusesWhatTheKernelWould) {
  Topology topology = Example();
  topology.nodes[0].interfaces[0].mac.bytes[0] = 1;
  EXPECT_THAT(ErrorOf(topology), HasSubstr("not a unicast MAC address"));
  topology = Example();
  topology.nodes[1].interfaces[1].mtu = 1000;
  EXPECT_THAT(ErrorOf(topology), HasSubstr("IPv6 needs an MTU of at least 1280"));
  topology = Example();
  topology.nodes[0].interfaces[0].addresses = {wire::IpPrefix::Parse("224.0.0.5/32")};
  EXPECT_THAT(ErrorOf(topology), HasSubstr("not an interface address"));
}

TEST(Topology, PhysicalInterfacesAreOnNoLink) {
  Topology topology = Example();
  topology.nodes[1].interfaces[0].physical = "enp3s0";
  EXPECT_THAT(ErrorOf(topology), HasSubstr("is physical interface enp3s0"));
  topology = Example();
  topology.nodes[0].interfaces.push_back(MakeInterface("eth1", 9, "10.9.0.1/24"));
  topology.nodes[0].interfaces.back().physical = "enp3s0";
  EXPECT_EQ(ErrorOf(topology), "");
  topology.nodes[1].interfaces.push_back(topology.nodes[0].interfaces.back());
  topology.nodes[1].interfaces.back().name = "eth2";
  EXPECT_EQ(ErrorOf(topology), "physical interface enp3s0 is used twice");
}

TEST(Topology, ProgramAddressesNeedTheSimulator) {
  Topology topology = Example();
  topology.nodes[2].data_plane = &fib::kKernelPlane;
  EXPECT_THAT(ErrorOf(topology), HasSubstr("node n2: program addresses"));
}

TEST(Topology, ForwardingProgramsAreOfTheirPlane) {
  Topology topology = Example();
  Node& node = topology.nodes[1];
  const auto error = [&] { return ErrorOf(topology); };
  node.data_plane = &fib::kUserspaceProgram;
  EXPECT_THAT(error(), HasSubstr("node n1: a forwarding program and data plane `program`"));
  node.program = forward::DescribeKnown("bridge");
  EXPECT_EQ(error(), "");
  node.program->control_type = 0x88b5;
  node.program->table_words = 7;
  node.program->overhead = 30;
  node.program->losses = {"malformed"};
  const auto read = nlohmann::json::parse(JsonText(topology)).get<Topology>();
  EXPECT_EQ(read.nodes[1].program, node.program);
  EXPECT_EQ(read.nodes[1].data_plane, &fib::kUserspaceProgram);
  node.program->losses = {"gone"};
  EXPECT_THAT(error(), HasSubstr("forwarding program bridge: the loss \"gone\" is not"));
  node.program = forward::DescribeKnown("bridge");
  node.data_plane = &fib::kKernelPlane;
  EXPECT_THAT(error(), HasSubstr("can only be used together"));
}

}  // namespace
}  // namespace viaduct::lab
