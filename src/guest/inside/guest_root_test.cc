// Tests of the agent on the host's kernel, in namespaces that disappear with the test: the agent's
// protocol, and its operations on nodes and sockets.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netlink/msg.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

#include "base/error.h"
#include "guest/inside/nodes.h"
#include "guest/inside/state.h"
#include "guest/inside/transport.h"
#include "guest/service/agent.h"
#include "guest/service/sockets.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

namespace viaduct::guest::inside {
namespace {

using agent::BytesOf;
using agent::Code;
using agent::Endpoint;
using service::Agent;
using service::Sockets;
using Bytes = std::vector<std::byte>;

struct Event {
  Code code;
  uint16_t flags;
  uint32_t subject;
  uint32_t request;
  Bytes payload;
  template <class T>
  T As(size_t offset = 0) const {
    agent::Operation operation;
    operation.payload = payload;
    return operation.As<T>(offset);
  }
};

Endpoint At(const char* address, uint16_t port) {
  return agent::ToEndpoint(wire::IpAddress::Parse(address), port);
}

// Returns the number of routes with several next hops in the socket's network namespace.
int CountMultipathRoutes(sys::Netlink& netlink) {
  sys::NetlinkMessage query(RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP);
  query.AppendHeader(rtmsg{});
  int count = 0;
  netlink.socket().Query(query, "list routes", [&](const nlmsghdr* message) {
    auto* header = const_cast<nlmsghdr*>(message);
    if (nlmsg_find_attr(header, sizeof(rtmsg), RTA_MULTIPATH) != nullptr) ++count;
  });
  return count;
}

// The simulator's side of a guest. The guest's agent runs in the test's thread, when this object
// calls Agent::RunOnce().
class Guest {
 public:
  Guest() : sockets_(MakePair()) {
    agent_ = std::make_unique<Agent>(std::make_unique<SocketTransport>(std::move(sockets_.second)));
    nodes_ = std::make_unique<Nodes>(*agent_);
    sockets_of_agent_ = std::make_unique<Sockets>(
        *agent_, [this](const auto& request) { return nodes_->OpenSocket(request); });
    state_ = std::make_unique<State>(*agent_, *nodes_);
  }

  void Ask(Code code, uint32_t subject, std::initializer_list<std::span<const std::byte>> parts,
           uint16_t flags = 0) {
    writer_.Add(code, subject, ++request_, parts, flags);
  }
  // Sends the queued requests and runs the agent until it has nothing to do for 20 ms.
  void Settle() {
    writer_.Flush();
    while (agent_->RunOnce(Duration::Milliseconds(20))) Read();
  }
  const Event* Find(Code code, uint32_t subject) {
    for (const Event& event : events_) {
      if (event.code == code && event.subject == subject) return &event;
    }
    return nullptr;
  }
  // Runs the agent until an event arrives; packets between namespaces take up to 60 s on a busy
  // machine.
  bool Await(Code code, uint32_t subject) {
    for (int i = 0; i < 3000 && !Find(code, subject); ++i) Settle();
    return Find(code, subject) != nullptr;
  }
  int ErrorOf(uint32_t subject) {
    const Event* failed = Find(Code::kFailed, subject);
    return failed == nullptr ? 0 : failed->As<agent::Failed>().error_number;
  }
  std::vector<Event>& events() { return events_; }
  Nodes& nodes() { return *nodes_; }
  Sockets& sockets() { return *sockets_of_agent_; }

  void Node(uint32_t number) {
    Ask(Code::kCreateNode, number, {BytesOf("ksock-n" + std::to_string(number))});
  }
  void Open(uint32_t socket, uint32_t node, int type = SOCK_STREAM, uint64_t credit = 1 << 20,
            int family = AF_INET, int protocol = 0) {
    const agent::OpenSocket open{node,
                                 static_cast<uint16_t>(family),
                                 static_cast<uint16_t>(type),
                                 static_cast<uint32_t>(protocol),
                                 0,
                                 credit};
    Ask(Code::kOpenSocket, socket, {BytesOf(open)});
  }
  void Listen(uint32_t socket, const Endpoint& endpoint, uint64_t credit = 1 << 20) {
    Ask(Code::kBind, socket, {BytesOf(endpoint)});
    Ask(Code::kListen, socket, {BytesOf(agent::Listen{16, 0, credit})});
  }
  void SendZeros(uint32_t socket, uint64_t count) {
    Ask(Code::kSend, socket, {BytesOf(count)}, agent::kZeros);
  }
  uint64_t Sum(Code code, uint32_t subject) {
    uint64_t sum = 0;
    for (const Event& event : events_) {
      if (event.code != code || event.subject != subject) continue;
      sum += (event.flags & agent::kZeros) != 0 || code == Code::kWritten ? event.As<uint64_t>()
                                                                          : event.payload.size();
    }
    return sum;
  }

 private:
  static std::pair<UniqueFd, UniqueFd> MakePair() {
    int pair[2];
    SystemCall("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
    return {UniqueFd(pair[0]), UniqueFd(pair[1])};
  }
  void Read() {
    std::vector<std::byte> buffer(agent::kMaxMessage);
    ssize_t length;
    while ((length = recv(sockets_.first.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0) {
      reader_.Read(std::span(buffer).first(static_cast<size_t>(length)),
                   [&](const agent::Operation& operation) {
                     events_.push_back({operation.code, operation.flags, operation.subject,
                                        operation.request,
                                        Bytes(operation.payload.begin(), operation.payload.end())});
                   });
    }
  }

  std::pair<UniqueFd, UniqueFd> sockets_;
  agent::MessageReader reader_;
  agent::MessageWriter writer_{
      agent::kMaxMessage, [this](std::span<const std::byte> message) {
        SystemCall("send", send(sockets_.first.get(), message.data(), message.size(), 0));
      }};
  uint32_t request_ = 0;
  std::vector<Event> events_;
  std::unique_ptr<Agent> agent_;
  std::unique_ptr<Nodes> nodes_;
  std::unique_ptr<Sockets> sockets_of_agent_;
  std::unique_ptr<State> state_;
};

class GuestTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
  }
  // Runs a test in a separate thread with network and mount namespaces of its own, which disappear
  // with the thread.
  static void Run(const std::function<void(Guest&)>& test) {
    std::thread([&] {
      SystemCall("unshare", unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_FS));
      SystemCall("mount", mount("", "/", "", MS_REC | MS_PRIVATE, nullptr));
      SystemCall("mount", mount("tmpfs", "/run", "tmpfs", 0, nullptr));
      Guest guest;
      test(guest);
    }).join();
  }
};

TEST_F(GuestTest, TcpConnectsCarriesAndCloses) {
  Run([](Guest& guest) {
    guest.Node(1);
    guest.Open(10, 1);
    guest.Listen(10, At("0.0.0.0", 5001));
    guest.Open(11, 1);
    guest.Ask(Code::kConnect, 11, {BytesOf(At("127.0.0.1", 5001))});
    guest.Ask(Code::kSend, 11, {BytesOf("hello")});
    guest.Settle();
    ASSERT_TRUE(guest.Find(Code::kBound, 10));
    EXPECT_EQ(guest.Find(Code::kBound, 10)->As<Endpoint>().port, 5001);
    ASSERT_TRUE(guest.Find(Code::kConnected, 11));
    const auto connected = guest.Find(Code::kConnected, 11)->As<agent::Connected>();
    EXPECT_EQ(connected.peer.port, 5001);
    ASSERT_TRUE(guest.Find(Code::kAccepted, 10));
    const auto accepted = guest.Find(Code::kAccepted, 10)->As<agent::Accepted>();
    EXPECT_EQ(accepted.peer.port, connected.local.port);
    const Event* data = guest.Find(Code::kData, accepted.socket);
    ASSERT_TRUE(data);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(data->payload.data()), 5), "hello");
    EXPECT_EQ(guest.Sum(Code::kWritten, 11), 5u);

    guest.Ask(Code::kShutdown, 11, {BytesOf(uint32_t{SHUT_WR})});
    guest.Settle();
    EXPECT_TRUE(guest.Find(Code::kEnd, accepted.socket));
    EXPECT_FALSE(guest.Find(Code::kEnd, 11));
    guest.Ask(Code::kClose, accepted.socket, {});
    guest.Settle();
    EXPECT_TRUE(guest.Find(Code::kEnd, 11));
    guest.Ask(Code::kClose, 11, {});
    guest.Ask(Code::kClose, 10, {});
    guest.Settle();
    EXPECT_EQ(guest.sockets().size(), 0u);
  });
}

TEST_F(GuestTest, AReaderWithoutCreditStopsTheSender) {
  Run([](Guest& guest) {
    constexpr uint64_t kTotal = 32 << 20;
    guest.Node(1);
    guest.Open(10, 1);
    guest.Listen(10, At("0.0.0.0", 5001), 1000);
    guest.Open(11, 1);
    guest.Ask(Code::kConnect, 11, {BytesOf(At("127.0.0.1", 5001))});
    guest.SendZeros(11, kTotal);
    guest.Settle();
    ASSERT_TRUE(guest.Find(Code::kAccepted, 10));
    const uint32_t accepted = guest.Find(Code::kAccepted, 10)->As<agent::Accepted>().socket;
    EXPECT_EQ(guest.Sum(Code::kData, accepted), 1000u);
    const uint64_t written = guest.Sum(Code::kWritten, 11);
    EXPECT_LT(written, kTotal);  // only as much as the buffers hold was written
    // Requests the end of the stream, which the peer receives after the data that was sent before.
    guest.Ask(Code::kShutdown, 11, {BytesOf(uint32_t{SHUT_WR})});
    guest.Ask(Code::kCredit, accepted, {BytesOf(uint64_t{kTotal})});
    guest.Settle();
    EXPECT_EQ(guest.Sum(Code::kData, accepted), kTotal);
    EXPECT_EQ(guest.Sum(Code::kWritten, 11), kTotal);
    EXPECT_TRUE(guest.Find(Code::kEnd, accepted));
  });
}

TEST_F(GuestTest, CloseSendsWhatWasSentAndAbortResets) {
  Run([](Guest& guest) {
    constexpr uint64_t kTotal = 16 << 20;
    guest.Node(1);
    guest.Open(10, 1);
    guest.Listen(10, At("0.0.0.0", 5001), kTotal + 1);
    for (const uint32_t client : {11, 12}) {
      guest.Open(client, 1);
      guest.Ask(Code::kConnect, client, {BytesOf(At("127.0.0.1", 5001))});
    }
    guest.Settle();
    guest.SendZeros(11, kTotal);
    guest.Ask(Code::kClose, 11, {});
    guest.Ask(Code::kClose, 12, {}, agent::kAbort);
    guest.Settle();
    std::vector<uint32_t> accepted;
    for (const Event& event : guest.events()) {
      if (event.code == Code::kAccepted) accepted.push_back(event.As<agent::Accepted>().socket);
    }
    ASSERT_EQ(accepted.size(), 2u);
    EXPECT_EQ(guest.Sum(Code::kData, accepted[0]), kTotal);
    EXPECT_TRUE(guest.Find(Code::kEnd, accepted[0]));
    ASSERT_TRUE(guest.Find(Code::kBroken, accepted[1]));
    EXPECT_EQ(guest.Find(Code::kBroken, accepted[1])->As<uint32_t>(), uint32_t{ECONNRESET});
  });
}

TEST_F(GuestTest, ErrorsComeBackWithTheirNumber) {
  Run([](Guest& guest) {
    guest.Node(1);
    guest.Open(10, 1);
    guest.Listen(10, At("0.0.0.0", 5001));
    guest.Open(11, 1);
    guest.Ask(Code::kBind, 11, {BytesOf(At("127.0.0.1", 5001))});
    guest.Open(12, 1);
    guest.Ask(Code::kConnect, 12, {BytesOf(At("127.0.0.1", 5002))});
    guest.Open(13, 1);
    guest.Ask(Code::kConnect, 13, {BytesOf(At("10.9.9.9", 5002))});
    guest.Ask(Code::kCredit, 99, {BytesOf(uint64_t{1})});
    guest.Ask(Code::kWriteSysctl, 1, {BytesOf(std::string_view("net.no.such\0001", 13))});
    guest.Node(1);
    guest.Settle();
    EXPECT_EQ(guest.ErrorOf(11), EADDRINUSE);
    EXPECT_EQ(guest.ErrorOf(12), ECONNREFUSED);
    EXPECT_EQ(guest.ErrorOf(13), ENETUNREACH);
    EXPECT_EQ(guest.ErrorOf(99), EBADF);
    std::vector<int> of_node;
    for (const Event& event : guest.events()) {
      if (event.subject == 1 && event.code == Code::kFailed) {
        of_node.push_back(event.As<agent::Failed>().error_number);
      }
    }
    EXPECT_THAT(of_node, testing::ElementsAre(EINVAL, EEXIST));
  });
}

TEST_F(GuestTest, DatagramsKeepTheirBoundariesSenderAndInfo) {
  Run([](Guest& guest) {
    guest.Node(1);
    for (const int family : {AF_INET, AF_INET6}) {
      guest.events().clear();
      const bool ipv4 = family == AF_INET;
      const uint32_t receiver = ipv4 ? 20 : 30;
      guest.Open(receiver, 1, SOCK_DGRAM, 1 << 20, family);
      const int on = 1;
      const int level = ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
      for (const int name :
           {ipv4 ? IP_PKTINFO : IPV6_RECVPKTINFO, ipv4 ? IP_RECVTTL : IPV6_RECVHOPLIMIT,
            ipv4 ? IP_RECVTOS : IPV6_RECVTCLASS}) {
        guest.Ask(Code::kSetOption, receiver,
                  {BytesOf(agent::SocketOption{level, name}), BytesOf(on)});
      }
      guest.Ask(Code::kBind, receiver, {BytesOf(At(ipv4 ? "0.0.0.0" : "::", 7000))});
      guest.Open(receiver + 1, 1, SOCK_DGRAM, 1 << 20, family);
      const Endpoint to = At(ipv4 ? "127.0.0.1" : "::1", 7000);
      guest.Ask(Code::kSend, receiver + 1, {BytesOf(to), BytesOf("one")}, agent::kToEndpoint);
      guest.Ask(Code::kSend, receiver + 1, {BytesOf(to)}, agent::kToEndpoint);
      guest.Ask(Code::kSend, receiver + 1, {BytesOf(to), BytesOf(uint64_t{1200})},
                agent::kToEndpoint | agent::kZeros);
      guest.Settle();
      std::vector<uint64_t> sizes;
      for (const Event& event : guest.events()) {
        if (event.code != Code::kData) continue;
        ASSERT_EQ(event.flags | agent::kZeros,
                  agent::kToEndpoint | agent::kWithInfo | agent::kZeros);
        const auto info = event.As<agent::PacketInfo>(sizeof(Endpoint));
        EXPECT_EQ(info.ttl, 64);
        EXPECT_EQ(info.tos, 0);
        EXPECT_EQ(info.ifindex, 1);
        EXPECT_EQ(agent::FromEndpoint(info.destination), agent::FromEndpoint(to));
        const size_t front = sizeof(Endpoint) + sizeof(agent::PacketInfo);
        sizes.push_back((event.flags & agent::kZeros) != 0 ? event.As<uint64_t>(front)
                                                           : event.payload.size() - front);
      }
      EXPECT_THAT(sizes, testing::ElementsAre(3, 0, 1200));
    }
  });
}

TEST_F(GuestTest, NodesAreApartAndCarryWhatTheyAreGiven) {
  Run([](Guest& guest) {
    guest.Node(1);
    guest.Node(2);
    // Creates the devices with which a guest boots: they are in the guest's first namespace and are
    // identified by their MAC addresses.
    sys::Netlink root;
    const auto mac = [](uint8_t last) { return wire::MacAddress{{2, 0, 0, 0, 0, last}}; };
    root.CreateVethPair({-1, "a", mac(1)}, {-1, "b", mac(2)});
    for (const uint8_t number : {1, 2}) {
      agent::MoveInterface move{};
      move.mac[0] = 2;
      move.mac[5] = number;
      std::string_view("sim0").copy(move.name, sizeof move.name);
      guest.Ask(Code::kMoveInterface, number, {BytesOf(move)});
    }
    guest.Settle();
    for (const uint8_t number : {1, 2}) {
      const Event* moved = nullptr;
      for (const Event& event : guest.events()) {
        if (event.code == Code::kDone && event.subject == number && !event.payload.empty()) {
          moved = &event;
        }
      }
      ASSERT_TRUE(moved);
      const int ifindex = moved->As<agent::Interface>().ifindex;
      guest.Ask(Code::kSetLink, number, {BytesOf(agent::SetLink{ifindex, 1, 1400, -1})});
      const std::string v4 = "10.0.0." + std::to_string(number);
      const std::string v6 = "fd00::" + std::to_string(number);
      guest.Ask(Code::kAddAddress, number,
                {BytesOf(agent::InterfaceAddress{ifindex, 24, At(v4.c_str(), 0)})});
      guest.Ask(Code::kAddAddress, number,
                {BytesOf(agent::InterfaceAddress{ifindex, 64, At(v6.c_str(), 0)})});
      for (int i = 0; i < 2; ++i) {  // the second round replaces the routes of the first round
        const std::array hops{agent::RouteHop{ifindex, 0, At("10.0.0.77", 0)},
                              agent::RouteHop{ifindex, 0, At("10.0.0.78", 0)}};
        guest.Ask(Code::kAddRoute, number,
                  {BytesOf(agent::Route{16, 0, 0, 1, At("10.7.0.0", 0)}), BytesOf(hops[0])});
        guest.Ask(Code::kAddRoute, number,
                  {BytesOf(agent::Route{16, 0, 0, 2, At("10.8.0.0", 0)}), BytesOf(hops)});
      }
      guest.Ask(Code::kRemoveRoute, number,
                {BytesOf(agent::Route{16, 0, 0, 1, At("10.7.0.0", 0)}),
                 BytesOf(agent::RouteHop{ifindex, 0, Endpoint{}})});
      guest.Ask(Code::kWriteSysctl, number,
                {BytesOf(std::string_view("net.ipv4.ip_default_ttl\00033", 26))});
    }
    guest.Open(10, 1);
    guest.Listen(10, At("0.0.0.0", 80));
    guest.Open(11, 2);
    guest.Ask(Code::kConnect, 11, {BytesOf(At("10.0.0.1", 80))});
    guest.Open(12, 2, SOCK_STREAM, 0, AF_INET6);
    guest.Ask(Code::kConnect, 12, {BytesOf(At("fd00::1", 81))});
    guest.Settle();
    EXPECT_EQ(guest.ErrorOf(1), 0);
    EXPECT_EQ(guest.ErrorOf(2), 0);
    EXPECT_TRUE(guest.Await(Code::kConnected, 11));
    EXPECT_TRUE(guest.Await(Code::kFailed, 12));
    // The refusal shows that the peer node was reached over IPv6; no socket listens on it.
    EXPECT_EQ(guest.ErrorOf(12), ECONNREFUSED);
    sys::Netlink& netlink = guest.nodes().Get(1).netlink;
    const auto link = netlink.GetLink("sim0");
    EXPECT_EQ(link.mtu, 1400);
    EXPECT_EQ(CountMultipathRoutes(netlink), 1);
    guest.Ask(Code::kRemoveAddress, 1,
              {BytesOf(agent::InterfaceAddress{link.ifindex, 24, At("10.0.0.1", 0)})});
    guest.Settle();
    for (const auto& address : guest.nodes().Get(1).netlink.Addresses(link.ifindex)) {
      EXPECT_NE(address.ToString(), "10.0.0.1/24");
    }
  });
}

// Checks the rules that ns3::KernelUpcalls adds: they select a routing table for packets that no
// other rule routes, by the interface on which the packets arrive.
TEST_F(GuestTest, LastRulesAreForWhatComesInOnAnInterface) {
  Run([](Guest& guest) {
    guest.Node(1);
    constexpr int kLoopback = 1;
    guest.Ask(Code::kSetLink, 1, {BytesOf(agent::SetLink{kLoopback, 1, 0, -1})});
    guest.Ask(Code::kAddAddress, 1,
              {BytesOf(agent::InterfaceAddress{kLoopback, 24, At("10.5.0.1", 0), 1})});
    guest.Ask(Code::kAddRoute, 1,
              {BytesOf(agent::Route{0, 0, 77, 1, At("0.0.0.0", 0)}),
               BytesOf(agent::RouteHop{kLoopback, 0, Endpoint{}})});
    guest.Settle();
    const auto is_routed = [&](const char* destination) {
      const sys::NamespaceScope scope(guest.nodes().Get(1).fd.get());
      const UniqueFd datagrams(SystemCall("socket", socket(AF_INET, SOCK_DGRAM, 0)));
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_port = htons(9);
      inet_pton(AF_INET, destination, &to.sin_addr);
      return connect(datagrams.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    };
    EXPECT_FALSE(is_routed("10.9.0.1"));
    EXPECT_FALSE(is_routed("10.5.0.9")) << "the address has no network";
    guest.Ask(Code::kAddRule, 1, {BytesOf(agent::Rule{0, 77, 40000, 1, At("0.0.0.0", 0)})});
    guest.Settle();
    EXPECT_EQ(guest.ErrorOf(1), 0);
    EXPECT_TRUE(is_routed("10.9.0.1")) << "as the node's own packets";
    guest.Ask(Code::kAddRule, 1, {BytesOf(agent::Rule{0, 77, 40000, 99, At("0.0.0.0", 0)})});
    guest.Settle();
    EXPECT_EQ(guest.ErrorOf(1), ENXIO) << "no such interface";
  });
}

TEST_F(GuestTest, ToldIsTheStateOfTheNodeThatIsAskedFor) {
  Run([](Guest& guest) {
    guest.Node(1);
    guest.Node(2);
    guest.Open(10, 1);
    guest.Listen(10, At("0.0.0.0", 5001));
    guest.Open(11, 1);
    guest.Ask(Code::kConnect, 11, {BytesOf(At("127.0.0.1", 5001))});
    guest.SendZeros(11, 100'000);
    guest.Settle();
    guest.nodes().Get(1).netlink.CreateVethPair({-1, "wire", std::nullopt},
                                                {guest.nodes().Get(2).fd.get(), "w", std::nullopt});
    sys::NetlinkMessage qdisc_request(RTM_NEWQDISC, NLM_F_CREATE);
    tcmsg place{};
    place.tcm_ifindex = guest.nodes().Get(1).netlink.IfIndex("wire");
    place.tcm_parent = TC_H_ROOT;
    qdisc_request.AppendHeader(place);
    qdisc_request.Put(TCA_KIND, std::string_view("pfifo"));
    guest.nodes().Get(1).netlink.socket().Request(qdisc_request, "add a qdisc");
    const uint32_t all = agent::kSampleTcp | agent::kSampleQdiscs | agent::kSampleCounters;
    guest.events().clear();
    guest.Ask(agent::kSampleState, 1, {BytesOf(all)});
    guest.Ask(agent::kSampleState, 2, {BytesOf(all)});
    guest.Settle();
    std::vector<uint16_t> ports;
    uint64_t acked = 0;
    for (const Event& event : guest.events()) {
      if (event.code != agent::kTcpState) continue;
      EXPECT_EQ(event.subject, 1u);
      const auto state = event.As<agent::TcpState>();
      ports.push_back(state.peer.port == 5001 ? state.peer.port : state.local.port);
      const auto info = event.As<tcp_info>(sizeof state);
      EXPECT_EQ(info.tcpi_state, TCP_ESTABLISHED);
      EXPECT_NE(state.congestion_control[0], '\0');
      acked += state.peer.port == 5001 && info.tcpi_unacked == 0 ? 1 : 0;
    }
    EXPECT_THAT(ports, testing::ElementsAre(5001, 5001)) << "both ends, not the listener";
    EXPECT_EQ(acked, 1u);
    const Event* qdisc = guest.Find(agent::kQdiscState, 1);
    ASSERT_TRUE(qdisc);
    EXPECT_EQ(agent::FixedText(qdisc->As<agent::QdiscState>().kind), "pfifo");
    EXPECT_EQ(agent::FixedText(qdisc->As<agent::QdiscState>().device), "wire");
    EXPECT_FALSE(guest.Find(agent::kQdiscState, 2));
    const Event* counters = guest.Find(agent::kCounterState, 1);
    ASSERT_TRUE(counters);
    EXPECT_THAT(std::string(reinterpret_cast<const char*>(counters->payload.data()),
                            counters->payload.size()),
                testing::StartsWith("Ip: "));
    EXPECT_TRUE(guest.Find(agent::kCounterState, 2));
    EXPECT_EQ(guest.ErrorOf(1), 0);
  });
}

TEST_F(GuestTest, OptionsAreSetAndRead) {
  Run([](Guest& guest) {
    guest.Node(1);
    guest.Open(10, 1);
    const int on = 1;
    const agent::SocketOption no_delay{IPPROTO_TCP, TCP_NODELAY};
    guest.Ask(Code::kSetOption, 10, {BytesOf(no_delay), BytesOf(on)});
    guest.Ask(Code::kGetOption, 10, {BytesOf(no_delay)});
    const agent::SocketOption unknown{IPPROTO_TCP, 9999};
    guest.Ask(Code::kSetOption, 10, {BytesOf(unknown), BytesOf(on)});
    guest.Settle();
    ASSERT_TRUE(guest.Find(Code::kOption, 10));
    EXPECT_EQ(guest.Find(Code::kOption, 10)->As<int>(sizeof no_delay), 1);
    EXPECT_EQ(guest.ErrorOf(10), ENOPROTOOPT);
  });
}

}  // namespace
}  // namespace viaduct::guest::inside
