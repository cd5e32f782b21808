#include "port/netmap/open.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <net/netmap_user.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "port/interface.h"
#include "port/netmap/port.h"
#include "sys/network/link.h"
#include "sys/network/packet_socket.h"

namespace viaduct::netmap {
namespace {

// The registration of an interface with netmap, which ends when `device` is closed.
struct Registration {
  std::shared_ptr<void> keeper;  // the first member, so it is destroyed last
  UniqueFd control;              // a socket that keeps the interface in promiscuous mode
  UniqueFd device;
  void* memory = MAP_FAILED;
  size_t bytes = 0;

  Registration() = default;
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    if (memory != MAP_FAILED) munmap(memory, bytes);
  }
};

[[noreturn]] void Refuse(const std::string& interface, int error) {
  const char* why = error == EBUSY    ? "another program uses the interface"
                    : error == EINVAL ? "the netmap module has another API version than the netmap "
                                        "headers with which Viaduct was compiled"
                    : error == ENXIO  ? "netmap cannot open the interface"
                                      : std::strerror(error);
  throw EnvironmentError(fmt::format("netmap on interface {}: {}; use AF_PACKET", interface, why));
}

nmreq_register Register(int device, const std::string& interface) {
  nmreq_register body{};
  body.nr_mode = NR_REG_ALL_NIC;
  body.nr_flags = NR_EXCLUSIVE;
  nmreq_header header{};
  header.nr_version = NETMAP_API;
  header.nr_reqtype = NETMAP_REQ_REGISTER;
  header.nr_body = reinterpret_cast<uint64_t>(&body);
  interface.copy(header.nr_name, sizeof header.nr_name - 1);
  if (ioctl(device, NIOCCTRL, &header) != 0) Refuse(interface, errno);
  return body;
}

UniqueFd OpenDevice() {
  const int fd = open(NETMAP_DEVICE_NAME, O_RDWR | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) {
    throw EnvironmentError(NETMAP_DEVICE_NAME
                           " does not exist; load the netmap module, or use AF_PACKET");
  }
  return UniqueFd(SystemCall("open " NETMAP_DEVICE_NAME " (needs root)", fd));
}

}  // namespace

std::string Unavailable() { return ""; }

void CheckUsable() { OpenDevice(); }

std::unique_ptr<io::AnyPort> OpenPort(const std::string& interface, std::shared_ptr<void> keeper) {
  const auto link = sys::Netlink().FindLink(interface);
  if (!link) throw UsageError("there is no interface " + interface + "; see ip link");
  if (!link->ethernet) {
    throw UsageError("netmap on interface " + interface +
                     ": the interface does not carry Ethernet frames");
  }
  auto registration = std::make_shared<Registration>();
  registration->keeper = std::move(keeper);
  registration->device = OpenDevice();
  registration->control = sys::OpenPacketSocket(interface, true).fd;
  const nmreq_register body = Register(registration->device.get(), interface);
  registration->bytes = body.nr_memsize;
  registration->memory = mmap(nullptr, registration->bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                              registration->device.get(), 0);
  if (registration->memory == MAP_FAILED) throw SystemError("map the memory of netmap", errno);
  Registered registered;
  registered.interface = NETMAP_IF(registration->memory, body.nr_offset);
  registered.fd = registration->device.get();
  registered.mtu = static_cast<uint32_t>(link->mtu);
  registered.sync = [fd = registered.fd](unsigned long request) {
    return ioctl(fd, request, nullptr);
  };
  registered.is_up = [fd = registration->control.get(), ifindex = link->ifindex] {
    return io::InterfaceIsUp(fd, ifindex);
  };
  registered.keeper = std::move(registration);
  return std::make_unique<Port>(std::move(registered));
}

}  // namespace viaduct::netmap
