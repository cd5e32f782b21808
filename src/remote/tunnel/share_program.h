// The program that shares a UDP socket's receive buffer among a tunnel's clients (share.bpf.c).
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "remote/tunnel/share.h"

namespace viaduct::tunnel {

// Ends a mapping of this process.
struct Unmap {
  size_t bytes = 0;
  void operator()(void* memory) const { munmap(memory, bytes); }
};

// The program's tables, which it and their user write at the same time: members must be read and
// written atomically. They end with the socket and this object.
struct Shares {
  std::unique_ptr<viaduct_share, Unmap> all;  // first the foreign share, then that of each VNI
  std::unique_ptr<viaduct_share_sum, Unmap> sum;
};

// Makes the program decide about every datagram of the socket from now on. No share has a client
// yet. `vnis`: each once. `room`: bytes of the socket's buffer. Needs no descriptor afterwards.
// Throws EnvironmentError if the build, the kernel or this process's capabilities do not allow it,
// and SystemError if the socket does not.
Shares AttachShares(int socket, std::span<const uint32_t> vnis, uint64_t room);

}  // namespace viaduct::tunnel
