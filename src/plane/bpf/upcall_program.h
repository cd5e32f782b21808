// Packets that leave a kernel's data plane upwards, through a TUN device: those without a route,
// and copies of some that have one.
//
// The program on the TUN device costs other packets nothing: it writes the origin before each
// packet. The programs on the interfaces send up a copy of one packet per flow and interval.
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

// Length of the header before a packet, bytes.
inline constexpr size_t kUpcallHeader = 8;

// A packet that was sent up, and its origin in the kernel.
struct Upcall {
  int ifindex = 0;              // the interface of arrival; 0: a program of the node sent it
  bool is_copy = false;         // the kernel has forwarded, delivered or sent it
  std::span<std::byte> packet;  // from the IP header on; in the memory that was read
};

// Parses bytes read from the TUN device. Returns nothing if they are too short to have been sent by
// the program.
std::optional<Upcall> ReadUpcall(std::span<std::byte> bytes);

// Returns a packet with the header that the program writes before it. For tests.
std::vector<std::byte> WriteUpcall(const Upcall& upcall);

struct UpcallOptions {
  int tun_ifindex = 0;
  std::vector<int> ifindexes;       // Ethernet interfaces whose packets are copied
  std::set<wire::Family> families;  // families whose packets are copied
  Duration interval;                // between two copies of a flow
};

// Makes the TUN device write origins, and the interfaces copy to it unicast packets that arrive,
// and those that programs of the namespace send: of each pair of source and destination, the first
// and then one per interval. At most 65,536 pairs per family are remembered. It stays so as long
// as the interfaces exist and the returned descriptors are open: packets that arrive are copied
// before the eBPF data plane (forwarder.h) receives them. Throws EnvironmentError if the kernel
// cannot do it.
[[nodiscard]] std::vector<UniqueFd> AttachUpcalls(int namespace_fd, const UpcallOptions& options);

}  // namespace viaduct::bpf
