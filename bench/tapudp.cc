// A userspace tunneller like that of the ns-2 Distributed Clients Extension (Kristiansen,
// Plagemann: "ns-2 Distributed Clients Emulation: Accuracy and Scalability", 2009, sections 2 and
// 4): the baseline of the benchmark `clients`.
//
//   tapudp original|modified HUB PORT COUNT [FIRST]
//
// Creates the TAP interfaces tap1, tap2 ... and carries their frames over one UDP socket, with the
// hub's encapsulation (VXLAN; TAP number i has VNI FIRST + i - 1). In each round it polls every TAP
// for one frame to send; `original` polls the UDP socket once per round, `modified` once for each
// TAP. Prints "ready", and runs until it is killed.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/wire/vxlan.h"
#include "program.h"
#include "sys/descriptor_limit.h"

namespace viaduct::bench {
namespace {

using wire::VxlanHeader;

UniqueFd OpenTap(const std::string& name) {
  UniqueFd fd(
      SystemCall("open /dev/net/tun", open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)));
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  SystemCall("TUNSETIFF " + name, ioctl(fd.get(), TUNSETIFF, &request));
  return fd;
}

class Tunneller {
 public:
  Tunneller(const std::string& hub, uint16_t port, size_t count, uint32_t first)
      : first_(first),
        socket_(
            SystemCall("socket", socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    SystemCall("bind", bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
    if (inet_pton(AF_INET, hub.c_str(), &address.sin_addr) != 1) {
      throw UsageError(hub + ": not an IPv4 address");
    }
    SystemCall("connect",
               connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
    for (size_t i = 1; i <= count; ++i) taps_.push_back(OpenTap(fmt::format("tap{}", i)));
  }

  [[noreturn]] void Run(bool modified) {
    for (;;) {
      for (size_t i = 0; i < taps_.size(); ++i) {
        Outbound(i);
        if (modified) Inbound();
      }
      if (!modified) Inbound();
    }
  }

 private:
  void Outbound(size_t i) {
    const ssize_t got = read(taps_[i].get(), frame_.data() + VxlanHeader::kSize,
                             frame_.size() - VxlanHeader::kSize);
    if (got <= 0) return;
    VxlanHeader{first_ + static_cast<uint32_t>(i)}.Write(frame_);
    // The frame is lost if the socket does not accept it, as in the ns-2 tunneller.
    if (send(socket_.get(), frame_.data(), static_cast<size_t>(got) + VxlanHeader::kSize, 0) < 0) {
      return;
    }
  }

  void Inbound() {
    const ssize_t got = recv(socket_.get(), frame_.data(), frame_.size(), 0);
    if (got <= static_cast<ssize_t>(VxlanHeader::kSize)) return;
    const auto header = VxlanHeader::Parse(frame_);
    if (!header || header->vni < first_ || header->vni - first_ >= taps_.size()) return;
    if (write(taps_[header->vni - first_].get(), frame_.data() + VxlanHeader::kSize,
              static_cast<size_t>(got) - VxlanHeader::kSize) < 0) {
      return;
    }
  }

  const uint32_t first_;
  UniqueFd socket_;
  std::vector<UniqueFd> taps_;
  std::array<std::byte, 2048> frame_;
};

int Main(int argc, char** argv) {
  return ExitStatusOf("tapudp", [&]() -> int {
    const std::string how = argc > 4 ? argv[1] : "";
    if (how != "original" && how != "modified") {
      throw UsageError("usage: tapudp original|modified HUB PORT COUNT [FIRST]");
    }
    sys::RaiseDescriptorLimit();
    Tunneller tunneller(argv[2], static_cast<uint16_t>(std::atoi(argv[3])),
                        static_cast<size_t>(std::atoi(argv[4])),
                        argc > 5 ? static_cast<uint32_t>(std::atoi(argv[5])) : 1);
    std::printf("ready\n");
    std::fflush(stdout);
    tunneller.Run(how == "modified");
  });
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::bench::Main(argc, argv); }
