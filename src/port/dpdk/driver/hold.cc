#include "port/dpdk/driver/hold.h"

#include <fmt/format.h>
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "base/error.h"
#include "port/dpdk/driver/eal.h"

namespace viaduct::dpdk {
namespace {

bool IsVirtual(const std::string& name) {
  return name.starts_with("net_") || name.starts_with("eth_");
}

}  // namespace

Pool MakePool(const std::string& name, uint32_t buffers, uint32_t room) {
  constexpr uint32_t kCache = 256;  // buffers in the cache of EAL's thread
  Pool pool(rte_pktmbuf_pool_create(name.c_str(), buffers + 2 * kCache, kCache, 0,
                                    static_cast<uint16_t>(room + RTE_PKTMBUF_HEADROOM),
                                    SOCKET_ID_ANY));
  if (!pool) {
    Eal::Get().Refuse(fmt::format("allocate {} buffers of {} bytes", buffers, room), -rte_errno);
  }
  return pool;
}

Probed::Probed(const std::string& name, const std::string& arguments)
    : name_(name.substr(0, name.find(','))), is_virtual_(IsVirtual(name)) {
  const std::string given = name_.size() < name.size() ? name.substr(name_.size() + 1) : arguments;
  const int result =
      is_virtual_ ? rte_vdev_init(name_.c_str(), given.c_str()) : rte_dev_probe(name.c_str());
  if (result != 0) Eal::Get().Refuse("open the device " + name, result);
  if (const int found = rte_eth_dev_get_port_by_name(name_.c_str(), &port_); found != 0) {
    if (is_virtual_) rte_vdev_uninit(name_.c_str());
    Eal::Get().Refuse("find a network port of the device " + name, found);
  }
}

Probed::~Probed() {
  const std::scoped_lock lock(Eal::Get().mutex());
  if (is_started_) rte_eth_dev_stop(port_);
  if (is_virtual_) {
    rte_vdev_uninit(name_.c_str());  // closes the device, too
  } else {
    rte_eth_dev_info info{};
    const bool is_known = rte_eth_dev_info_get(port_, &info) == 0;
    rte_eth_dev_close(port_);
    if (is_known) rte_dev_remove(info.device);
  }
}

void Probed::Start() {
  const int result = rte_eth_dev_start(port_);
  if (result != 0) Eal::Get().Refuse("start the device " + name_, result);
  is_started_ = true;
}

}  // namespace viaduct::dpdk
