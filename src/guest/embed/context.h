// What the imports of a guest that lives in this process share with its owner.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "base/fd.h"
#include "guest/embed/local_stream.h"

namespace viaduct::embed {

// Memory [begin, end).
struct Range {
  uintptr_t begin = 0, end = 0;
  bool Contains(const void* start, size_t size) const {
    const auto at = reinterpret_cast<uintptr_t>(start);
    return at >= begin && at <= end && size <= end - at;
  }
};

struct Context {
  // Set in copies of this process (fork, clone) that the guest makes for its programs: all imports
  // are libc's there, and the process is left without the simulator's clean-up.
  bool copy = false;

  // --- Switches.
  std::atomic<bool> inside{false};  // the guest's kernel runs, not the simulator
  void* guest_place = nullptr;
  void* simulator_place = nullptr;
  std::atomic<uint64_t> switches{0};  // how often the guest was let run
  std::optional<int> ended;           // with this wait status (waitpid(2))
  std::atomic<bool> stuck{false};     // it was left in the middle of something
  std::atomic<uint64_t> unwanted{0};  // let run for so many times, it is to leave (MakeLeave())

  // --- Memory.
  Range place;         // of the image, its memory and its addresses for vmalloc
  uintptr_t heap = 0;  // what sbrk() answers

  // --- Signals. The kernel's handlers by number; the one of SIGIO is called, never sent.
  struct sigaction handlers[NSIG] = {};
  stack_t signal_stack = {};
  int in_handler = 0;
  // There may be input for it that nobody has looked for.
  bool input_not_looked_for = true;

  // --- Descriptors and files.
  int standard[3] = {-1, -1, -1};  // what it has for 0, 1 and 2
  std::set<int> descriptors;       // that it has opened
  int events = -1;                 // its epoll instance
  int boot_folder = -1;            // while it boots, relative names are names in it...
  int simulator_folder = -1;       // ...and else in this one
  std::vector<std::filesystem::path> writable;

  // --- Connections to the simulator's socket of this name, in the order in which they were made.
  std::string streams_name;
  std::vector<std::shared_ptr<LocalStream>> streams;
  std::map<int, size_t> stream_of;  // by the guest's descriptor
  std::deque<size_t> requests;      // one for each time it has sent something
  uint64_t requested = 0;           // the value of `switches` when it did last

  std::set<pid_t> processes;  // of its programs
  // Set while SIGCHLD is blocked because of them, with the mask before: the simulator's handler
  // could wait for any child (waitpid(-1)) and would take what the guest waits for.
  std::optional<sigset_t> mask_before;
  std::vector<std::string> environment;
  uint64_t random_state = 0;
};

// The one of the guest that runs, or is about to, or ran last. Not to be called without one.
Context& Here();
bool IsAnybodyHere();
// Makes it that one; nullptr: none is left.
void SetContext(Context* context);

// Goes back to the simulator until the guest is let run again. Calls the guest's handler of SIGIO
// if there is input for it then, and returns whether there was.
bool LetSimulatorRun();
// The same if there is input already, without going back. Only looks if there can be some.
bool TakeInput();
// Goes back to the simulator for good: the guest has ended with this wait status.
[[noreturn]] void End(int status);
// Closes the guest's descriptors and ends its programs' processes.
void CleanUp(Context& context);

// Before a process of the guest is started or goes on: blocks SIGCHLD, until the guest waits.
void BlockChildSignals(Context& context);
// On the simulator's stack, because its handlers may run here.
void RestoreSignals(Context& context);

// Keeps a descriptor (or a negative number) among the guest's and returns it.
int Opened(int fd);
// The descriptor that the guest's number stands for.
int Real(int fd);
// The stream beside a connection of the guest's; nullptr for other descriptors, and in copies.
LocalStream* StreamOf(int fd);

// Whether the guest may create, change and remove this file of the machine.
bool MayChange(const char* path);

// Makes the simulator's working directory the process's again.
void LeaveBootFolder();

// What `action` returns that uses this name: while the guest boots, a relative one is in its
// folder, which is the process's working directory meanwhile. Fails as a system call does.
template <typename Action>
auto AtName(const char* path, Action action) {
  using Result = decltype(action());
  if (path[0] == '/' || Here().boot_folder < 0) return action();
  if (fchdir(Here().boot_folder) < 0) {
    if constexpr (std::is_pointer_v<Result>) {
      return Result{nullptr};
    } else {
      return Result{-1};
    }
  }
  const Result result = action();
  LeaveBootFolder();
  return result;
}

}  // namespace viaduct::embed
