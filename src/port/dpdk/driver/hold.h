// Owners of DPDK devices and memory pools, which release them in their destructors.
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

// Creates a pool of buffers. `room`: the capacity of a buffer for a frame's bytes. The caller must
// hold Eal::mutex(). Throws EnvironmentError.
Pool MakePool(const std::string& name, uint32_t buffers, uint32_t room);

// A DPDK device that exists: a virtual device made for this process, or a device found on its bus.
class Probed {
 public:
  // Opens a device. `arguments`: the arguments of a virtual device, unless the name includes them.
  // The caller must hold Eal::mutex() and be in the interface's network namespace. Throws
  // EnvironmentError.
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
