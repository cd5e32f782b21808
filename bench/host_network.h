// Dumbbell networks with this machine's own kernel: the network of ns3-dumbbell in network
// namespaces, many at a time. The namespaces have no names and vanish when the process exits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"

namespace viaduct::bench {

struct HostNetworkOptions {
  uint32_t dumbbells = 1;
  uint32_t flows = 2;                          // number of flows of each dumbbell
  std::map<std::string, std::string> sysctls;  // sysctls of senders and receivers
};

struct HostDumbbell {
  std::vector<UniqueFd> senders, receivers;  // network namespaces, one for each flow
  std::vector<UniqueFd> routers;             // namespaces of the left and the right router
};

// Returns the address of receiver `flow` in host byte order, which is the same as in ns3-dumbbell.
uint32_t HostReceiverAddress(uint32_t flow);

// Builds the dumbbells. The routers of dumbbell i are connected to the interfaces l<i> and r<i> in
// the calling thread's namespace, which a path emulator can join. No interface has segmentation
// offload: frames are as long as on a wire. Throws SystemError.
std::vector<HostDumbbell> BuildHostDumbbells(const HostNetworkOptions& options);

}  // namespace viaduct::bench
