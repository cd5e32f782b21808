// Builds labs in the real kernel and removes them again. Needs root. All objects are named after
// this process, recorded in a separate directory, and removed.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "lab/builder.h"
#include "lab/fabric.h"
#include "lab/test/lab_fixture.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"
#include "sys/network/packet_socket.h"
#include "sys/network/qdisc.h"
#include "sys/network/sysctl.h"
#include "sys/network/tun.h"

namespace viaduct::lab {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

UniqueFd UdpSocket(int namespace_fd) {
  sys::NamespaceScope scope(namespace_fd);
  return UniqueFd(SystemCall("socket", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
}

sockaddr_in At(const char* address, uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  inet_pton(AF_INET, address, &result.sin_addr);
  return result;
}

// Sends a datagram from a socket in the namespace `from` to a socket in `to`. Returns whether it
// arrived within a second.
bool Reaches(int from, int to, const char* address) {
  const UniqueFd sender = UdpSocket(from);
  const UniqueFd receiver = UdpSocket(to);
  const sockaddr_in any = At("0.0.0.0", 4711);
  SystemCall("bind", bind(receiver.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any));
  const sockaddr_in destination = At(address, 4711);
  if (sendto(sender.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&destination),
             sizeof destination) != 1) {
    return false;
  }
  pollfd entry{receiver.get(), POLLIN, 0};
  return poll(&entry, 1, 1000) == 1;
}

TEST_F(LabRootTest, CarriesPacketsAcrossARouter) {
  Lab lab(Line(3), Options());
  const auto route = [&](const char* node, const char* to, const char* via, const char* device) {
    sys::Netlink& netlink = lab.NetlinkOf(node);
    netlink.AddRoute(wire::IpPrefix::Parse(to), wire::IpAddress::Parse(via),
                     netlink.IfIndex(device));
  };
  route("n0", "10.0.1.0/24", "10.0.0.2", "eth1");
  route("n2", "10.0.0.0/24", "10.0.1.1", "eth0");
  EXPECT_TRUE(Reaches(lab.NamespaceFd("n0"), lab.NamespaceFd("n2"), "10.0.1.2"));
  const sys::LinkInfo link = lab.NetlinkOf("n1").GetLink("eth1");
  EXPECT_EQ(link.mac.ToString(), "02:00:00:00:01:02");
  EXPECT_TRUE(link.running);
  EXPECT_THAT(lab.NetlinkOf("n1").Addresses(link.ifindex),
              Contains(wire::IpPrefix::Parse("10.0.1.1/24")));
}

TEST_F(LabRootTest, LeavesNothingBehind) {
  {
    Lab lab(Line(2), Options());
    EXPECT_TRUE(sys::NamespaceExists(Namespace("n0")));
    EXPECT_EQ(ListRuns(root_).size(), 1U);
    EXPECT_EQ(ListRuns(root_)[0].uid, 1000U);
    EXPECT_TRUE(ListRuns(root_)[0].alive);
    EXPECT_THAT(lab.Remove(), IsEmpty());
    EXPECT_THAT(lab.Remove(), IsEmpty());
  }
  EXPECT_FALSE(sys::NamespaceExists(Namespace("n0")));
  EXPECT_THAT(ListRuns(root_), IsEmpty());
}

TEST_F(LabRootTest, IsRemovedThoughSomebodyRemovedItsRecord) {
  Lab lab(Line(2), Options());
  std::filesystem::remove_all(root_);
  EXPECT_THAT(lab.Remove(), IsEmpty());
  EXPECT_FALSE(sys::NamespaceExists(Namespace("n0")));
}

TEST_F(LabRootTest, SharedChannelIsABridge) {
  Topology topology;
  topology.name = name_;
  Link link{"lan", Link::Kind::kBridge, {}, {}};
  for (int i = 0; i < 3; ++i) {
    Node node;
    node.name = "n" + std::to_string(i);
    node.interfaces = {MakeInterface(
        "eth0", i, 1,
        {"10.1.0." + std::to_string(i + 1) + "/24", "2001:db8::" + std::to_string(i + 1) + "/64"})};
    topology.nodes.push_back(node);
    link.endpoints.push_back({node.name, "eth0"});
  }
  topology.links = {link};
  Lab lab(topology, Options());
  EXPECT_TRUE(Reaches(lab.NamespaceFd("n0"), lab.NamespaceFd("n2"), "10.1.0.3"));
  EXPECT_TRUE(Reaches(lab.NamespaceFd("n2"), lab.NamespaceFd("n1"), "10.1.0.2"));
  EXPECT_EQ(sys::ReadSysctl(lab.NamespaceFd("n0"), "net.ipv6.conf.eth0.accept_dad"), "0");
  EXPECT_EQ(sys::ReadSysctl(lab.NamespaceFd("n0"), "net.ipv6.conf.all.forwarding"), "1");
}

// A shared channel must carry frames that IP would discard, because no counter would show their
// loss, also on a machine with br_netfilter, which examines bridged frames.
TEST_F(LabRootTest, SharedChannelCarriesAnyFrame) {
  Topology topology;
  topology.name = name_;
  Link link{"lan", Link::Kind::kBridge, {}, {}};
  for (int i = 0; i < 2; ++i) {
    Node node;
    node.name = "n" + std::to_string(i);
    node.interfaces = {MakeInterface("eth0", i, 1, {})};
    topology.nodes.push_back(node);
    link.endpoints.push_back({node.name, "eth0"});
  }
  topology.links = {link};
  Lab lab(topology, Options());
  const auto open = [&](const std::string& node) {
    const sys::NamespaceScope scope(lab.NamespaceFd(node));
    sys::PacketSocket socket = sys::OpenPacketSocket("eth0", false);
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = socket.ifindex;
    EXPECT_EQ(bind(socket.fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    return std::move(socket.fd);
  };
  const UniqueFd from = open("n0"), to = open("n1");
  for (const uint16_t type : {ETH_P_IP, ETH_P_IPV6, ETH_P_ARP}) {
    std::array<uint8_t, 60> sent{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 9, 9};
    sent[12] = static_cast<uint8_t>(type >> 8);
    sent[13] = static_cast<uint8_t>(type);
    sent[14] = 0xa5;  // the version field of IP is invalid
    ASSERT_EQ(send(from.get(), sent.data(), sent.size(), 0), ssize_t{60});
    std::array<uint8_t, 60> got{};
    for (pollfd ready{to.get(), POLLIN, 0}; got != sent && poll(&ready, 1, 5000) > 0;) {
      recv(to.get(), got.data(), got.size(), 0);
    }
    EXPECT_EQ(got, sent) << "type " << type;
  }
}

TEST_F(LabRootTest, SimulatedNodeIsSilent) {
  Topology topology = Line(2);
  topology.nodes[1].data_plane = &fib::kSimulatorPlane;
  topology.nodes[1].program_addresses = topology.nodes[1].interfaces[0].addresses;
  Lab lab(topology, Options());
  // The address belongs to the node n1, but only the simulator may answer for it, not n1's kernel.
  EXPECT_FALSE(Reaches(lab.NamespaceFd("n0"), lab.NamespaceFd("n1"), "10.0.0.2"));
  sys::Netlink& n0 = lab.NetlinkOf("n0");
  n0.AddPermanentNeighbour(n0.IfIndex("eth1"), wire::IpAddress::Parse("10.0.0.2"),
                           topology.nodes[1].interfaces[0].mac);
  EXPECT_FALSE(Reaches(lab.NamespaceFd("n0"), lab.NamespaceFd("n1"), "10.0.0.2"));
  // Both ends of the simulated node's link send no super-frames, and compute complete checksums.
  EXPECT_THAT(sys::ActiveOffloads(lab.NamespaceFd("n0"), "eth1", sys::Offloads::kAll), IsEmpty());
  EXPECT_THAT(sys::ActiveOffloads(lab.NamespaceFd("n1"), "eth0", sys::Offloads::kAll), IsEmpty());
}

TEST_F(LabRootTest, ProgramsOfASimulatedNodeReachTheSimulator) {
  Topology topology = Line(2);
  topology.nodes[1].data_plane = &fib::kSimulatorPlane;
  topology.nodes[1].program_addresses = {wire::IpPrefix::Parse("10.0.0.2/24")};
  Lab lab(topology, Options());
  const UniqueFd tun = sys::OpenTun(lab.NamespaceFd("n1"), kProgramDevice);
  const UniqueFd program = UdpSocket(lab.NamespaceFd("n1"));
  const sockaddr_in far = At("192.0.2.1", 9);
  ASSERT_EQ(
      sendto(program.get(), "hello", 5, 0, reinterpret_cast<const sockaddr*>(&far), sizeof far), 5);
  std::array<uint8_t, 2048> packet;
  ASSERT_EQ(read(tun.get(), packet.data(), packet.size()), 33);
  EXPECT_EQ(packet[0], 0x45);
  EXPECT_EQ(std::vector<uint8_t>(packet.begin() + 12, packet.begin() + 20),
            (std::vector<uint8_t>{10, 0, 0, 2, 192, 0, 2, 1}));
}

TEST_F(LabRootTest, KernelNodesKeepTheirOffloads) {
  Lab lab(Line(2), Options());
  EXPECT_THAT(sys::ActiveOffloads(lab.NamespaceFd("n0"), "eth1", sys::Offloads::kAll),
              Contains("tx-tcp-segmentation"));
}

TEST_F(LabRootTest, RateBecomesATokenBucket) {
  if (!sys::HasQdisc("tbf")) GTEST_SKIP() << "this kernel lacks the tbf qdisc";
  Topology topology = Line(2);
  topology.links[0].specs = {path::ParseSpec("rate=10Mbit queue=10p"), path::Spec()};
  topology.links[0].emulator = Emulator::kKernel;
  Lab lab(topology, Options());
  sys::Netlink& n0 = lab.NetlinkOf("n0");
  EXPECT_EQ(sys::RootQdisc(n0, n0.IfIndex("eth1")), "tbf");
  EXPECT_TRUE(lab.HasQdisc({"n0", "eth1"}));
  EXPECT_FALSE(lab.HasQdisc({"n1", "eth0"}));
  EXPECT_TRUE(Reaches(lab.NamespaceFd("n0"), lab.NamespaceFd("n1"), "10.0.0.2"));
  EXPECT_THAT(sys::ActiveOffloads(lab.NamespaceFd("n0"), "eth1", sys::Offloads::kSegmentation),
              IsEmpty());
}

TEST_F(LabRootTest, DelayNeedsNetem) {
  Topology topology = Line(2);
  topology.links[0].specs = {path::ParseSpec("delay=10ms"), path::Spec()};
  topology.links[0].emulator = Emulator::kKernel;
  if (sys::HasQdisc("netem")) {
    Lab lab(topology, Options());
    sys::Netlink& n0 = lab.NetlinkOf("n0");
    EXPECT_EQ(sys::RootQdisc(n0, n0.IfIndex("eth1")), "netem");
    return;
  }
  EXPECT_THAT(ErrorOfBuilding<EnvironmentError>(topology),
              HasSubstr("link l0: delay=10ms needs the netem qdisc, which this kernel lacks; "));
}

TEST_F(LabRootTest, EmulatedLinksEndInTheHub) {
  Topology topology = Line(3);
  topology.links[0].specs = {path::ParseSpec("delay=10ms"), path::Spec()};
  Lab lab(topology, Options());
  ASSERT_EQ(FabricPairs(topology).size(), 1U);
  for (const std::string& port :
       {FabricPairs(topology)[0].a.interface, FabricPairs(topology)[0].b.interface}) {
    EXPECT_TRUE(lab.FabricNetlink().GetLink(port).running);
    EXPECT_THAT(sys::ActiveOffloads(lab.FabricFd(), port, sys::Offloads::kAll), IsEmpty());
  }
  EXPECT_FALSE(lab.HasQdisc({"n0", "eth1"}));
  EXPECT_THAT(sys::ActiveOffloads(lab.NamespaceFd("n0"), "eth1", sys::Offloads::kAll), IsEmpty());
  // The link without a SPEC keeps its offloads, because no process forwards its frames.
  EXPECT_THAT(sys::ActiveOffloads(lab.NamespaceFd("n1"), "eth1", sys::Offloads::kAll),
              Contains("tx-tcp-segmentation"));
  EXPECT_TRUE(Reaches(lab.NamespaceFd("n1"), lab.NamespaceFd("n2"), "10.0.1.2"));
  EXPECT_FALSE(Reaches(lab.NamespaceFd("n0"), lab.NamespaceFd("n1"), "10.0.0.2"));
}

TEST_F(LabRootTest, NameTakenSaysByWhom) {
  Lab lab(Line(2), Options());
  const std::string error = ErrorOfBuilding<UsageError>(Line(2));
  EXPECT_THAT(error, HasSubstr("taken by a running lab (process " + std::to_string(getpid())));
  EXPECT_TRUE(Reaches(lab.NamespaceFd("n0"), lab.NamespaceFd("n1"), "10.0.0.2"));
}

TEST_F(LabRootTest, ForeignNamespaceIsLeftAlone) {
  sys::CreateNamespace(Namespace("n1"));
  EXPECT_THAT(ErrorOfBuilding<UsageError>(Line(3)), HasSubstr("exists but belongs to no lab"));
  EXPECT_TRUE(sys::NamespaceExists(Namespace("n1")));
  // The node n0, which had been created before the error occurred, has been removed again.
  EXPECT_FALSE(sys::NamespaceExists(Namespace("n0")));
  EXPECT_THAT(ListRuns(root_), IsEmpty());
  sys::DeleteNamespace(Namespace("n1"));
}

TEST_F(LabRootTest, FailureHalfWayRemovesWhatWasMade) {
  Topology topology = Line(3);
  topology.nodes[2].sysctls = {{"net.ipv4.no_such_thing", "1"}};
  EXPECT_THAT(ErrorOfBuilding<UsageError>(topology), HasSubstr("net.ipv4.no_such_thing"));
  EXPECT_FALSE(sys::NamespaceExists(Namespace("n0")));
  EXPECT_THAT(ListRuns(root_), IsEmpty());
}

TEST_F(LabRootTest, RemovalEndsProcesses) {
  Lab lab(Line(2), Options());
  const pid_t child = fork();
  if (child == 0) {
    sys::NamespaceScope scope(lab.NamespaceFd("n1"));
    while (true) pause();
  }
  const uint64_t inode = sys::NamespaceInode(lab.NamespaceFd("n1"));
  while (sys::ProcessesInNamespaces({inode}).empty()) usleep(1000);
  EXPECT_THAT(lab.Remove(), IsEmpty());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(LabRootTest, CleansUpAfterAKilledRun) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    Lab lab(Line(3), Options());
    if (write(ready[1], "x", 1) != 1) _exit(1);
    while (true) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  std::vector<std::string> problems;
  // No run is removed, because the process of the run is still alive.
  EXPECT_THAT(RemoveDeadRuns(&problems, root_), IsEmpty());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_THAT(ErrorOfBuilding<UsageError>(Line(2)), HasSubstr("run `viaduct clean`"));
  ASSERT_EQ(ListRuns(root_).size(), 1U);
  EXPECT_FALSE(ListRuns(root_)[0].alive);
  EXPECT_EQ(RemoveDeadRuns(&problems, root_).size(), 1U);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_FALSE(sys::NamespaceExists(Namespace("n0")));
  EXPECT_THAT(ListRuns(root_), IsEmpty());
}

// The "physical" interface is a veth end in a scratch namespace for the host: the lab only requires
// that the interface exists.
class PhysicalRootTest : public LabRootTest {
 protected:
  void SetUp() override {
    LabRootTest::SetUp();
    if (IsSkipped()) return;
    host_name_ = name_ + "host";
    sys::CreateNamespace(host_name_);
    scope_ = std::make_unique<sys::NamespaceScope>(sys::OpenNamespace(host_name_).get());
    sys::Netlink host;
    host.CreateVethPair({-1, "nic0", std::nullopt, 1400}, {-1, "outside", std::nullopt, 1500});
    host.SetUp(host.IfIndex("nic0"), true);
  }
  void TearDown() override {
    scope_.reset();
    if (!host_name_.empty()) sys::DeleteNamespace(host_name_);
    LabRootTest::TearDown();
  }

  Topology WithNic() const {
    Topology topology = Line(2);
    topology.nodes[0].interfaces.push_back(MakeInterface("wan", 9, 9, {"192.0.2.1/24"}));
    topology.nodes[0].interfaces.back().physical = "nic0";
    return topology;
  }

  std::string host_name_;
  std::unique_ptr<sys::NamespaceScope> scope_;
};

TEST_F(PhysicalRootTest, GoesInAndComesBackAsItWas) {
  sys::Netlink host;
  const sys::LinkInfo before = host.GetLink("nic0");
  {
    Lab lab(WithNic(), Options());
    EXPECT_FALSE(host.FindLink("nic0"));
    const sys::LinkInfo inside = lab.NetlinkOf("n0").GetLink("wan");
    EXPECT_EQ(inside.mtu, 1500);
    EXPECT_EQ(inside.mac.ToString(), "02:00:00:00:09:09");
    EXPECT_TRUE(inside.up);
    Topology other = WithNic();
    other.name += "b";
    EXPECT_THAT(ErrorOfBuilding<UsageError>(other),
                HasSubstr("physical interface nic0 is in use by lab " + name_));
  }
  const sys::LinkInfo after = host.GetLink("nic0");
  EXPECT_EQ(after.mtu, 1400);
  EXPECT_EQ(after.mac, before.mac);
  EXPECT_TRUE(after.up);
}

TEST_F(PhysicalRootTest, HasItsOffloadsAgain) {
  const auto active = [] {
    return sys::ActiveOffloads(sys::OpenCurrentNamespace().get(), "nic0", sys::Offloads::kAll);
  };
  const std::vector<std::string> before = active();
  ASSERT_THAT(before, ::testing::Not(IsEmpty()));
  {
    Topology topology = WithNic();
    topology.nodes[0].data_plane = &fib::kSimulatorPlane;
    Lab lab(topology, Options());
    EXPECT_THAT(sys::ActiveOffloads(lab.NamespaceFd("n0"), "wan", sys::Offloads::kAll), IsEmpty());
  }
  EXPECT_EQ(active(), before);
}

TEST_F(PhysicalRootTest, ComesBackAfterAKilledRun) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    Lab lab(WithNic(), Options());
    if (write(ready[1], "x", 1) != 1) _exit(1);
    while (true) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  sys::Netlink host;
  EXPECT_FALSE(host.FindLink("nic0"));
  EXPECT_THAT(ErrorOfBuilding<UsageError>(WithNic()), HasSubstr("run `viaduct clean`"));
  std::vector<std::string> problems;
  EXPECT_EQ(RemoveDeadRuns(&problems, root_).size(), 1U);
  EXPECT_THAT(problems, IsEmpty());
  const std::optional<sys::LinkInfo> back = host.FindLink("nic0");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->mtu, 1400);
  EXPECT_TRUE(back->up);
}

TEST_F(PhysicalRootTest, StaysRecordedWhileItCannotComeBack) {
  Lab lab(WithNic(), Options());
  sys::Netlink host;
  // Another interface gets the name nic0 on the host while the physical interface is in the lab.
  host.CreateVethPair({-1, "nic0", std::nullopt}, {-1, "nic1", std::nullopt});
  EXPECT_THAT(lab.Remove(), ::testing::ElementsAre(
                                HasSubstr("physical interface nic0 cannot return to the machine "
                                          "from namespace ")));
  EXPECT_EQ(ListRuns(root_).size(), 1U);
  const int taken = host.IfIndex("nic0");
  host.DeleteLink(taken);
  // The interface is deleted twice, as if its peer had been removed in between. The second deletion
  // must not fail.
  host.DeleteLink(taken);
  EXPECT_THAT(lab.Remove(), IsEmpty());
  EXPECT_TRUE(host.FindLink("nic0"));
}

TEST_F(PhysicalRootTest, MissingOrBusyIsRefused) {
  Topology topology = WithNic();
  topology.nodes[0].interfaces.back().physical = "nic7";
  EXPECT_THAT(ErrorOfBuilding<UsageError>(topology), HasSubstr("nic7 does not exist"));
  sys::Netlink host;
  host.AddAddress(host.IfIndex("nic0"), wire::IpPrefix::Parse("198.51.100.7/24"));
  EXPECT_THAT(
      ErrorOfBuilding<UsageError>(WithNic()),
      HasSubstr("nic0 is busy: this machine uses the interface with address 198.51.100.7/24"));
  EXPECT_TRUE(host.FindLink("nic0"));
}

// Whether the node's kernel has an incomplete neighbour entry for the address (/proc/net/arp, flags
// 0).
bool HasUnresolved(const Lab& lab, const char* node, const std::string& address) {
  const sys::NamespaceScope scope(lab.NamespaceFd(node));
  std::istringstream lines(ReadFile("/proc/thread-self/net/arp"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string neighbour, type, flags;
    words >> neighbour >> type >> flags;
    if (neighbour == address && flags == "0x0") return true;
  }
  return false;
}

TEST_F(LabRootTest, NeighboursAskedForInVainAreAskedForAnewWhenTheLinkIsUp) {
  Lab lab(Line(2), Options());
  const Endpoint near{"n0", "eth1"}, far{"n1", "eth0"};
  lab.SetEndsUp({near, far}, false);
  lab.SetLinkUp(near, true);
  const UniqueFd sender = UdpSocket(lab.NamespaceFd("n0"));
  const sockaddr_in to = At("10.0.0.2", 4711);
  ASSERT_EQ(sendto(sender.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to), 1);
  ASSERT_TRUE(HasUnresolved(lab, "n0", "10.0.0.2")) << "asked for while the other end is down";
  lab.SetEndsUp({near, far}, true);
  EXPECT_TRUE(lab.NetlinkOf("n0").GetLink("eth1").running);
  EXPECT_FALSE(HasUnresolved(lab, "n0", "10.0.0.2"));
  EXPECT_TRUE(Reaches(lab.NamespaceFd("n0"), lab.NamespaceFd("n1"), "10.0.0.2"));
}

bool HasTentative(Lab& lab, const char* node) {
  return std::ranges::any_of(lab.NetlinkOf(node).Addresses(), &sys::InterfaceAddress::is_tentative);
}

// The kernel sends no packets from a tentative address. It would therefore resolve neighbours only
// at its next attempt, a second later.
TEST_F(LabRootTest, AddressesCanBeSentFromWhenTheLinkIsUp) {
  Topology topology = Line(2);
  for (Node& node : topology.nodes) {
    node.interfaces[0].addresses.push_back(wire::IpPrefix::Parse("fd00::" + node.name.substr(1)));
  }
  Lab lab(topology, Options());
  const Endpoint near{"n0", "eth1"}, far{"n1", "eth0"};
  for (int outage = 0; outage < 20; ++outage) {
    lab.SetEndsUp({near, far}, false);
    lab.SetEndsUp({near, far}, true);
    EXPECT_FALSE(HasTentative(lab, "n0"));
    EXPECT_FALSE(HasTentative(lab, "n1"));
  }
}

TEST_F(LabRootTest, MonitorSeesLinksGoDownAndUp) {
  Lab lab(Line(2), Options());
  sys::LinkMonitor monitor(lab.NamespaceFd("n1"));
  monitor.Read();
  lab.SetLinkUp({"n1", "eth0"}, false);
  lab.SetLinkUp({"n1", "eth0"}, true);
  bool down = false, up = false;
  pollfd entry{monitor.fd(), POLLIN, 0};
  while (!up && poll(&entry, 1, 1000) == 1) {
    for (const sys::LinkEvent& event : monitor.Read()) {
      if (event.name != "eth0") continue;
      down = down || !event.up;
      up = down && event.up;
    }
  }
  EXPECT_TRUE(up);
}

}  // namespace
}  // namespace viaduct::lab
