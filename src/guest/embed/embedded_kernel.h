// A guest's kernel inside this process: the unchanged executable of User Mode Linux, mapped to the
// addresses to which it is linked, and run on a separate stack. Its imports of libc are bound to
// the functions of imports.h: whenever the kernel would wait for the simulator, the simulator
// continues in the same thread, so letting the kernel run is a switch of stacks. The kernel's
// programs are processes, as with any User Mode Linux kernel (ptrace(2)), so one and the same
// thread must run the kernel always. If the addresses are taken and the executable's address table
// exists (AddressTable), the kernel is moved to other addresses.
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
  uint64_t memory = 0;           // the memory's size in bytes, as in the command line
  uint64_t seed = 0;             // the seed of all the kernel's randomness
  std::filesystem::path folder;  // the folder of relative names during the boot
  // The folders and devices to which the kernel may write.
  std::vector<std::filesystem::path> writable;
  UniqueFd output;  // the kernel's standard output and standard error
  // The name of the socket in `folder` whose connections are streams in memory.
  std::string streams;
};

// Returns the reason why a guest with this executable and memory cannot run in this process at
// present, as one line; empty if it can.
std::string Unavailable(const std::filesystem::path& file, uint64_t memory);

// A kernel in this process. Several kernels can exist; all must be created and used in one thread.
// The destructor releases everything that the kernel has allocated.
class EmbeddedKernel {
 public:
  // Loads the kernel, which begins to run at the first LetRun(). Throws EnvironmentError with the
  // reason that Unavailable() returns.
  explicit EmbeddedKernel(KernelOptions options);
  EmbeddedKernel(const EmbeddedKernel&) = delete;
  EmbeddedKernel& operator=(const EmbeddedKernel&) = delete;
  ~EmbeddedKernel();

  // Lets the kernel run until it waits; does nothing if the kernel has ended or is stuck.
  // `look_for_input` must be true if something was sent to the kernel, other than through memory
  // and streams, since it last ran.
  void LetRun(bool look_for_input);
  // Sets the maximum wall time that the kernel may run in one LetRun() without advancing its
  // virtual time. A kernel that exceeds the timeout is stuck: LetRun() returns, and the kernel
  // never runs again.
  void SetTimeout(Duration timeout);
  bool stuck() const;
  // Returns the kernel's wait status (waitpid(2)) if the kernel has ended, on its own or because of
  // End(); otherwise nullopt.
  std::optional<int> ended() const;
  // Returns the stream of the kernel's connection with this number (0, 1, ...) to the socket
  // KernelOptions::streams; nullptr after the kernel's end.
  std::shared_ptr<LocalStream> Stream(size_t connection) const;
  // Returns the number of the next connection on which the kernel has sent something; nullopt if
  // there is none.
  std::optional<size_t> TakeRequest();
  // Closes the folder in which the kernel booted and which it no longer uses.
  void LeaveFolder();
  // Ends the kernel in the same way as a signal with the number `signal` would end it.
  void End(int signal);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::embed
