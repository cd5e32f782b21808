// DPDK devices and memory, which are released with these objects.
#pragma once

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include <cstdint>
#include <memory>
#include <string>

#include "port/dpdk/device.h"

namespace viaduct::dpdk {

struct FreePool {
  void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
};
using Pool = std::unique_ptr<rte_mempool, FreePool>;

// `room`: the capacity of a buffer for a frame's bytes. Called with Eal::mutex() held. Throws
// EnvironmentError.
Pool MakePool(const std::string& name, uint32_t buffers, uint32_t room);

// A device that exists: made for this process, or found on its bus.
class Probed {
 public:
  // `arguments`: for a virtual device that a driver makes, unless the name has them. Called with
  // Eal::mutex() held, in the interface's network namespace. Throws EnvironmentError.
  Probed(const std::string& name, const std::string& arguments);
  Probed(const Probed&) = delete;
  Probed& operator=(const Probed&) = delete;
  ~Probed();

  uint16_t port() const { return port_; }
  bool is_hardware() const { return !is_virtual_; }
  void Start();  // throws EnvironmentError

 private:
  std::string name_;
  bool is_virtual_;
  uint16_t port_ = RTE_MAX_ETHPORTS;
  bool is_started_ = false;
};

}  // namespace viaduct::dpdk
