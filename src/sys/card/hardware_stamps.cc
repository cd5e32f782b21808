#include "sys/card/hardware_stamps.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "sys/descriptors.h"

namespace viaduct::sys {
namespace {

// One interface, by its index where it may have been renamed.
class Card {
 public:
  explicit Card(std::string interface)
      : interface_(std::move(interface)),
        socket_(SystemCall("open a socket for time stamps",
                           socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))) {
    ifreq request = Request(nullptr);
    SystemCall("interface " + interface_, ioctl(socket_.get(), SIOCGIFINDEX, &request));
    ifindex_ = request.ifr_ifindex;
  }

  int Fd() const { return socket_.get(); }

  ethtool_ts_info Describe() const {
    ethtool_ts_info info{};
    info.cmd = ETHTOOL_GET_TS_INFO;
    if (!Call(SIOCETHTOOL, &info)) info = {}, info.phc_index = -1;
    return info;
  }
  // Nothing of drivers that do not tell.
  hwtstamp_config Setting() const {
    hwtstamp_config setting{};
    if (!Call(SIOCGHWTSTAMP, &setting)) setting = {};
    return setting;
  }
  // errno of the driver, or 0.
  int Set(hwtstamp_config setting, hwtstamp_config* done) const {
    if (!Call(SIOCSHWTSTAMP, &setting)) return errno;
    *done = setting;
    return 0;
  }
  // For who comes later.
  void FindName() {
    ifreq request{};
    request.ifr_ifindex = ifindex_;
    if (ioctl(socket_.get(), SIOCGIFNAME, &request) == 0) interface_ = request.ifr_name;
  }

 private:
  ifreq Request(void* data) const {
    ifreq request{};
    interface_.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_data = static_cast<char*>(data);
    return request;
  }
  bool Call(unsigned long what, void* data) const {
    ifreq request = Request(data);
    return ioctl(socket_.get(), what, &request) == 0;
  }

  std::string interface_;
  UniqueFd socket_;
  int ifindex_ = 0;
};

bool Has(uint32_t bits, int number) { return (bits >> number & 1) != 0; }

bool StampsAll(const hwtstamp_config& setting) { return setting.rx_filter == HWTSTAMP_FILTER_ALL; }

[[noreturn]] void Refuse(const std::string& interface, const std::string& why) {
  throw EnvironmentError(fmt::format(
      "{} has no hardware stamps: {}; see `ethtool -T {}`, or use stamps of the kernel's",
      interface, why, interface));
}

void CheckWhatItCan(const std::string& interface, const ethtool_ts_info& info) {
  if (info.phc_index < 0) Refuse(interface, "its driver has no clock of a card");
  if ((info.so_timestamping & SOF_TIMESTAMPING_RAW_HARDWARE) == 0 ||
      (info.so_timestamping & SOF_TIMESTAMPING_RX_HARDWARE) == 0) {
    Refuse(interface, "its driver does not stamp received frames");
  }
  if (!Has(info.rx_filters, HWTSTAMP_FILTER_ALL)) {
    Refuse(interface, "its card stamps only frames of PTP");
  }
}

UniqueFd OpenClock(const std::string& interface, const std::string& name) {
  UniqueFd clock(open(("/dev/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!clock) {
    Refuse(interface,
           fmt::format("its clock /dev/{} cannot be opened: {}", name, std::strerror(errno)));
  }
  return clock;
}

}  // namespace

HardwareStamps::HardwareStamps(const std::string& interface) {
  Card card(interface);
  const ethtool_ts_info info = card.Describe();
  CheckWhatItCan(interface, info);
  name_ = fmt::format("ptp{}", info.phc_index);
  clock_ = std::make_shared<UniqueFd>(OpenClock(interface, name_));
  const bool can_send = (info.so_timestamping & SOF_TIMESTAMPING_TX_HARDWARE) != 0 &&
                        Has(info.tx_types, HWTSTAMP_TX_ON);
  const hwtstamp_config before = card.Setting();
  stamps_sent_ = before.tx_type == HWTSTAMP_TX_ON;
  if (StampsAll(before) && (stamps_sent_ || !can_send)) return;
  // It restores also what is switched on below, whatever happens meanwhile.
  guardian_ = std::make_unique<Guardian>([&card, before](int connection) {
    DropStandardStreams();
    CloseAllBut({connection, card.Fd()});
    AwaitEnd(connection);
    card.FindName();
    hwtstamp_config restored{};
    card.Set(before, &restored);
  });
  hwtstamp_config wanted = before, done{};
  wanted.rx_filter = HWTSTAMP_FILTER_ALL;
  if (can_send && before.tx_type == HWTSTAMP_TX_OFF) wanted.tx_type = HWTSTAMP_TX_ON;
  if (const int error = card.Set(wanted, &done); error != 0) {
    Refuse(interface, fmt::format("its driver does not switch them on (SIOCSHWTSTAMP): {}{}",
                                  std::strerror(error), error == EPERM ? " (needs root)" : ""));
  }
  if (!StampsAll(done)) Refuse(interface, "its driver stamps only some frames");
  stamps_sent_ = done.tx_type == HWTSTAMP_TX_ON;
}

}  // namespace viaduct::sys
