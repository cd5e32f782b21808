// Compares the TCP of a guest's kernel with the TCP of the host's kernel: each talks to the same
// scripted peer, and the test compares the traces of their packets, which are texts.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/wire/layers.h"
#include "base/wire/transport.h"
#include "guest/test/real_guest.h"
#include "guest/test/tcp_subject.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/process/find_program.h"

namespace viaduct::guest {

using agent::BytesOf;
using agent::Code;
namespace flag = wire::tcp_flag;

namespace {

const wire::MacAddress kNodeMac{{2, 0, 0, 0, 0, 1}};
const wire::MacAddress kPeerMac{{2, 0, 0, 0, 0, 2}};
constexpr uint16_t kPeerPort = 4000;

std::string FlagsOf(uint8_t flags) {
  std::string text;
  for (const auto& [bit, letter] :
       {std::pair{flag::kSyn, 'S'}, {flag::kFin, 'F'}, {flag::kRst, 'R'}, {flag::kAck, '.'}}) {
    if ((flags & bit) != 0) text += letter;
  }
  return text;  // PSH is ignored (it is set on the last segment of a burst)
}

// Returns a line of the trace for a segment, such as "F. 5:105 ack 1". Sequence numbers are
// relative to the initial ones and have the range of the segment's bytes, as tcpdump prints them.
std::string Line(char direction, uint8_t flags, uint32_t sequence, size_t length, uint32_t ack,
                 uint16_t window) {
  std::string line(1, direction);
  line += " " + FlagsOf(flags) + " " + std::to_string(sequence);
  if (length != 0) line += ":" + std::to_string(sequence + length);
  if ((flags & flag::kAck) != 0) line += " ack " + std::to_string(ack);
  if (window == 0 && (flags & flag::kRst) == 0) line += " win 0";
  return line;
}

// The kernel of a guest in virtual time.
class VirtualSubject final : public TcpSubject, private RealGuest {
 public:
  VirtualSubject() : RealGuest(Duration::Seconds(30)) {
    MakeGuest("guest");
    nic_ = &guest_->AddNic(kNodeMac);
    nic_->SetTransmit([this](std::span<const std::byte> frame, Nic::Token token) {
      nic_->TransmitDone(token);
      Hear(frame);
    });
    SetUpNode();
    calendar_.Boot();
    Run(Duration::Seconds(1));
  }
  void Run(Duration duration) override { queue_.RunUntil(queue_.Now() + duration); }

 protected:
  AgentClient& Agent() override { return *agent_; }
  void Inject(std::span<const std::byte> frame) override {
    queue_.Schedule(queue_.Now(), [this, copy = std::vector(frame.begin(), frame.end())] {
      nic_->Deliver(copy);
    });
  }

 private:
  Nic* nic_ = nullptr;
};

// The host's kernel, with viaduct-guest as the agent.
class HostSubject final : public TcpSubject, public AgentChannel {
 public:
  HostSubject() {
    int pair[2];
    SystemCall("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
    channel_ = UniqueFd(pair[0]);
    const std::string program = sys::FindCompanion("viaduct-guest");
    pid_ = fork();
    if (pid_ == 0) {
      close(pair[0]);
      execl(program.c_str(), program.c_str(), "--socket", std::to_string(pair[1]).c_str(), nullptr);
      _exit(127);
    }
    close(pair[1]);
    agent_ = std::make_unique<AgentClient>(
        *this, [this](std::function<void()> work) { due_.push_back(std::move(work)); });
    while (agent_->release().empty()) Work(100);  // after kHello the agent's namespaces exist
    MakeInterface();
    SetUpNode();
    while (!ready()) Work(100);
  }
  ~HostSubject() override {
    agent_.reset();
    channel_.reset();
    waitpid(pid_, nullptr, 0);
  }
  // Handles events until the duration has passed, but for at least 30 ms, in which the machine does
  // the pending work.
  void Run(Duration duration) override {
    const Instant end = MonotonicClock::Now() + std::max(duration, Duration::Milliseconds(30));
    while (true) {
      const int64_t left = (end - MonotonicClock::Now()) / Duration::Milliseconds(1);
      if (left <= 0) return;
      Work(static_cast<int>(left));
    }
  }

 protected:
  AgentClient& Agent() override { return *agent_; }
  void Inject(std::span<const std::byte> frame) override {
    Drain();
    Work(5);
    SystemCall("write to the TAP device", write(tap_.get(), frame.data(), frame.size()));
    Work(5);
  }

 private:
  size_t MaxMessage() const override { return agent::kMaxMessage; }
  void Send(std::span<const std::byte> message) override {
    SystemCall("send to viaduct-guest", send(channel_.get(), message.data(), message.size(), 0));
  }
  void SetReceiver(std::function<void(std::span<const std::byte>)> receiver) override {
    receiver_ = std::move(receiver);
  }
  bool Settle() override { return false; }

  // Creates a TAP device in the first namespace of viaduct-guest, where a guest has the devices
  // with which it booted.
  void MakeInterface() {
    const UniqueFd place = sys::OpenNamespaceOfProcess(pid_);
    const sys::NamespaceScope scope(place.get());
    tap_ = UniqueFd(
        SystemCall("open /dev/net/tun", open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK)));
    ifreq request{};
    std::string_view("tap0").copy(request.ifr_name, IFNAMSIZ);
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    SystemCall("make a TAP device", ioctl(tap_.get(), TUNSETIFF, &request));
    sys::Netlink netlink;
    netlink.SetMac(netlink.IfIndex("tap0"), kNodeMac);
  }
  void Drain() {
    while (!due_.empty()) {
      const auto work = std::move(due_.front());
      due_.pop_front();
      work();
    }
  }
  // Waits for an event for at most `milliseconds` and handles it.
  void Work(int milliseconds) {
    Drain();
    pollfd fds[2] = {{channel_.get(), POLLIN, 0}, {tap_.get(), POLLIN, 0}};
    if (poll(fds, 2, milliseconds) <= 0) return;
    std::vector<std::byte> buffer(agent::kMaxMessage);
    ssize_t size;
    while (tap_ && (size = read(tap_.get(), buffer.data(), buffer.size())) > 0) {
      Hear(std::span(buffer).first(static_cast<size_t>(size)));
    }
    while ((size = recv(channel_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0) {
      receiver_(std::span(buffer).first(static_cast<size_t>(size)));
    }
    if (size == 0) throw Error("viaduct-guest is gone");
    Drain();
  }

  UniqueFd channel_;
  UniqueFd tap_;
  pid_t pid_ = -1;
  std::function<void(std::span<const std::byte>)> receiver_;
  std::deque<std::function<void()>> due_;
  std::unique_ptr<AgentClient> agent_;
};

}  // namespace

std::unique_ptr<TcpSubject> TcpSubject::VirtualTime() { return std::make_unique<VirtualSubject>(); }
std::unique_ptr<TcpSubject> TcpSubject::Host() { return std::make_unique<HostSubject>(); }

void TcpSubject::SetUpNode() {
  AgentClient& agent = Agent();
  node_ = agent.CreateNode("subject");
  agent.MoveInterface(node_, kNodeMac, "eth0", [this, &agent](const agent::Interface& interface) {
    agent.WriteSysctl(node_, "net.ipv6.conf.eth0.disable_ipv6", "1");
    agent.WriteSysctl(node_, "net.ipv4.tcp_rmem", "4096 65536 65536");
    agent.WriteSysctl(node_, "net.ipv4.tcp_wmem", "4096 65536 65536");
    agent.SetUp(node_, interface.ifindex, true);
    agent.AddAddress(node_, interface.ifindex, wire::IpPrefix::Parse("10.0.0.1/24"));
    agent.AddNeighbour(node_, interface.ifindex, wire::IpAddress::Parse("10.0.0.2"), kPeerMac);
    agent.WriteSysctl(node_, "net.ipv4.tcp_congestion_control", "reno",
                      [this](const AgentClient::Answer&) { ready_ = true; });
  });
}

void TcpSubject::Say(const Segment& segment) {
  const uint16_t port = kernel_port_ != 0 && segment.to_port == 80 ? kernel_port_ : segment.to_port;
  const uint32_t isn = kernel_isn_.value_or(0);
  const auto frame =
      Build(wire::packet::Ethernet{kPeerMac.ToString(), kNodeMac.ToString()} /
            wire::packet::Ipv4{"10.0.0.2", "10.0.0.1"} /
            wire::packet::Tcp{kernel_port_ != 0 ? uint16_t{80} : kPeerPort, port, segment.sequence,
                              isn + segment.acknowledgment, segment.flags, segment.window} /
            wire::packet::Payload{std::string(segment.length, 'x')});
  Note(Line('>', segment.flags, segment.sequence, segment.length, segment.acknowledgment,
            segment.window));
  Inject(frame);
  Run(Duration::Milliseconds(2));
}

void TcpSubject::Hear(std::span<const std::byte> frame) {
  const auto layers = wire::FindIpLayers(frame);
  if (!layers || layers->protocol != IPPROTO_TCP) return;
  const auto tcp = wire::TcpHeader::Parse(frame.subspan(layers->transport));
  if (!tcp) return;
  if ((tcp->flags & flag::kSyn) != 0) {
    kernel_isn_ = tcp->sequence;
    kernel_port_ = tcp->source_port == 80 ? 0 : tcp->source_port;
  }
  window_ = tcp->window;
  const size_t length = layers->end - layers->transport - tcp->header_length;
  // The kernel has no initial sequence number if there is no connection. In that case, a reset has
  // a sequence number that the script has sent.
  const uint32_t base = kernel_isn_.value_or(tcp->sequence);
  Note(Line('<', tcp->flags, tcp->sequence - base, length, tcp->acknowledgment, tcp->window));
}

uint32_t TcpSubject::Open(uint64_t credit) {
  const uint32_t socket = Agent().NewSocket(this);
  Agent().Tell(Code::kOpenSocket, socket,
               {BytesOf(agent::OpenSocket{node_, AF_INET, SOCK_STREAM, 0, 0, credit})});
  return socket;
}

void TcpSubject::Listen(uint32_t socket, uint16_t port) {
  Agent().Tell(Code::kBind, socket,
               {BytesOf(agent::ToEndpoint(wire::IpAddress::Parse("10.0.0.1"), port))});
  Agent().Tell(Code::kListen, socket, {BytesOf(agent::Listen{8, 0, 0})});
  Run(Duration::Milliseconds(20));
}

void TcpSubject::Connect(uint32_t socket, uint16_t port) {
  Agent().Tell(Code::kConnect, socket,
               {BytesOf(agent::ToEndpoint(wire::IpAddress::Parse("10.0.0.2"), port))});
  Run(Duration::Milliseconds(20));
}

void TcpSubject::SendZeros(uint32_t socket, uint64_t count) {
  Agent().Tell(Code::kSend, socket, {BytesOf(count)}, agent::kZeros);
  Run(Duration::Milliseconds(20));
}

void TcpSubject::SetOption(uint32_t socket, int level, int name, int value) {
  Agent().Tell(Code::kSetOption, socket,
               {BytesOf(agent::SocketOption{level, name}), BytesOf(value)});
}

void TcpSubject::Credit(uint32_t socket, uint64_t bytes) {
  Agent().Tell(Code::kCredit, socket, {BytesOf(bytes)});
  Run(Duration::Milliseconds(20));
}

void TcpSubject::Close(uint32_t socket) {
  Agent().Tell(Code::kClose, socket);
  Run(Duration::Milliseconds(20));
}

void TcpSubject::OnAccepted(const agent::Accepted& accepted) {
  accepted_ = accepted.socket;
  Agent().Attach(accepted_, this);
  Note("accepted");
}

void TcpSubject::OnBroken(int error_number) {
  Note(std::string("broken: ") + strerrorname_np(error_number));
}

void TcpSubject::OnFailed(Code code, int error_number) {
  Note(std::string(agent::Describe(code)) + ": " + strerrorname_np(error_number));
}

std::string TcpSubject::TakeTrace() { return std::exchange(trace_, ""); }

namespace {

using Script = std::function<std::string(TcpSubject&)>;

// Checks that the script's trace is `expected` with the guest's kernel and with the host's kernel.
void ExpectOfBoth(const std::string& expected, const Script& script) {
  std::unique_ptr<TcpSubject> guest;
  try {
    guest = TcpSubject::VirtualTime();
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.what();
  }
  if (geteuid() != 0) GTEST_SKIP() << "needs root (the host kernel's namespaces)";
  EXPECT_EQ("\n" + script(*guest), expected) << "the guest's kernel";
  EXPECT_EQ("\n" + script(*TcpSubject::Host()), expected) << "the host's kernel";
}

// Listens on port 80 and connects the peer to that port; afterwards the sequence numbers of both
// sides count from 1.
void Handshake(TcpSubject& subject, uint16_t window = 0xffff) {
  subject.Listen(subject.Open(), 80);
  subject.Say({flag::kSyn, 0, 0, 0, window});
  subject.Say({flag::kAck, 1, 1, 0, window});
}

TEST(TcpBehaviourTest, HandshakeDataAndClose) {
  ExpectOfBoth(R"(
> S 0
< S. 0 ack 1
> . 1 ack 1
accepted
> . 1:101 ack 1
< . 1 ack 101
read 100
< . 1:201 ack 101
> . 101 ack 201
> F. 101 ack 201
end
< F. 201 ack 102
> . 102 ack 202
)",
               [](TcpSubject& subject) {
                 Handshake(subject);
                 subject.Credit(subject.accepted(), 1000);
                 subject.Say({flag::kAck, 1, 1, 100});
                 subject.SendZeros(subject.accepted(), 200);
                 subject.Say({flag::kAck, 101, 201});
                 subject.Say({flag::kFin | flag::kAck, 101, 201});
                 subject.Close(subject.accepted());
                 subject.Say({flag::kAck, 102, 202});
                 return subject.TakeTrace();
               });
}

TEST(TcpBehaviourTest, ActiveOpenAndRefusal) {
  ExpectOfBoth(R"(
< S 0
> S. 0 ack 1
< . 1 ack 1
connected
< . 1:101 ack 1
> . 1 ack 101
< F. 101 ack 1
> F. 1 ack 102
< . 102 ack 2
< S 0
> R. 0 ack 1
connect a socket: ECONNREFUSED
)",
               [](TcpSubject& subject) {
                 const uint32_t socket = subject.Open();
                 subject.Connect(socket, 80);
                 subject.Say({flag::kSyn | flag::kAck, 0, 1});
                 subject.SendZeros(socket, 100);
                 subject.Say({flag::kAck, 1, 101});
                 subject.Close(socket);
                 subject.Say({flag::kFin | flag::kAck, 1, 102});
                 const uint32_t refused = subject.Open();
                 subject.Connect(refused, 80);
                 subject.Say({flag::kRst | flag::kAck, 0, 1});
                 return subject.TakeTrace();
               });
}

TEST(TcpBehaviourTest, FastRetransmitAfterThreeDuplicateAcks) {
  ExpectOfBoth(R"(
> S 0
< S. 0 ack 1
> . 1 ack 1
accepted
< . 1:537 ack 1
< . 537:1073 ack 1
< . 1073:1609 ack 1
< . 1609:2145 ack 1
< . 2145:2681 ack 1
< . 2681:3217 ack 1
< . 3217:3753 ack 1
< . 3753:4289 ack 1
< . 4289:4825 ack 1
< . 4825:5361 ack 1
> . 1 ack 537
> . 1 ack 537
> . 1 ack 537
> . 1 ack 537
< . 537:1073 ack 1
> . 1 ack 5361
)",
               [](TcpSubject& subject) {
                 Handshake(subject);
                 subject.SendZeros(subject.accepted(), 5360);  // ten segments of 536 bytes
                 subject.Say({flag::kAck, 1, 537});
                 for (int i = 0; i < 3; ++i) subject.Say({flag::kAck, 1, 537});
                 subject.Say({flag::kAck, 1, 5361});
                 return subject.TakeTrace();
               });
}

TEST(TcpBehaviourTest, ZeroWindowIsProbedAndOpens) {
  ExpectOfBoth(R"(
> S 0
< S. 0 ack 1
> . 1 ack 1
accepted
< . 1:537 ack 1
< . 537:1073 ack 1
> . 1 ack 1073 win 0
< . 1072 ack 1
> . 1 ack 1073 win 0
> . 1 ack 1073
< . 1073:1609 ack 1
< . 1609:2145 ack 1
< . 2145:2681 ack 1
< . 2681:3001 ack 1
> . 1 ack 3001
)",
               [](TcpSubject& subject) {
                 Handshake(subject, 1072);
                 subject.SendZeros(subject.accepted(), 3000);
                 subject.Say({flag::kAck, 1, 1073, 0, 0});
                 subject.Run(Duration::Milliseconds(350));  // one zero-window probe, after 200 ms
                 subject.Say({flag::kAck, 1, 1073, 0, 0});
                 subject.Say({flag::kAck, 1, 1073, 0, 8000});
                 subject.Say({flag::kAck, 1, 3001, 0, 8000});
                 return subject.TakeTrace();
               });
}

TEST(TcpBehaviourTest, OutOfOrderDataIsAcknowledgedAtOnce) {
  ExpectOfBoth(R"(
> S 0
< S. 0 ack 1
> . 1 ack 1
accepted
> . 501:1001 ack 1
< . 1 ack 1
> . 1001:1501 ack 1
< . 1 ack 1
> . 1:501 ack 1
< . 1 ack 1501
read 1500
)",
               [](TcpSubject& subject) {
                 Handshake(subject);
                 subject.Credit(subject.accepted(), 10000);
                 subject.Say({flag::kAck, 501, 1, 500});
                 subject.Say({flag::kAck, 1001, 1, 500});
                 subject.Say({flag::kAck, 1, 1, 500});
                 return subject.TakeTrace();
               });
}

TEST(TcpBehaviourTest, Resets) {
  ExpectOfBoth(R"(
> S 0
< R. 0 ack 1
> . 7:17 ack 9
< R 0
> S 0
< S. 0 ack 1
> . 1 ack 1
accepted
> R 500
< . 1 ack 1
> R 70000
> R 1
broken: ECONNRESET
)",
               [](TcpSubject& subject) {
                 subject.Say({flag::kSyn, 0, 0, 0, 0xffff, 81});   // no socket listens on port 81
                 subject.Say({flag::kAck, 7, 9, 10, 0xffff, 81});  // no connection exists
                 Handshake(subject);
                 subject.Credit(subject.accepted(), 1000);
                 // A RST in the window, but not at the edge of the window (RFC 5961).
                 subject.Say({flag::kRst, 500, 0});
                 subject.Say({flag::kRst, 70000, 0});  // outside of the window
                 subject.Say({flag::kRst, 1, 0});
                 return subject.TakeTrace();
               });
}

}  // namespace
}  // namespace viaduct::guest
