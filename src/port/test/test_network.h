// Two network namespaces joined by a veth pair, for tests that run as root. The namespaces have no
// names and are removed when the process ends.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/wire/test/packet_builder.h"
#include "port/port.h"

namespace viaduct::io {

class TestNamespace {
 public:
  TestNamespace() : fd_(-1) {
    const UniqueFd outside = Current();
    SystemCall("unshare CLONE_NEWNET", unshare(CLONE_NEWNET));
    fd_ = Current();
    Enter(outside);
  }

  // Calls f inside the namespace and returns its result: sockets that f opens stay in the
  // namespace.
  template <class F>
  auto In(F f) const {
    const UniqueFd outside = Current();
    Enter(fd_);
    struct Back {
      const UniqueFd& outside;
      ~Back() { setns(outside.get(), CLONE_NEWNET); }
    } back{outside};
    return f();
  }

  void Run(const std::string& command) const {
    In([&] {
      if (std::system(command.c_str()) != 0) throw Error("command failed: " + command);
    });
  }
  int IfIndex(const std::string& name) const {
    return In([&] { return static_cast<int>(if_nametoindex(name.c_str())); });
  }
  UniqueFd Socket(int family, int type, int protocol) const {
    return In([&] { return UniqueFd(SystemCall("socket", socket(family, type, protocol))); });
  }
  UniqueFd PacketSocket() const {
    UniqueFd fd = Socket(AF_PACKET, SOCK_RAW, 0);
    const int size = 16 << 20;
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
    return fd;
  }
  std::string Path() const { return fmt::format("/proc/{}/fd/{}", getpid(), fd_.get()); }

 private:
  static UniqueFd Current() {
    return UniqueFd(
        SystemCall("open /proc/self/ns/net", open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)));
  }
  static void Enter(const UniqueFd& fd) { SystemCall("setns", setns(fd.get(), CLONE_NEWNET)); }

  UniqueFd fd_;
};

// Two namespaces `a` and `b`, joined by a veth pair: a0 (02:00:00:00:00:0a, 10.77.0.1/24,
// fd00:77::1/64) is in `a`; b0 (02:00:00:00:00:0b, 10.77.0.2/24, fd00:77::2/64) is in `b`. Only the
// test sends frames: there is no address resolution and, without `ipv6`, there are no multicast
// listener reports.
struct TestNetwork {
  TestNamespace a, b;
  int a_index = 0, b_index = 0;

  explicit TestNetwork(bool ipv6) {
    for (const TestNamespace* ns : {&a, &b}) {
      ns->Run(
          fmt::format("sysctl -qw net.ipv6.conf.default.disable_ipv6={} "
                      "net.ipv6.conf.default.addr_gen_mode=1 net.ipv6.conf.default.accept_dad=0 "
                      "net.ipv6.conf.default.router_solicitations=0",
                      ipv6 ? 0 : 1));
    }
    a.Run(
        "ip link add a0 address 02:00:00:00:00:0a type veth peer name b0 address "
        "02:00:00:00:00:0b netns " +
        b.Path());
    a.Run("ip link set a0 up; ip addr add 10.77.0.1/24 brd + dev a0");
    b.Run("ip link set b0 up; ip addr add 10.77.0.2/24 brd + dev b0");
    a.Run("ip neigh add 10.77.0.2 lladdr 02:00:00:00:00:0b nud permanent dev a0");
    b.Run("ip neigh add 10.77.0.1 lladdr 02:00:00:00:00:0a nud permanent dev b0");
    // Waits: the kernel informs its protocols of the carrier a little later.
    a.Run("until ip link show a0 | grep -q 'state UP'; do sleep 0.01; done");
    b.Run("until ip link show b0 | grep -q 'state UP'; do sleep 0.01; done");
    if (ipv6) {
      a.Run("ip addr add fd00:77::1/64 dev a0 nodad");
      b.Run("ip addr add fd00:77::2/64 dev b0 nodad");
      a.Run("ip neigh add fd00:77::2 lladdr 02:00:00:00:00:0b nud permanent dev a0");
      b.Run("ip neigh add fd00:77::1 lladdr 02:00:00:00:00:0a nud permanent dev b0");
    }
    a_index = a.IfIndex("a0");
    b_index = b.IfIndex("b0");
  }
};

inline bool IsReadable(int fd, int milliseconds = 20'000) {
  pollfd entry{fd, POLLIN, 0};
  return poll(&entry, 1, milliseconds) > 0 && (entry.revents & POLLIN) != 0;
}

inline size_t SendFrame(AnyPort& port, const std::vector<std::byte>& frame) {
  const FrameToSend one(frame);
  return port.Transmit({&one, 1});
}

// Receives until `wanted` frames have arrived, or no frame arrives for 20 s. Returns the frames'
// descriptions.
inline std::vector<std::string> ReceiveDescribed(AnyPort& port, size_t wanted) {
  std::vector<std::string> all;
  std::vector<ReceivedFrame> burst(64);
  while (all.size() < wanted && IsReadable(port.fd())) {
    const size_t count = port.Receive(burst);
    for (size_t i = 0; i < count; ++i) all.push_back(wire::packet::Describe(burst[i].bytes));
  }
  return all;
}

}  // namespace viaduct::io
