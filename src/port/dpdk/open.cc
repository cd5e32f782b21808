#include "port/dpdk/open.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/socket_option.h"
#include "port/dpdk/device.h"
#include "sys/network/filter.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"
#include "sys/process/find_program.h"

namespace viaduct::dpdk {
namespace {

constexpr char kNotBuilt[] =
    "this build of Viaduct does not support DPDK: Viaduct was compiled without libdpdk-dev, or the "
    "package viaduct-dpdk is not installed";

// Returns a function of the DPDK library by its name. The first call loads the library, which stays
// loaded.
template <class Function>
Function* Find(const char* name) {
  static void* const library = [] {
    void* const loaded = dlopen(sys::FindCompanion(kLibrary).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) throw EnvironmentError(fmt::format("DPDK: {}", dlerror()));
    return loaded;
  }();
  void* const found = dlsym(library, name);
  if (found == nullptr) throw EnvironmentError(fmt::format("DPDK: {}", dlerror()));
  return reinterpret_cast<Function*>(found);
}

// Throws UsageError if the interface's name has a character that ends a name for DPDK.
void CheckName(const std::string& interface) {
  if (interface.find_first_of(",=[]") == std::string::npos) return;
  throw UsageError(
      fmt::format("DPDK on interface {}: the name contains one of the characters ,=[]; rename the "
                  "interface with: ip link set {} name NEW",
                  interface, interface));
}

// Attaches a filter that drops the frames that this machine's kernel sends on the interface. The
// driver joins a fanout group, for which PACKET_IGNORE_OUTGOING has no effect.
void Prepare(int socket, const sys::PacketFilter& filter) {
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  if (filter.PassesEverything()) {
    program.push_back(BPF_STMT(BPF_RET | BPF_K, 0xffffffff));
  } else {
    program.insert(program.end(), filter.instructions().begin(), filter.instructions().end());
  }
  const sock_fprog whole = {static_cast<uint16_t>(program.size()), program.data()};
  SetSocketOption(socket, SOL_SOCKET, SO_ATTACH_FILTER, whole, "SO_ATTACH_FILTER");
}

Device DeviceOn(Request& request) {
  const auto link = sys::Netlink().FindLink(request.interface);
  if (!link) throw UsageError("there is no interface " + request.interface + "; see ip link");
  if (!link->ethernet) {
    throw UsageError("DPDK on interface " + request.interface +
                     ": the interface does not carry Ethernet frames");
  }
  CheckName(request.interface);
  Device device;
  device.name = kInterfaceDriver;
  device.interface = request.interface;
  device.ifindex = link->ifindex;
  device.mtu = static_cast<uint32_t>(link->mtu);
  device.control = request.control ? std::move(request.control)
                                   : sys::OpenPacketSocket(request.interface, true).fd;
  return device;
}

Device DeviceOfItsOwn(const Request& request) {
  const auto refuse = [&](const char* reason) {
    throw UsageError(fmt::format("DPDK device {}: {}", request.interface, reason));
  };
  if (!request.filter.empty())
    refuse("filters are supported only on kernel interfaces; remove the filter");
  if (!request.qdisc_bypass)
    refuse(
        "frames of a DPDK device cannot pass through a queueing discipline; set QdiscBypass to "
        "true");
  if (request.interface.starts_with("net_af_xdp")) {
    refuse(
        "this driver leaves its XDP program attached to the interface if the process is killed; "
        "use af_xdp");
  }
  Device device;
  device.name = request.interface;
  device.mtu = request.mtu;
  return device;
}

}  // namespace

std::string Unavailable() try {
  sys::FindCompanion(kLibrary);
  return "";
} catch (const Error&) {
  return kNotBuilt;
}

bool IsDevice(const std::string& name) { return name.find_first_of(":,") != name.npos; }

void CheckUsable() {
  if (!Unavailable().empty()) throw EnvironmentError(Unavailable() + "; use AF_PACKET");
  if (geteuid() != 0) {
    throw EnvironmentError(
        "this process must run as root to use DPDK, which opens devices in the process that uses "
        "the devices; run as root, or use AF_PACKET");
  }
}

std::unique_ptr<io::AnyPort> OpenPort(Request request) try {
  CheckUsable();
  auto* const open = Find<OpenFunction>(kOpenFunction);
  const sys::PacketFilter filter = sys::PacketFilter::Compile(request.filter);
  Device device = IsDevice(request.interface) ? DeviceOfItsOwn(request) : DeviceOn(request);
  device.keeper = std::move(request.keeper);
  device.slots = request.slots;
  device.qdisc_bypass = request.qdisc_bypass;
  device.prepare = [&filter](int socket) { Prepare(socket, filter); };
  return open(std::move(device));
} catch (const SystemError& error) {
  if (error.error_number() != EPERM && error.error_number() != EACCES) throw;
  throw EnvironmentError(fmt::format("DPDK on {} requires root ({}); run as root, or use AF_PACKET",
                                     request.interface, error.what()));
}

sys::Feature Probe() {
  sys::Feature feature;
  feature.name = "DPDK";
  feature.purpose = "path --port dpdk";
  try {
    sys::InScratchNamespace([] {
      sys::Netlink session;
      session.CreateVethPair({-1, "probe", std::nullopt, 1500}, {-1, "other", std::nullopt, 1500});
      for (const char* name : {"probe", "other"}) session.SetUp(session.IfIndex(name), true);
      OpenPort({.interface = "probe", .slots = 64});
    });
    feature.state = sys::Feature::State::kPresent;
    feature.purpose += fmt::format(": {}", Find<VersionFunction>(kVersionFunction)());
  } catch (const Error& error) {
    feature.state = sys::Feature::State::kAbsent;
    feature.detail = error.what();
    feature.remedy = Unavailable().empty()
                         ? "resolve the error"
                         : "install the package viaduct-dpdk; if Viaduct was built from source: "
                           "apt-get install libdpdk-dev, and build Viaduct again";
  }
  return feature;
}

}  // namespace viaduct::dpdk
