// Tests a real broker with a real lab. Needs root.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/clock.h"
#include "lab/broker/client.h"
#include "lab/builder.h"
#include "plane/fib/test_route.h"
#include "sys/network/netns.h"

namespace viaduct::broker {
namespace {

using testing::HasSubstr;

constexpr int kNodes = 3;

std::string LabName() { return "brk" + std::to_string(getpid()); }

lab::Interface MakeInterface(const std::string& name, int link, int side) {
  lab::Interface interface;
  interface.name = name;
  interface.mac.bytes = {2, 0, 0, 0, static_cast<uint8_t>(link), static_cast<uint8_t>(side)};
  interface.addresses.push_back(
      wire::IpPrefix::Parse("10.0." + std::to_string(link) + "." + std::to_string(side) + "/24"));
  return interface;
}

// Returns a topology: the line a -- b -- c, with the networks 10.0.0.0/24 and 10.0.1.0/24.
lab::Topology Line() {
  lab::Topology topology;
  topology.name = LabName();
  topology.nodes.resize(kNodes);
  topology.nodes[0].name = "a";
  topology.nodes[0].interfaces = {MakeInterface("eth0", 0, 1)};
  topology.nodes[1].name = "b";
  topology.nodes[1].interfaces = {MakeInterface("eth0", 0, 2), MakeInterface("eth1", 1, 1)};
  topology.nodes[2].name = "c";
  topology.nodes[2].interfaces = {MakeInterface("eth0", 1, 2)};
  topology.links.push_back({"ab", lab::Link::Kind::kPair, {{"a", "eth0"}, {"b", "eth0"}}, {}});
  topology.links.push_back({"bc", lab::Link::Kind::kPair, {{"b", "eth1"}, {"c", "eth0"}}, {}});
  return topology;
}

fib::RouteChanges Added(const std::string& destination, const std::string& gateway) {
  fib::RouteChanges changes;
  changes.added.push_back(fib::test::MakeRoute(destination, gateway));
  return changes;
}

// Waits at most 20 s for the end of a program. Returns its wait status, or -1 after the timeout.
int StatusOf(const Program& program) {
  pollfd wait{program.exit_status.get(), POLLIN, 0};
  if (poll(&wait, 1, 20000) != 1) return -1;
  int32_t status = -1;
  return read(program.exit_status.get(), &status, sizeof status) == sizeof status ? status : -1;
}

// Runs a program to its end and returns its output.
std::string OutputOf(Client& client, const std::string& node, std::vector<std::string> arguments,
                     int* status = nullptr) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  UniqueFd output(ends[0]), input(ends[1]);
  ProgramOptions options;
  options.node = node;
  options.arguments = std::move(arguments);
  options.standard_output = options.standard_error = input.get();
  const Program program = client.Spawn(options);
  input.reset();
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(output.get(), buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  const int ended = StatusOf(program);
  if (status != nullptr) *status = ended;
  return text;
}

size_t OurRoutes(Client& client, const std::string& node) {
  const auto text = OutputOf(client, node, {"ip", "route", "show", "proto", "155"});
  return std::ranges::count(text, '\n');
}

bool Eventually(const std::function<bool()>& condition) {
  const Instant end = MonotonicClock::Now() + Duration::Seconds(60);
  while (MonotonicClock::Now() < end) {
    if (condition()) return true;
    usleep(10000);
  }
  return condition();
}

bool NothingIsLeft(const std::string& lab) {
  for (const char* node : {"a", "b", "c", "fabric"}) {
    if (sys::NamespaceExists(lab + "." + node)) return false;
  }
  return !std::filesystem::exists("/run/viaduct/" + lab);
}

class BrokerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    unsetenv("SUDO_UID");  // keeps this process running as root
    unsetenv("SUDO_GID");
  }
};

TEST_F(BrokerTest, RunsProgramsAcrossTheLabAndLeavesNothing) {
  const std::string lab = LabName();
  {
    Client client = Client::ConnectOrSpawn();
    client.CreateLab(Line());
    client.ApplyRoutes("a", Added("10.0.1.0/24", "10.0.0.2"));
    client.ApplyRoutes("c", Added("10.0.0.0/24", "10.0.1.1"));
    int status = -1;
    const auto text = OutputOf(client, "a", {"ping", "-c", "1", "-W", "5", "10.0.1.2"}, &status);
    EXPECT_EQ(status, 0) << text;
    EXPECT_THAT(text, HasSubstr("ttl=63"));
    const auto description = client.Describe();
    EXPECT_EQ(description.at("namespaces").at("b"), "/run/netns/" + lab + ".b");
    EXPECT_EQ(description.at("routes").at("a"), 1);
  }
  EXPECT_TRUE(NothingIsLeft(lab));  // the client's destructor waits for the removal of the lab
}

TEST_F(BrokerTest, OnlyItsOwnLabCanBeNamed) {
  Client client = Client::ConnectOrSpawn();
  EXPECT_THROW(client.OpenTun("a"), UsageError);  // no lab has been created yet
  client.CreateLab(Line());
  lab::Topology second = Line();
  second.name += "x";
  EXPECT_THROW(client.CreateLab(second), UsageError);
  PacketSocketOptions packet;
  packet.node = "elsewhere";
  packet.interface = "eth0";
  EXPECT_THROW(client.OpenPacketSocket(packet), UsageError);
  packet.node = "a";
  packet.interface = "lo";
  EXPECT_THROW(client.OpenPacketSocket(packet), UsageError);
  EXPECT_THROW(client.ApplyRoutes("elsewhere", Added("10.9.0.0/24", "10.0.0.2")), UsageError);
  EXPECT_THROW(client.SetLinkUp({"a", "lo"}, false), UsageError);
  EXPECT_THROW(client.Kill(1, SIGKILL), UsageError);
  EXPECT_THROW(client.Kill(getpid(), SIGKILL), UsageError);
  ProgramOptions program;
  program.node = "../../etc";
  program.arguments = {"true"};
  EXPECT_THROW(client.Spawn(program), UsageError);
}

TEST_F(BrokerTest, RoutesSurviveALinkThatGoesDownAndUp) {
  Client client = Client::ConnectOrSpawn();
  client.CreateLab(Line());
  client.ApplyRoutes("a", Added("10.0.1.0/24", "10.0.0.2"));
  client.SetLinkUp({"a", "eth0"}, false);
  EXPECT_EQ(OurRoutes(client, "a"), 0u);
  client.SetLinkUp({"a", "eth0"}, true);
  EXPECT_EQ(OurRoutes(client, "a"), 1u);
  // Another program changes the link: the kernel notifies the broker.
  OutputOf(client, "a", {"ip", "link", "set", "eth0", "down"});
  OutputOf(client, "a", {"ip", "link", "set", "eth0", "up"});
  EXPECT_TRUE(Eventually([&] { return OurRoutes(client, "a") == 1; }));
}

TEST_F(BrokerTest, AddressesAreMadeThoseThatAreGiven) {
  Client client = Client::ConnectOrSpawn();
  client.CreateLab(Line());
  const auto set = [&](const std::vector<std::string>& texts) {
    std::vector<wire::IpPrefix> addresses;
    addresses.reserve(texts.size());
    for (const std::string& text : texts) addresses.push_back(wire::IpPrefix::Parse(text));
    client.SetAddresses({"b", "eth0"}, addresses);
    return OutputOf(client, "b", {"ip", "-o", "addr", "show", "dev", "eth0"});
  };
  EXPECT_THAT(set({"10.9.0.1/24", "10.9.0.2/24", "10.8.0.1/24"}),
              AllOf(HasSubstr("10.9.0.1/24"), HasSubstr("10.9.0.2/24"), HasSubstr("10.8.0.1/24"),
                    Not(HasSubstr("10.0.0.2/24"))));
  EXPECT_THAT(set({"10.9.0.2/24"}), AllOf(HasSubstr("10.9.0.2/24"), Not(HasSubstr("10.9.0.1/24"))));
  EXPECT_THAT(set({}), Not(HasSubstr("10.")));
  EXPECT_THROW(client.SetAddresses({"b", "lo"}, {}), UsageError);
}

TEST_F(BrokerTest, AMonitorTellsTheStateOfLinksAndChangesNothing) {
  Client client = Client::ConnectOrSpawn();
  client.CreateLab(Line());
  sys::LinkMonitor monitor(client.OpenLinkMonitor("a"));
  std::optional<bool> is_running;
  const auto read = [&] {
    for (const sys::LinkEvent& event : monitor.Read()) {
      if (event.name == "eth0") is_running = event.running;
    }
    return is_running;
  };
  monitor.RequestAll();
  EXPECT_TRUE(Eventually([&] { return read() == true; }));
  // Sets the opposite end of the link of a's eth0 down, so that eth0 loses its carrier.
  client.SetLinkUp({"b", "eth0"}, false);
  EXPECT_TRUE(Eventually([&] { return read() == false; }));
  client.SetLinkUp({"b", "eth0"}, true);
  EXPECT_TRUE(Eventually([&] { return read() == true; }));
}

TEST_F(BrokerTest, TenThousandRoutes) {
  Client client = Client::ConnectOrSpawn();
  client.CreateLab(Line());
  fib::RouteChanges changes = Added("0.0.0.0/32", "10.0.0.2");
  changes.added.resize(10000, changes.added[0]);
  for (uint32_t i = 0; i < 10000; ++i) {
    changes.added[i].destination.address = wire::IpAddress::FromIpv4(0x14000000 + i);
  }
  client.ApplyRoutes("a", changes);
  EXPECT_EQ(OurRoutes(client, "a"), 10000u);
  std::swap(changes.added, changes.removed);
  client.ApplyRoutes("a", changes);
  EXPECT_EQ(OurRoutes(client, "a"), 0u);
  try {
    client.ApplyRoutes("a", Added("10.9.0.0/24", "10.0.0.1"));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("1 of 1 routes refused: 10.9.0.0/24 via 10.0.0.1"));
  }
}

TEST_F(BrokerTest, ProgramsFailAndEndAsTheySay) {
  Client client = Client::ConnectOrSpawn();
  client.CreateLab(Line());
  ProgramOptions options;
  options.node = "a";
  options.arguments = {"no-such-program-here"};
  EXPECT_THROW(client.Spawn(options), EnvironmentError);
  options.arguments = {"true"};
  options.working_directory = "/no/such/directory";
  EXPECT_THROW(client.Spawn(options), UsageError);
  options.working_directory.clear();
  options.arguments = {"sh", "-c", "exit $CODE"};
  options.environment = {{"CODE", "7"}};
  EXPECT_EQ(WEXITSTATUS(StatusOf(client.Spawn(options))), 7);
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  options.standard_input = null.get();
  options.terminal = true;  // /dev/null is not a terminal
  EXPECT_THROW(client.Spawn(options), UsageError);
  options.standard_input = -1;
  options.terminal = false;
  options.arguments = {"sleep", "600"};
  const Program sleeper = client.Spawn(options);
  client.Kill(sleeper.pid, SIGTERM);
  EXPECT_EQ(WTERMSIG(StatusOf(sleeper)), SIGTERM);
  // A signal after the program's end is not an error, and no other process gets the signal.
  client.Kill(sleeper.pid, SIGTERM);
}

TEST_F(BrokerTest, SocketsAreReadyForTheirPorts) {
  Client client = Client::ConnectOrSpawn();
  client.CreateLab(Line());
  PacketSocketOptions packet;
  packet.node = "b";
  packet.interface = "eth1";
  packet.filter = sys::PacketFilter::Compile("icmp");
  NodeSocket ring = client.OpenPacketSocket(packet);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = ring.ifindex;
  ASSERT_EQ(bind(ring.fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  OutputOf(client, "c", {"ping", "-c", "1", "-W", "5", "10.0.1.1"});
  char frame[2000];
  // The socket receives the echo request, but not the node's own reply (PACKET_IGNORE_OUTGOING).
  ASSERT_EQ(recv(ring.fd.get(), frame, sizeof frame, 0), 98);
  EXPECT_LT(recv(ring.fd.get(), frame, sizeof frame, 0), 0);
  packet.filter = sys::PacketFilter({{0xFFFF, 0, 0, 0}});
  EXPECT_THROW(client.OpenPacketSocket(packet), Error) << "no instruction";
  packet.filter = sys::PacketFilter(std::vector<sock_filter>(5000, {0x06, 0, 0, 1}));
  EXPECT_THROW(client.OpenPacketSocket(packet), UsageError) << "too many";

  ControlSocketOptions control;
  control.node = "a";
  control.interface = "eth0";
  control.number = 698;
  NodeSocket sender = client.OpenControlSocket(control);
  control.node = "b";
  NodeSocket receiver = client.OpenControlSocket(control);
  control.interface = "eth1";
  client.OpenControlSocket(control);  // a socket on another interface may have the same port
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(698);
  to.sin_addr.s_addr = htonl(0x0A0000FF);  // 10.0.0.255
  ASSERT_EQ(sendto(sender.fd.get(), "hello", 5, 0, reinterpret_cast<sockaddr*>(&to), sizeof to), 5);
  pollfd wait{receiver.fd.get(), POLLIN, 0};
  ASSERT_EQ(poll(&wait, 1, 5000), 1);
  EXPECT_EQ(recv(receiver.fd.get(), frame, sizeof frame, 0), 5);
  control.kind = ControlSocketOptions::Kind::kRawIp;
  control.number = 89;
  EXPECT_GT(client.OpenControlSocket(control).ifindex, 0);
  control.family = wire::Family::kIpv6;
  control.kind = ControlSocketOptions::Kind::kUdp;
  control.number = 521;
  EXPECT_GT(client.OpenControlSocket(control).ifindex, 0);
}

TEST_F(BrokerTest, TransportSocketsBelongToTheirNode) {
  Client client = Client::ConnectOrSpawn();
  client.CreateLab(Line());
  for (const auto kind : {TransportSocketOptions::Kind::kTcp, TransportSocketOptions::Kind::kUdp}) {
    const UniqueFd inside = client.OpenTransportSocket({"a", wire::Family::kIpv4, kind});
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(0x0A000001);  // 10.0.0.1, an address that only the node has
    EXPECT_EQ(bind(inside.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_NE(fcntl(inside.get(), F_GETFL) & O_NONBLOCK, 0);
  }
  const UniqueFd ipv6 = client.OpenTransportSocket({"a", wire::Family::kIpv6});
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  EXPECT_EQ(bind(ipv6.get(), reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  EXPECT_THROW(client.OpenTransportSocket({"nobody"}), UsageError);
}

TEST_F(BrokerTest, KilledClientLeavesNothing) {
  const std::string lab = LabName();
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  UniqueFd ready(ends[0]), says(ends[1]);
  const int child = fork();
  if (child == 0) {
    lab::Topology topology = Line();
    topology.name = lab;
    Client client = Client::ConnectOrSpawn();
    client.CreateLab(topology);
    ProgramOptions options;
    options.node = "a";
    // The program leaves an orphan that ignores SIGTERM, in a separate session.
    options.arguments = {"sh", "-c", "trap '' TERM; setsid sleep 601 & exit 0"};
    const Program program = client.Spawn(options);
    StatusOf(program);
    if (write(says.get(), "x", 1) == 1) pause();
    _exit(1);
  }
  says.reset();
  char byte;
  ASSERT_EQ(read(ready.get(), &byte, 1), 1);
  EXPECT_TRUE(sys::NamespaceExists(lab + ".a"));
  const UniqueFd space = sys::OpenNamespace(lab + ".a");
  const auto inode = sys::NamespaceInode(space.get());
  EXPECT_EQ(sys::ProcessesInNamespaces({inode}).size(), 1u);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(Eventually([&] { return NothingIsLeft(lab); }));
  EXPECT_TRUE(sys::ProcessesInNamespaces({inode}).empty());
}

TEST_F(BrokerTest, SignalsEndTheBrokerInOrder) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const std::string lab = LabName();
    Client client = Client::ConnectOrSpawn();
    client.CreateLab(Line());
    const int broker = client.Describe().at("broker_pid");
    kill(broker, SIGHUP);  // the end of a terminal (SIGHUP) does not end the broker
    client.Describe();
    kill(broker, signal);
    EXPECT_TRUE(Eventually([&] { return NothingIsLeft(lab); }));
    EXPECT_THROW(client.Describe(), Error);
  }
}

TEST_F(BrokerTest, DetachedLabStaysUntilItIsTakenDown) {
  const std::string lab = LabName();
  EXPECT_THROW(Client::ConnectToLab(lab), UsageError);
  {
    Client client = Client::ConnectOrSpawn();
    client.CreateLab(Line());
    client.Detach();
  }
  {
    Client client = Client::ConnectToLab(lab);
    EXPECT_EQ(OutputOf(client, "b", {"cat", "/sys/class/net/lo/ifindex"}), "1\n");
  }
  {
    Client client = Client::ConnectToLab(lab);
    client.DestroyLab();
    EXPECT_TRUE(NothingIsLeft(lab));
  }
  EXPECT_THROW(Client::ConnectToLab(lab), UsageError);
}

TEST_F(BrokerTest, ProgramsRunAsTheInvokingUser) {
  // A child process runs the broker's client, because the client drops its privileges permanently.
  const int child = fork();
  if (child == 0) {
    setenv("SUDO_UID", "65534", 1);
    setenv("SUDO_GID", "65534", 1);
    try {
      lab::Topology topology = Line();
      Client client = Client::ConnectOrSpawn();
      if (geteuid() != 65534) _exit(2);
      client.CreateLab(topology);
      if (OutputOf(client, "a", {"id", "-u"}) != "65534\n") _exit(3);
      if (OutputOf(client, "a", {"grep", "CapEff", "/proc/self/status"}).find("0000000000000000") ==
          std::string::npos) {
        _exit(4);
      }
      client.ApplyRoutes("a", Added("10.0.1.0/24", "10.0.0.2"));
    } catch (const Error& error) {
      fprintf(stderr, "%s\n", error.what());
      _exit(5);
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Connects to the broker of a lab as another user, in a child process. Returns 0 if the broker
// accepts the user, 1 if it refuses, 2 after any other failure.
int ConnectAs(uid_t uid, const std::string& lab) {
  const int child = fork();
  if (child == 0) {
    if (setresuid(uid, uid, uid) != 0) _exit(2);
    try {
      Client::ConnectToLab(lab).Describe();
    } catch (const Error& error) {
      _exit(error.status() == ExitStatus::kEnvironment ? 1 : 2);
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST_F(BrokerTest, DetachedLabIsItsOwnersAlone) {
  const std::string lab = LabName();
  setenv("SUDO_UID", "65534", 1);
  const int child = fork();
  if (child == 0) {
    lab::Topology topology = Line();
    topology.name = lab;
    Client client = Client::ConnectOrSpawn();
    client.CreateLab(topology);
    client.Detach();
    _exit(0);
  }
  unsetenv("SUDO_UID");
  waitpid(child, nullptr, 0);
  EXPECT_EQ(ConnectAs(65534, lab), 0);
  EXPECT_EQ(ConnectAs(1, lab), 1);
  Client::ConnectToLab(lab).DestroyLab();
  EXPECT_TRUE(NothingIsLeft(lab));
}

TEST_F(BrokerTest, ForkedCopyOfAClientDoesNotEndIt) {
  Client client = Client::ConnectOrSpawn();
  client.CreateLab(Line());
  const int child = fork();
  if (child == 0) {
    { Client copy = std::move(client); }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(client.Describe().at("name"), LabName());
}

TEST_F(BrokerTest, WithoutRootItSaysWhatToDo) {
  const int child = fork();
  if (child == 0) {
    if (setresuid(65534, 65534, 65534) != 0) _exit(2);
    try {
      Client::ConnectOrSpawn();
    } catch (const EnvironmentError& error) {
      _exit(std::string(error.what()).find("sudo") != std::string::npos ? 0 : 3);
    }
    _exit(4);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace viaduct::broker
