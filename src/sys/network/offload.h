// Segmentation, aggregation and checksum offloads of an interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace viaduct::sys {

enum class Offloads {
  kAll,           // segmentation, aggregation (GRO, LRO) and checksums, both directions
  kSegmentation,  // segmentation and aggregation only: packets stay packets, checksums may be
                  // partial
  kTags,          // VLAN tags that are beside a packet instead of in it, both directions
};

// Switches the offloads off and looks whether they are: EnvironmentError names those that are not
// (hardware that cannot). Frames are then at most MTU long and, for kAll, checksums complete.
void DisableOffloads(int namespace_fd, const std::string& interface, Offloads which);
// Switches these (ActiveOffloads() before) on again, as far as the device lets them.
void EnableOffloads(int namespace_fd, const std::string& interface,
                    const std::vector<std::string>& names);

// Names (ethtool's) of the offloads of this kind that are active.
std::vector<std::string> ActiveOffloads(int namespace_fd, const std::string& interface,
                                        Offloads which);

// The receive queues that an interface has in use; the driver says so, or else 1.
uint32_t ReceiveQueues(int namespace_fd, const std::string& interface);
// The driver's name (ethtool -i), or nothing.
std::string DriverOf(int namespace_fd, const std::string& interface);

// Has the driver free what it sent when it next sends, instead of in an interrupt, and own sent
// packets' memory itself (virtio_net's without NAPI, drivers/net/virtio_net.c): for an interface
// whose queue nobody needs to be limited by. The interface is down.
void DisableTransmitInterrupts(int namespace_fd, const std::string& interface);

}  // namespace viaduct::sys
