// Segmentation, aggregation and checksum offloads of an interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace viaduct::sys {

enum class Offloads {
  kAll,  // segmentation, aggregation (GRO, LRO) and checksums, both directions
  // Segmentation and aggregation only: the kernel then neither splits nor merges packets, but
  // checksums may be partial.
  kSegmentation,
  kTags,  // VLAN tags next to a packet instead of in it, both directions
};

// Switches the offloads off and checks that they are off: throws EnvironmentError naming the
// offloads that are still on (hardware that cannot switch them off). Frames are then at most MTU
// long and, for kAll, checksums complete.
void DisableOffloads(int namespace_fd, const std::string& interface, Offloads which);
// Switches on again the offloads that ActiveOffloads() returned earlier, as far as the device
// permits.
void EnableOffloads(int namespace_fd, const std::string& interface,
                    const std::vector<std::string>& names);

// Returns the names (as in ethtool) of those offloads of the kind `which` that are on.
std::vector<std::string> ActiveOffloads(int namespace_fd, const std::string& interface,
                                        Offloads which);

// Returns the number of receive queues that an interface uses, as reported by the driver; 1 if the
// driver does not report it.
uint32_t ReceiveQueues(int namespace_fd, const std::string& interface);
// Returns the driver's name (ethtool -i), or nothing if it is not known.
std::string DriverOf(int namespace_fd, const std::string& interface);

// Changes how the driver virtio_net without NAPI frees packets that were sent
// (drivers/net/virtio_net.c): the driver frees the packets when it sends the next ones, instead of
// in an interrupt, and their memory no longer counts for the sender's socket. For an interface
// whose queue need not limit any sender. The interface must be down.
void DisableTransmitInterrupts(int namespace_fd, const std::string& interface);

}  // namespace viaduct::sys
