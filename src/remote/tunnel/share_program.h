// The program that shares a UDP socket's receive buffer among a tunnel's clients (share.bpf.c).
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "remote/tunnel/share.h"

namespace viaduct::tunnel {

// A deleter that unmaps memory of this process.
struct Unmap {
  size_t bytes = 0;
  void operator()(void* memory) const { munmap(memory, bytes); }
};

// The eBPF program's tables. The program and this process write them at the same time, so that
// their members must be read and written atomically. The tables exist until the socket is closed
// and this object is destroyed.
struct Shares {
  // The shares: first the share of foreign datagrams, then the share of each VNI.
  std::unique_ptr<viaduct_share, Unmap> all;
  std::unique_ptr<viaduct_share_sum, Unmap> sum;
};

// Attaches the eBPF program, which then accepts or refuses every datagram of the socket. At first
// no share has a client. `vnis`: unique. `room`: bytes of the socket's buffer. The caller need not
// keep a descriptor of the program. Throws EnvironmentError if the build, the kernel or this
// process's capabilities do not allow the program, and SystemError if the socket refuses the
// program.
Shares AttachShares(int socket, std::span<const uint32_t> vnis, uint64_t room);

}  // namespace viaduct::tunnel
