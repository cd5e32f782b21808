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
  kTags,          // VLAN tags next to a packet instead of in it, both directions
};

// Switches the offloads off and checks that they are: throws EnvironmentError naming those that are
// not (hardware that cannot). Frames are then at most MTU long and, for kAll, checksums complete.
void DisableOffloads(int namespace_fd, const std::string& interface, Offloads which);
// Switches these offloads (from ActiveOffloads() before) on again, as far as the device permits.
void EnableOffloads(int namespace_fd, const std::string& interface,
                    const std::vector<std::string>& names);

// Returns the names (ethtool's) of the offloads of this kind that are active.
std::vector<std::string> ActiveOffloads(int namespace_fd, const std::string& interface,
                                        Offloads which);

// Returns the number of receive queues that an interface uses, as reported by the driver, or else
// 1.
uint32_t ReceiveQueues(int namespace_fd, const std::string& interface);
// Returns the driver's name (ethtool -i), or nothing.
std::string DriverOf(int namespace_fd, const std::string& interface);

// Makes the driver free sent packets when it next sends, instead of in an interrupt, and own their
// memory itself (virtio_net's without NAPI, drivers/net/virtio_net.c): for an interface whose queue
// need not limit any sender. The interface must be down.
void DisableTransmitInterrupts(int namespace_fd, const std::string& interface);

}  // namespace viaduct::sys
