// The functions of the library that port/dpdk/open.cc finds by their names.
#include <rte_version.h>

#include "port/dpdk/device.h"
#include "port/dpdk/driver/port.h"

using viaduct::dpdk::Device, viaduct::dpdk::OpenFunction, viaduct::dpdk::VersionFunction;

// Ignores a warning: the functions return C++ types, and have C linkage only so that their names
// are not mangled.
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
