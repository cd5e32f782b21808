// A guest's kernel inside this process: the executable of User Mode Linux as it is, mapped where it
// is linked to, on a stack of its own. What it imports of libc is bound to imports.h, so that
// whenever it would wait for the simulator, the simulator goes on, in the same thread; being let
// run is a switch of stacks. Its programs are processes, as they are of any such kernel
// (ptrace(2)), which is why one and the same thread must do all of it. Where another one is, it is
// moved, if the table of its addresses lies beside it (AddressTable).
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
  std::vector<std::string> words;  // of its command line, the program's name included
  std::vector<std::string> environment;
  uint64_t memory = 0;                          // bytes, as its command line says
  uint64_t seed = 0;                            // of all its randomness
  std::filesystem::path folder;                 // of its relative names while it boots
  std::vector<std::filesystem::path> writable;  // folders in which it may write, and devices
  UniqueFd output;                              // its standard output and error
  std::string streams;  // in that folder, the socket whose connections are streams in memory
};

// Why such a guest cannot be in this process (now); empty if it can. A failure tells one line.
std::string WhyNot(const std::filesystem::path& file, uint64_t memory);

// Several can exist, all made and used in one thread. Destroyed, one leaves nothing behind.
class EmbeddedKernel {
 public:
  // Loads it; it begins when it is first let run. Throws EnvironmentError with WhyNot().
  explicit EmbeddedKernel(KernelOptions options);
  EmbeddedKernel(const EmbeddedKernel&) = delete;
  EmbeddedKernel& operator=(const EmbeddedKernel&) = delete;
  ~EmbeddedKernel();

  // Lets it run until it waits; nothing happens when it has ended or is stuck. `look_for_input`:
  // whether something was sent to it, other than through memory and streams, since it last ran.
  void LetRun(bool look_for_input);
  // After it has been in LetRun() for so long, in wall time, without going on in its own time, it
  // is left there and never let run again: it is stuck.
  void SetTimeout(Duration timeout);
  bool stuck() const;
  // Its wait status (waitpid(2)) when it has ended, by itself or by End().
  std::optional<int> ended() const;
  // The stream beside its connection of this number (0, 1, ...) to the socket of the options;
  // nullptr after its end.
  std::shared_ptr<LocalStream> Stream(size_t connection) const;
  // The next connection on which it has sent something, if there is one.
  std::optional<size_t> TakeRequest();
  // It has no more use for the folder in which it booted.
  void LeaveFolder();
  // Ends it, as by a signal.
  void End(int signal);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::embed
