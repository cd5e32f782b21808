// The functions that port/dpdk/open.cc finds in the library.
#include <rte_version.h>

#include "port/dpdk/device.h"
#include "port/dpdk/driver/port.h"

using viaduct::dpdk::Device, viaduct::dpdk::OpenFunction, viaduct::dpdk::VersionFunction;

// The functions have C linkage only for their names.
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wreturn-type-c-linkage"
extern "C" {

OpenFunction ViaductOpenDpdkDevice;
std::unique_ptr<viaduct::io::AnyPort> ViaductOpenDpdkDevice(Device device) {
  return std::make_unique<viaduct::dpdk::Port>(std::move(device));
}

VersionFunction ViaductDpdkVersion;
std::string ViaductDpdkVersion() { return rte_version(); }
}
