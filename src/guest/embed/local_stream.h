// A connection in memory between a guest in this process and the simulator.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <span>
#include <vector>

#include "base/fd.h"

namespace viaduct::embed {

// The bytes that each side has sent and the peer has not read yet. Both sides run in the same
// thread, so no function of this class waits. Each connection also has a socket, whose only purpose
// is to show the end of the guest's side.
class LocalStream {
 public:
  // --- The guest's side.
  //
  // Sends all bytes of a message, with duplicates of its descriptors (SCM_RIGHTS), as sendmsg(2)
  // does; returns -1 and sets errno if there are too many descriptors.
  ssize_t Send(const msghdr& message);
  // Receives some of the available bytes, as recv(2) does from a stream socket.
  size_t Receive(std::span<std::byte> bytes) { return to_guest_.Take(bytes); }
  bool readable() const { return !to_guest_.empty(); }

  // --- The simulator's side.
  size_t Take(std::span<std::byte> bytes, std::vector<UniqueFd>& descriptors);
  void Answer(std::span<const std::byte> bytes) { to_guest_.Add(bytes); }

 private:
  // A queue of bytes.
  class Bytes {
   public:
    void Add(std::span<const std::byte> bytes);
    size_t Take(std::span<std::byte> bytes);  // takes all bytes, or as many as fit in `bytes`
    bool empty() const { return taken_ == bytes_.size(); }

   private:
    std::vector<std::byte> bytes_;
    size_t taken_ = 0;  // the number of bytes already taken from the front
  };

  Bytes to_guest_, to_simulator_;
  std::vector<UniqueFd> descriptors_;  // the descriptors that the guest has sent to the simulator
};

}  // namespace viaduct::embed
