// The threads that read the datagrams of a tunnel's clients, each from one UDP socket.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "port/super_frame.h"
#include "remote/tunnel/intake.h"
#include "remote/tunnel/underlay.h"

namespace viaduct::tunnel {

// Reads from sockets that all have one port. The kernel passes all datagrams of a client to the
// same socket, by their VNI, so that the datagrams keep their order.
class Readers {
 public:
  // Prepares one thread for each of `sockets`, which no other thread may read. Throws SystemError.
  Readers(std::vector<Underlay*> sockets, Intake& intake);
  ~Readers();  // ends the threads
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  // Returns a descriptor that is readable when Attend() must be called, also before the first frame
  // arrives.
  int fd() const { return wake_.get(); }
  // Returns the descriptor that the destructor writes to in order to end the threads.
  int EndFd() const { return end_.get(); }
  // Must be called by the thread that takes frames, before it takes frames: frames that arrive
  // later make fd() readable again. The first call starts the threads: the process must not fork
  // after it.
  void Attend();

 private:
  void Run(Underlay& socket);
  void Wake();

  const std::vector<Underlay*> sockets_;
  Intake& intake_;
  UniqueFd wake_, end_;
  std::atomic<bool> awake_ = true;  // whether wake_ is readable
  std::vector<std::thread> threads_;
};

// Returns the number of threads that may read for a simulation or an engine on this machine: all
// processors that this process may use except one, at most kMaxReaders; 0 if the process may use
// only one processor.
size_t SuitableReaders();
inline constexpr size_t kMaxReaders = 8;

}  // namespace viaduct::tunnel
