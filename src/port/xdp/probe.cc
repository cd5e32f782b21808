#include "port/xdp/probe.h"

#include <fmt/format.h>

#include "base/error.h"
#include "port/xdp/open.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

namespace viaduct::xdp {
namespace {

constexpr Duration kTimeout = Duration::Seconds(2);  // timeout for a carrier

// Opens a port on a veth pair with the given MTU, and returns the port's state.
io::XdpState Try(int mtu) {
  io::XdpState state;
  sys::InScratchNamespace([&] {
    sys::Netlink session;
    session.CreateVethPair({-1, "probe", std::nullopt, mtu}, {-1, "other", std::nullopt, mtu});
    for (const char* name : {"probe", "other"}) session.SetUp(session.IfIndex(name), true);
    session.AwaitRunning("probe", kTimeout);
    state = OpenXdpPort({.interface = "probe"}, {.slots = 64, .send_slots = 64}).state();
  });
  return state;
}

bool HasMultiBuffer() {
  constexpr int kJumbo = 9000;
  try {
    return Try(kJumbo).multi_buffer;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

sys::Feature ProbeAfXdp() {
  constexpr int kUsual = 1500;
  sys::Feature feature;
  feature.name = "AF_XDP";
  feature.purpose = "path --port af_xdp";
  try {
    const io::XdpState state = Try(kUsual);
    feature.state = sys::Feature::State::kPresent;
    feature.purpose += fmt::format(
        ": {} mode, {}; zero-copy if the driver supports it (only then does --port auto use "
        "AF_XDP)",
        state.native ? "native and generic" : "generic",
        HasMultiBuffer() ? "jumbo frames" : "an MTU of at most 3818 bytes");
  } catch (const Error& error) {
    feature.state = sys::Feature::State::kAbsent;
    feature.detail = error.what();
    feature.remedy = Unavailable().empty()
                         ? "use Linux 6.1 or later with CONFIG_XDP_SOCKETS and CONFIG_BPF_SYSCALL"
                         : "apt-get install libxdp-dev libbpf-dev clang, and build Viaduct again";
  }
  return feature;
}

}  // namespace viaduct::xdp
