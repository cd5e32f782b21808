// Tests the properties that only AF_XDP ports have: opening, sharing, refusing, and restoring every
// setting.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <xdp/libxdp.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "port/packet/ring_port.h"
#include "port/test/test_network.h"
#include "port/xdp/open.h"
#include "sys/network/filter.h"
#include "sys/network/netns.h"

namespace viaduct::xdp {
namespace {

using namespace wire::packet;
using io::FrameToSend, io::ReceivedFrame, io::RingPort, io::XdpPort;
using testing::AllOf, testing::HasSubstr;

std::vector<std::byte> Udp53(uint16_t port, const std::string& text = "text") {
  return Build(Ethernet{"02:00:00:00:00:0a", "02:00:00:00:00:0b"} / Ipv4{} /
               Udp{.source = 1000, .destination = port} / Payload{text});
}

class XdpPortRootTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: makes network namespaces";
    network_.emplace(/*ipv6=*/false);
  }
  XdpPort OpenB(Request request = {}, io::XdpOptions options = {.slots = 64, .send_slots = 64}) {
    if (request.interface.empty()) request.interface = "b0";
    return network_->b.In([&] { return OpenXdpPort(request, options); });
  }
  RingPort RingA() {
    return {network_->a.PacketSocket(), io::RingOptions{.ifindex = network_->a_index}};
  }
  RingPort RingB() {
    return {network_->b.PacketSocket(), io::RingOptions{.ifindex = network_->b_index}};
  }
  // Returns the message of the error that opening a port throws.
  std::string Refusal(const Request& request) {
    try {
      OpenB(request);
    } catch (const Error& error) {
      return error.what();
    }
    return "not refused";
  }
  std::string ProgramsOfB() {
    return network_->b.In([&] { return DescribePrograms(network_->b_index); });
  }
  std::vector<std::string> OffloadsOf(const io::TestNamespace& in, const std::string& interface) {
    return in.In([&] {
      const UniqueFd here = sys::OpenCurrentNamespace();
      auto names = sys::ActiveOffloads(here.get(), interface, sys::Offloads::kAll);
      std::ranges::copy(sys::ActiveOffloads(here.get(), interface, sys::Offloads::kTags),
                        std::back_inserter(names));
      return names;
    });
  }
  // Attaches an XDP program of another owner, which stays attached as long as the returned
  // descriptor is open.
  UniqueFd AttachForeign() {
    const bpf_insn pass[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS},
                             {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
    const UniqueFd program(
        bpf_prog_load(BPF_PROG_TYPE_XDP, "somebody_elses", "GPL", pass, 2, nullptr));
    return network_->b.In([&] {
      LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_SKB_MODE);
      return UniqueFd(SystemCall(
          "bpf_link_create", bpf_link_create(program.get(), network_->b_index, BPF_XDP, &options)));
    });
  }

  // Starts a process that opens a port on b0, and kills the process.
  void KillWithAPort() {
    const pid_t child = fork();
    if (child == 0) {
      const XdpPort port = OpenB();
      raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  // Waits until a condition is true: the kernel closes the descriptors of a killed process a little
  // later.
  static void Await(const std::function<bool()>& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) usleep(10000);
    EXPECT_TRUE(condition());
  }

  std::optional<io::TestNetwork> network_;
};

TEST_F(XdpPortRootTest, SaysHowItWorks) {
  const XdpPort port = OpenB();
  EXPECT_TRUE(port.state().native);
  EXPECT_FALSE(port.state().zero_copy);
  EXPECT_EQ(port.state().queues, 1u);
  EXPECT_EQ(port.state().chunk_bytes, 2048u);
  EXPECT_FALSE(port.state().multi_buffer);
  EXPECT_EQ(port.Description(),
            "AF_XDP: native mode, copy mode, 1 queue, chunks of 2048 bytes, only XDP program on "
            "the interface");
  EXPECT_THAT(ProgramsOfB(), AllOf(HasSubstr("viaduct_redirec"), HasSubstr("native")));
}

TEST_F(XdpPortRootTest, LeavesTheInterfacesAsTheyWere) {
  const auto a = OffloadsOf(network_->a, "a0"), b = OffloadsOf(network_->b, "b0");
  ASSERT_THAT(a, testing::Contains("tx-checksum-ip-generic"));
  {
    const XdpPort port = OpenB();
    EXPECT_THAT(OffloadsOf(network_->a, "a0"), testing::IsEmpty());
  }
  EXPECT_EQ(ProgramsOfB(), "");
  EXPECT_EQ(OffloadsOf(network_->a, "a0"), a);
  EXPECT_EQ(OffloadsOf(network_->b, "b0"), b);
}

TEST_F(XdpPortRootTest, LeavesTheInterfacesAsTheyWereWhenItsProcessIsKilled) {
  const auto a = OffloadsOf(network_->a, "a0"), b = OffloadsOf(network_->b, "b0");
  KillWithAPort();
  Await([&] { return ProgramsOfB().empty(); });
  Await([&] { return OffloadsOf(network_->a, "a0") == a; });
  Await([&] { return OffloadsOf(network_->b, "b0") == b; });
}

// Opens a second port immediately after the process of the first port was killed: the first port's
// guardian must see that the second port needs the offloads off.
TEST_F(XdpPortRootTest, CanBeOpenedAtOnceAfterItsProcessWasKilled) {
  const auto a = OffloadsOf(network_->a, "a0"), b = OffloadsOf(network_->b, "b0");
  for (int i = 0; i < 20; ++i) {
    KillWithAPort();
    Await([&] { return ProgramsOfB().empty(); });
    const XdpPort port = OpenB();
    EXPECT_THAT(OffloadsOf(network_->a, "a0"), testing::IsEmpty());
    usleep(static_cast<useconds_t>(i * 200));
    EXPECT_THAT(OffloadsOf(network_->a, "a0"), testing::IsEmpty());
  }
  EXPECT_EQ(OffloadsOf(network_->a, "a0"), a);
  EXPECT_EQ(OffloadsOf(network_->b, "b0"), b);
}

// Opens ports on both ends of a veth pair: when the first port is closed, the settings that the
// second port needs must stay.
TEST_F(XdpPortRootTest, SwitchesOffloadsOnWhenTheLastPortOfAPairIsClosed) {
  const auto a = OffloadsOf(network_->a, "a0"), b = OffloadsOf(network_->b, "b0");
  for (const bool b_is_first : {true, false}) {
    std::optional<XdpPort> of_b = OpenB();
    std::optional<XdpPort> of_a = network_->a.In(
        [&] { return OpenXdpPort({.interface = "a0"}, {.slots = 64, .send_slots = 64}); });
    (b_is_first ? of_b : of_a).reset();
    EXPECT_THAT(OffloadsOf(network_->a, "a0"), testing::IsEmpty());
    EXPECT_THAT(OffloadsOf(network_->b, "b0"), testing::IsEmpty());
    (b_is_first ? of_a : of_b).reset();
    EXPECT_EQ(OffloadsOf(network_->a, "a0"), a);
    EXPECT_EQ(OffloadsOf(network_->b, "b0"), b);
  }
}

TEST_F(XdpPortRootTest, SwitchesOffloadsOnOfARenamedInterface) {
  const auto a = OffloadsOf(network_->a, "a0"), b = OffloadsOf(network_->b, "b0");
  {
    const XdpPort port = OpenB();
    network_->a.Run("ip link set a0 down; ip link set a0 name other; ip link set other up");
    network_->b.Run("ip link set b0 down; ip link set b0 name another; ip link set another up");
  }
  EXPECT_EQ(OffloadsOf(network_->a, "other"), a);
  EXPECT_EQ(OffloadsOf(network_->b, "another"), b);
}

TEST_F(XdpPortRootTest, GivesTheKernelWhatTheFilterDoesNotMatch) {
  RingPort a = RingA();
  XdpPort port = OpenB({.filter = "udp port 53"});
  RingPort kernel = RingB();
  EXPECT_EQ(io::SendFrame(a, Udp53(53)), 1u);
  EXPECT_EQ(io::SendFrame(a, Udp53(54)), 1u);
  EXPECT_EQ(io::ReceiveDescribed(port, 1), std::vector<std::string>{Describe(Udp53(53))});
  EXPECT_EQ(io::ReceiveDescribed(kernel, 1), std::vector<std::string>{Describe(Udp53(54))});
  EXPECT_FALSE(io::IsReadable(port.fd(), 0));
}

TEST_F(XdpPortRootTest, FiltersAsLibpcapDoes) {
  const std::vector<std::vector<std::byte>> frames = {
      Udp53(53),
      Udp53(54, std::string(700, 'x')),
      Build(Ethernet{} / Vlan{.id = 7} / Ipv4{} / Udp{.destination = 53}),
      Build(Ethernet{} / Ipv6{} / Udp{.destination = 53} / Payload{"a"}),
      Build(Ethernet{} / Ipv4{.protocol = 6} / Payload{std::string(20, 0)}),
      Build(Ethernet{} / Arp{}),
      Build(Ethernet{} / Ipv4{.fragment_offset = 8} / Payload{"part"}),
      Build(Ethernet{.type = 0x88b5} / Payload{"other"})};
  for (const char* expression :
       {"udp port 53", "not udp", "ip6", "arp or vlan 7", "len > 400", "vlan", "tcp",
        "ip[8] * 2 - 1 == 127", "udp[4:2] % 3 == 0", "ether[0] & 1 = 0", "ip and (udp[0] | 3) > 2",
        "(ip[2:2] >> 3) = 4", "ether host 02:00:00:00:00:0b", "port 53 and not vlan 8",
        "ip[6:2] & 0x1fff != 0", "ether[1000] = 1", "udp[ip[0]] / (ip[1]) = 0"}) {
    const auto filter = sys::PacketFilter::Compile(expression);
    Opened opened = network_->b.In(
        [&] { return Open({.interface = "b0", .mode = Mode::kGeneric, .filter = expression}); });
    const XdpPort port(std::move(opened.sockets), {.slots = 64, .send_slots = 64});
    for (const auto& frame : frames) {
      LIBBPF_OPTS(bpf_test_run_opts, run);
      run.data_in = frame.data();
      run.data_size_in = static_cast<uint32_t>(frame.size());
      ASSERT_EQ(bpf_prog_test_run_opts(opened.program->Descriptor(), &run), 0)
          << std::strerror(errno);
      EXPECT_EQ(run.retval == XDP_REDIRECT, filter.Matches(frame))
          << expression << ": " << Describe(frame);
    }
  }
}

TEST_F(XdpPortRootTest, ForwardsWithoutACopy) {
  network_->b.Run("ip link add c0 type veth peer name d0; ip link set c0 up; ip link set d0 up");
  RingPort a = RingA();
  RingPort d(network_->b.PacketSocket(), io::RingOptions{.ifindex = network_->b.IfIndex("d0")});
  const auto memory = std::make_shared<io::XdpMemory>(512, 2048);
  io::XdpOptions options{.slots = 64, .send_slots = 64, .memory = memory};
  XdpPort from = OpenB({}, options);
  XdpPort to = OpenB({.interface = "c0"}, options);
  const size_t available = memory->available();
  for (int round = 0; round < 300; ++round) {
    const auto frame = Udp53(static_cast<uint16_t>(round));
    ASSERT_EQ(io::SendFrame(a, frame), 1u);
    ASSERT_TRUE(io::IsReadable(from.fd()));
    std::vector<ReceivedFrame> received(4);
    ASSERT_EQ(from.Receive(received), 1u);
    const auto kept = from.Keep(0);
    ASSERT_TRUE(kept);
    EXPECT_FALSE(from.Keep(0)) << "it is the caller's";
    ASSERT_EQ(memory->data() + kept->address, received[0].bytes.data());
    // The next Receive() takes back the lent frames, but not the kept frame.
    ASSERT_EQ(from.Receive(received), 0u);
    memory->data()[kept->address + kept->length - 1] = std::byte{'!'};
    ASSERT_EQ(to.Send({&*kept, 1}), 1u);
    ASSERT_EQ(to.Refused().size(), 0u);
    auto expected = frame;
    expected.back() = std::byte{'!'};
    std::vector<ReceivedFrame> came(1);
    while (d.Receive(came) == 0) ASSERT_TRUE(io::IsReadable(d.fd()));
    EXPECT_TRUE(std::ranges::equal(came[0].bytes, expected)) << "what was written where it was";
    (void)d.Receive(came);
  }
  EXPECT_EQ(to.BytesInFlight(), 0u);
  std::vector<ReceivedFrame> none(1);
  EXPECT_EQ(from.Receive(none), 0u);
  EXPECT_EQ(memory->available(), available) << "no chunk is lost";
  EXPECT_EQ(to.Counters().tx_frames, 300u);
}

TEST_F(XdpPortRootTest, HasASocketForEachQueue) {
  network_->b.Run(
      "ip link add e0 numrxqueues 2 numtxqueues 2 type veth peer name f0 numrxqueues 2 numtxqueues "
      "2; ip link set e0 up; ip link set f0 up; ethtool -L e0 rx 2 tx 2; ethtool -L f0 rx 2 tx 2");
  XdpPort port = OpenB({.interface = "e0"});
  EXPECT_EQ(port.state().queues, 2u);
  XdpPort other = OpenB({.interface = "f0"});
  std::vector<ReceivedFrame> frames(64);
  size_t received = 0;
  for (uint16_t i = 0; i < 50; ++i) ASSERT_EQ(io::SendFrame(other, Udp53(i)), 1u);
  while (received < 50 && io::IsReadable(port.fd())) received += port.Receive(frames);
  EXPECT_EQ(received, 50u);
  EXPECT_FALSE(io::IsReadable(port.fd(), 0));
}

TEST_F(XdpPortRootTest, PollsBusilyIfAsked) {
  RingPort a = RingA();
  XdpPort port = OpenB({.busy_poll = BusyPoll()});
  EXPECT_TRUE(port.state().busy_poll);
  for (uint16_t i = 0; i < 50; ++i) {
    ASSERT_EQ(io::SendFrame(a, Udp53(i)), 1u);
    ASSERT_EQ(io::ReceiveDescribed(port, 1), std::vector<std::string>{Describe(Udp53(i))});
  }
}

TEST_F(XdpPortRootTest, StampsFramesWhenTheyArrive) {
  RingPort a = RingA();
  XdpPort port = OpenB();
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * int64_t{1000000000} + time.tv_nsec;
  };
  const int64_t before = now();
  ASSERT_EQ(io::SendFrame(a, Udp53(1)), 1u);
  ASSERT_TRUE(io::IsReadable(port.fd()));
  const int64_t after = now();
  std::vector<ReceivedFrame> frames(1);
  ASSERT_EQ(port.Receive(frames), 1u);
  EXPECT_GE(frames[0].received.nanoseconds(), before - 100000);
  EXPECT_LE(frames[0].received.nanoseconds(), after + 100000);
}

TEST_F(XdpPortRootTest, RefusesAnInterfaceWithSomebodyElsesProgram) {
  const UniqueFd link = AttachForeign();
  const std::string before = ProgramsOfB();
  EXPECT_THAT(Refusal({}),
              AllOf(HasSubstr("b0"), HasSubstr("somebody_elses"), HasSubstr("use AF_PACKET")));
  EXPECT_EQ(ProgramsOfB(), before);
}

TEST_F(XdpPortRootTest, RefusesAQueueThatIsInUse) {
  UniqueFd socket = network_->b.Socket(AF_XDP, SOCK_RAW, 0);
  const io::XdpMemory memory(64, 2048);
  xdp_umem_reg request{};
  request.addr = reinterpret_cast<uint64_t>(memory.data());
  request.len = memory.bytes();
  request.chunk_size = 2048;
  SetSocketOption(socket.get(), SOL_XDP, XDP_UMEM_REG, request, "XDP_UMEM_REG");
  for (const int ring : {XDP_RX_RING, XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING}) {
    SetSocketOption(socket.get(), SOL_XDP, ring, 64, "ring");
  }
  sockaddr_xdp address{};
  address.sxdp_family = AF_XDP;
  address.sxdp_ifindex = static_cast<uint32_t>(network_->b_index);
  SystemCall("bind", bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
  EXPECT_THAT(Refusal({}), AllOf(HasSubstr("queue 0"), HasSubstr("another program")));
  EXPECT_EQ(ProgramsOfB(), "");
}

TEST_F(XdpPortRootTest, RefusesInterfacesOfTheKernelsOwn) {
  network_->b.Run("ip link add bridge0 type bridge; ip link set bridge0 up");
  EXPECT_THAT(Refusal({.interface = "bridge0"}),
              AllOf(HasSubstr("bridge0"), HasSubstr("use AF_PACKET")));
  EXPECT_THAT(Refusal({.interface = "lo"}), HasSubstr("loopback"));
  EXPECT_THAT(Refusal({.interface = "absent"}), HasSubstr("no interface absent"));
}

TEST_F(XdpPortRootTest, RefusesFiltersThatItCannotApply) {
  EXPECT_THAT(Refusal({.filter = "udp prot 53"}), HasSubstr("pcap-filter"));
  std::string all = "ip[0] = 1";
  for (int i = 2; i < 3000; ++i) all += fmt::format(" or ip[{}:2] = {}", i % 1000, i);
  EXPECT_THAT(Refusal({.filter = all}), HasSubstr("at most 4096 are supported"));
  EXPECT_EQ(ProgramsOfB(), "");
}

// Tests the part that needs no privilege: a port registers the memory, binds its sockets, and puts
// them into the map.
class UnprivilegedTest : public XdpPortRootTest {
 protected:
  // Opens a port in a child process of user nobody, with `locked` bytes of locked memory. Returns
  // the child's message.
  std::string AsNobody(rlim_t locked) {
    int pipe[2];
    SystemCall("pipe", ::pipe(pipe));
    Opened opened = network_->b.In([&] { return Open({.interface = "b0"}); });
    const pid_t child = fork();
    if (child == 0) {
      const rlimit limit{locked, locked};
      setrlimit(RLIMIT_MEMLOCK, &limit);
      std::string said = "opened";
      if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) _exit(1);
      try {
        XdpPort port(std::move(opened.sockets), {.slots = 256, .send_slots = 256});
        std::vector<ReceivedFrame> frames(1);
        if (!io::IsReadable(port.fd(), 5000) || port.Receive(frames) != 1) said = "no frame";
      } catch (const Error& error) {
        said = error.what();
      }
      (void)!write(pipe[1], said.data(), said.size());
      _exit(0);
    }
    close(pipe[1]);
    opened.sockets = {};
    RingPort a = RingA();
    std::string said(500, '\0');
    // Sends frames until the child answers: the time at which its socket is bound is not known.
    for (;;) {
      pollfd wait{pipe[0], POLLIN, 0};
      if (poll(&wait, 1, 10) > 0) break;
      io::SendFrame(a, Udp53(1));
    }
    said.resize(static_cast<size_t>(read(pipe[0], said.data(), said.size())));
    close(pipe[0]);
    waitpid(child, nullptr, 0);
    return said;
  }
};

TEST_F(UnprivilegedTest, NeedsOnlyLockedMemory) { EXPECT_EQ(AsNobody(768 * 2048), "opened"); }

TEST_F(UnprivilegedTest, SaysHowMuchLockedMemoryIsMissing) {
  EXPECT_THAT(AsNobody(65536),
              AllOf(HasSubstr("1.5 MiB of locked memory"), HasSubstr("is 0.1 MiB")));
}

TEST_F(UnprivilegedTest, HasFewerSlotsWhereThereIsLittleLockedMemory) {
  const io::XdpOptions fitting = FitLockedMemory({}, 1, 1500, 2, 8 << 20);
  EXPECT_LE(2 * LockedMemory(fitting, 1, 1500), 8u << 20);
  EXPECT_EQ(fitting.slots, 1024u);
  EXPECT_EQ(FitLockedMemory({}, 1, 1500, 1, RLIM_INFINITY).slots, io::XdpOptions().slots);
  EXPECT_GE(FitLockedMemory({}, 1, 1500, 1, 0).slots, 256u) << "then opening says what is missing";
}

// Adds the port to the dispatcher with one of libxdp's own programs, which passes every frame.
TEST_F(XdpPortRootTest, LoadsBesideOthersOfADispatcher) {
  RingPort a = RingA();
  network_->b.In([&] {
    libxdp_set_print(nullptr);
    xdp_program* const other = xdp_program__find_file("xdpfilt_alw_all.o", "xdp", nullptr);
    if (libxdp_get_error(other) != 0) GTEST_SKIP() << "libxdp's programs are not installed";
    const int error = xdp_program__attach(other, network_->b_index, XDP_MODE_SKB, 0);
    if (error != 0) GTEST_SKIP() << "libxdp attaches nothing here: " << std::strerror(-error);
    xdp_multiprog* const alone = xdp_multiprog__get_from_ifindex(network_->b_index);
    const bool is_legacy = xdp_multiprog__is_legacy(alone);
    xdp_multiprog__close(alone);
    if (is_legacy) GTEST_SKIP() << "this kernel replaces no programs (freplace): no dispatcher";
    const std::string before = ProgramsOfB();
    {
      XdpPort port = OpenB();
      EXPECT_EQ(port.state().program, "XDP program in addition to 1 other");
      EXPECT_FALSE(port.state().native);
      EXPECT_EQ(io::SendFrame(a, Udp53(1)), 1u);
      EXPECT_EQ(io::ReceiveDescribed(port, 1), std::vector<std::string>{Describe(Udp53(1))});
    }
    xdp_multiprog* const left = xdp_multiprog__get_from_ifindex(network_->b_index);
    EXPECT_EQ(xdp_multiprog__program_count(left), 1);
    xdp_multiprog__close(left);
    EXPECT_EQ(xdp_program__detach(other, network_->b_index, XDP_MODE_SKB, 0), 0);
    xdp_program__close(other);
    EXPECT_EQ(ProgramsOfB(), "");
  });
}

}  // namespace
}  // namespace viaduct::xdp
