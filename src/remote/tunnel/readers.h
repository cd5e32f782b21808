// The threads that read what the clients of a tunnel's hub send, a UDP socket each.
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

// All sockets have one port; the kernel gives each client's datagrams to the same one of them, by
// their VNI, so that their order remains.
class Readers {
 public:
  // As many as there are `sockets`, which are read by nobody else. Throws SystemError.
  Readers(std::vector<Underlay*> sockets, Intake& intake);
  ~Readers();  // ends the threads
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  // Readable when Attend() is to be called, also before the first frame has come.
  int fd() const { return wake_.get(); }
  // Its other descriptor.
  int EndFd() const { return end_.get(); }
  // By the one that takes the frames, before it does: what comes from now on makes fd() readable
  // again. Starts the threads when it is first called: in a process that does not fork any more.
  void Attend();

 private:
  void Run(Underlay& socket);
  void Wake();

  const std::vector<Underlay*> sockets_;
  Intake& intake_;
  UniqueFd wake_, end_;
  std::atomic<bool> awake_ = true;  // wake_ is readable
  std::vector<std::thread> threads_;
};

// How many threads may read for a simulation or an engine on this machine: all processors that
// this process may use but one, at most kMaxReaders; 0 if there is no other.
size_t SuitableReaders();
inline constexpr size_t kMaxReaders = 8;

}  // namespace viaduct::tunnel
