// A guest's kernel inside this process: the executable of User Mode Linux as it is, mapped to the
// addresses to which it is linked, on a separate stack. Its imports of libc are bound to imports.h,
// so that whenever it would wait for the simulator, the simulator continues, in the same thread;
// letting the kernel run is a switch of stacks. Its programs are processes, as they are of any such
// kernel (ptrace(2)), which is why one and the same thread must do all of it. If the addresses are
// taken, it is moved, if the table of its addresses is next to it (AddressTable).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "guest/embed/local_stream.h"

namespace viaduct::embed {

struct KernelOptions {
  std::filesystem::path file;
  std::vector<std::string> words;  // the command line, including the program's name
  std::vector<std::string> environment;
  uint64_t memory = 0;                          // bytes, as in the command line
  uint64_t seed = 0;                            // the seed of all its randomness
  std::filesystem::path folder;                 // the folder of relative names while it boots
  std::vector<std::filesystem::path> writable;  // folders in which it may write, and devices
  UniqueFd output;                              // standard output and error
  std::string streams;  // in that folder, the socket whose connections are streams in memory
};

// Returns the reason why such a guest cannot be in this process (now), in one line; empty if it
// can.
std::string Unavailable(const std::filesystem::path& file, uint64_t memory);

// A kernel in this process. Several can exist, all made and used in one thread. The destructor
// leaves nothing behind.
class EmbeddedKernel {
 public:
  // Loads the kernel, which begins when it is first let run. Throws EnvironmentError with
  // Unavailable().
  explicit EmbeddedKernel(KernelOptions options);
  EmbeddedKernel(const EmbeddedKernel&) = delete;
  EmbeddedKernel& operator=(const EmbeddedKernel&) = delete;
  ~EmbeddedKernel();

  // Lets it run until it waits; does nothing when it has ended or is stuck. `look_for_input`:
  // whether something was sent to it, other than through memory and streams, since it last ran.
  void LetRun(bool look_for_input);
  // Sets the wall time after which a kernel that is in LetRun() and whose virtual time does not
  // advance is left there and never let run again: it is stuck.
  void SetTimeout(Duration timeout);
  bool stuck() const;
  // Returns its wait status (waitpid(2)) when it has ended, by itself or by End().
  std::optional<int> ended() const;
  // Returns the stream of its connection of this number (0, 1, ...) to the socket of the options;
  // nullptr after its end.
  std::shared_ptr<LocalStream> Stream(size_t connection) const;
  // Returns the next connection on which it has sent something, if there is one.
  std::optional<size_t> TakeRequest();
  // Releases the folder in which it booted, which it no longer uses.
  void LeaveFolder();
  // Ends the kernel, as by a signal.
  void End(int signal);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::embed
