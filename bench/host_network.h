// Dumbbells of this machine's own kernel: the network of ns3-dumbbell in network namespaces, many
// at once. They have no names and vanish with the process.
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
  std::vector<UniqueFd> senders, receivers;  // namespaces, one a flow
  std::vector<UniqueFd> routers;             // left, right
};

// The address of receiver `flow`, host order; as in ns3-dumbbell.
uint32_t HostReceiverAddress(uint32_t flow);

// Builds them. The routers of dumbbell i end in the calling thread's namespace, at the interfaces
// l<i> and r<i>, for a path emulator to join. No segmentation offload anywhere: frames are as long
// as on a wire. Throws SystemError.
std::vector<HostDumbbell> BuildHostDumbbells(const HostNetworkOptions& options);

}  // namespace viaduct::bench
