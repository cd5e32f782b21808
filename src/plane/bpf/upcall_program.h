// Packets that leave a kernel's data plane upwards, through a TUN device: those without a route,
// and copies of some that have one.
//
// The program on the TUN device costs other packets nothing: it writes before each packet where it
// comes from. Those on the interfaces send of each flow one packet per interval up as a copy.
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

// What is written before a packet, bytes.
inline constexpr size_t kUpcallHeader = 8;

// A packet that went up, and where it was in the kernel.
struct Upcall {
  int ifindex = 0;              // it came in on this interface; 0: a program of the node sent it
  bool is_copy = false;         // the kernel has forwarded, delivered or sent it
  std::span<std::byte> packet;  // from the IP header on; in the memory that was read
};

// Reads what the TUN device carried up. None: it is too short to have been sent by the program.
std::optional<Upcall> ReadUpcall(std::span<std::byte> bytes);

// What the program writes before a packet. For tests.
std::vector<std::byte> WriteUpcall(const Upcall& upcall);

struct UpcallOptions {
  int tun_ifindex = 0;
  std::vector<int> ifindexes;       // Ethernet interfaces whose packets are copied
  std::set<wire::Family> families;  // that are copied
  Duration interval;                // between two copies of a flow
};

// Makes the TUN device write origins, and the interfaces copy to it unicast packets that come in,
// and those that programs of the namespace send: of each pair of source and destination, the first
// and then one per interval. At most 65,536 pairs of a family are remembered. It stays so as long
// as the interfaces exist, and the descriptors that it returns are open: packets that come in are
// copied before the eBPF data plane (forwarder.h) gets them. Throws EnvironmentError if the kernel
// cannot.
[[nodiscard]] std::vector<UniqueFd> AttachUpcalls(int namespace_fd, const UpcallOptions& options);

}  // namespace viaduct::bpf
