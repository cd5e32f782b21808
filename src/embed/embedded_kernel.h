// A guest's kernel inside this process: the executable of User Mode Linux as it is, mapped where it
// is linked to, on a stack of its own. What it imports of libc is bound to imports.h, so that
// whenever it would wait for the simulator, the simulator goes on, in the same thread; being let
// run is a switch of stacks. Its programs are processes, as they are of any such kernel
// (ptrace(2)), which is why one and the same thread must do all of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"

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
};

// Why such a guest cannot be in this process (now); empty if it can. A failure tells one line.
std::string WhyNot(const std::filesystem::path& file, uint64_t memory);

// At most one exists at a time. Destroyed in the thread that made it, it leaves nothing behind.
class EmbeddedKernel {
 public:
  // Loads it; it begins when it is first let run. Throws EnvironmentError with WhyNot().
  explicit EmbeddedKernel(KernelOptions options);
  EmbeddedKernel(const EmbeddedKernel&) = delete;
  EmbeddedKernel& operator=(const EmbeddedKernel&) = delete;
  ~EmbeddedKernel();

  // Lets it run until it waits; nothing happens when it has ended or is stuck. `look_for_input`:
  // whether something was sent to it, other than through memory, since it last ran.
  void LetRun(bool look_for_input);
  // After it has been in LetRun() for so long, in wall time, without going on in its own time, it
  // is left there and never let run again: it is stuck.
  void SetPatience(Duration patience);
  bool stuck() const;
  // Its wait status (waitpid(2)) when it has ended, by itself or by End().
  std::optional<int> ended() const;
  // It has no more use for the folder in which it booted.
  void LeaveFolder();
  // Ends it, as by a signal.
  void End(int signal);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::embed
