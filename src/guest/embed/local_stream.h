// A connection between a guest in this process and the simulator, in memory.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <span>
#include <vector>

#include "base/fd.h"

namespace viaduct::embed {

// The bytes that each side has sent and the other has not read. Both sides are the same thread, so
// that neither waits here. In addition there is a socket, whose only use is to show the end of the
// guest's side.
class LocalStream {
 public:
  // --- The guest's side.
  // Sends like sendmsg(2): all of it, with duplicates of its descriptors (SCM_RIGHTS); returns -1
  // and sets errno if there are too many.
  ssize_t Send(const msghdr& message);
  // Receives like recv(2) of a stream: some of the available bytes.
  size_t Receive(std::span<std::byte> bytes) { return to_guest_.Take(bytes); }
  bool readable() const { return !to_guest_.empty(); }

  // --- The simulator's side.
  size_t Take(std::span<std::byte> bytes, std::vector<UniqueFd>& descriptors);
  void Answer(std::span<const std::byte> bytes) { to_guest_.Add(bytes); }

 private:
  // Bytes in their order.
  class Bytes {
   public:
    void Add(std::span<const std::byte> bytes);
    size_t Take(std::span<std::byte> bytes);  // all, or as many as fit
    bool empty() const { return taken_ == bytes_.size(); }

   private:
    std::vector<std::byte> bytes_;
    size_t taken_ = 0;  // the number taken, from the front
  };

  Bytes to_guest_, to_simulator_;
  std::vector<UniqueFd> descriptors_;  // to the simulator
};

}  // namespace viaduct::embed
