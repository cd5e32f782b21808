// Packets that are sent up from a kernel's data plane, through a TUN device: packets without a
// route, and copies of some packets that have a route.
//
// The eBPF program on the TUN device writes the origin before each packet that is sent up; this
// program does not slow other packets down. The programs on the interfaces send up a copy of one
// packet per flow and interval.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "base/wire/address.h"

namespace viaduct::bpf {

// The length of the header before a packet that is sent up, bytes.
inline constexpr size_t kUpcallHeader = 8;

// A packet that was sent up, and its origin in the kernel.
struct Upcall {
  int ifindex = 0;              // interface of arrival; 0: a program of the node sent the packet
  bool is_copy = false;         // the kernel has forwarded, delivered or sent the packet, too
  std::span<std::byte> packet;  // from the IP header on; points into the memory that was read
};

// Parses bytes read from the TUN device. Returns nothing if they are too short to have been sent by
// the eBPF program.
std::optional<Upcall> ReadUpcall(std::span<std::byte> bytes);

// Returns the packet with the header that the eBPF program writes before it. For tests.
std::vector<std::byte> WriteUpcall(const Upcall& upcall);

struct UpcallOptions {
  int tun_ifindex = 0;
  std::vector<int> ifindexes;       // Ethernet interfaces whose packets are copied
  std::set<wire::Family> families;  // families whose packets are copied
  Duration interval;                // minimum time between two copies of packets of a flow
};

// Makes the TUN device write the origin before each packet. Makes the interfaces copy unicast
// packets to the TUN device: packets that arrive, and packets that programs of the namespace send.
// For each pair of source and destination, the first packet is copied, and then one packet per
// interval. At most 65,536 pairs per family are remembered. Copying continues as long as the
// interfaces exist and the returned descriptors are open: packets that arrive are copied before the
// eBPF data plane (forward_program.h) receives them. Throws EnvironmentError if the kernel cannot
// run the programs.
[[nodiscard]] std::vector<UniqueFd> AttachUpcalls(int namespace_fd, const UpcallOptions& options);

}  // namespace viaduct::bpf
