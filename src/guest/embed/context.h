// The state that the imports of a guest in this process share with its owner.
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
  // are libc's there, and the copy exits without the simulator's clean-up.
  bool copy = false;

  // --- Switches.
  std::atomic<bool> inside{false};  // the guest's kernel runs, not the simulator
  void* guest_place = nullptr;
  void* simulator_place = nullptr;
  std::atomic<uint64_t> switches{0};  // the number of times the guest was let run
  std::optional<int> ended;           // with this wait status (waitpid(2))
  std::atomic<bool> stuck{false};     // the guest was left before it returned
  std::atomic<uint64_t> unwanted{0};  // the value of `switches` to leave at (MakeLeave())

  // --- Memory.
  Range place;         // the image, its memory and its addresses for vmalloc
  uintptr_t heap = 0;  // the result of sbrk()

  // --- Signals. The kernel's handlers by number; the handler of SIGIO is called, never a signal.
  struct sigaction handlers[NSIG] = {};
  stack_t signal_stack = {};
  int in_handler = 0;
  // There may be input for the guest that has not been looked for.
  bool input_not_looked_for = true;

  // --- Descriptors and files.
  int standard[3] = {-1, -1, -1};  // the guest's 0, 1 and 2
  std::set<int> descriptors;       // opened by the guest
  int events = -1;                 // the guest's epoll instance
  int boot_folder = -1;            // while it boots, relative names are names in it...
  int simulator_folder = -1;       // ...and else in this one
  std::vector<std::filesystem::path> writable;

  // --- Connections to the simulator's socket of this name, in the order in which they were made.
  std::string streams_name;
  std::vector<std::shared_ptr<LocalStream>> streams;
  std::map<int, size_t> stream_of;  // key: the guest's descriptor
  std::deque<size_t> requests;      // streams, one entry for each send of the guest
  uint64_t requested = 0;           // the value of `switches` at the last send

  std::set<pid_t> processes;  // the processes of the guest's programs
  // The signal mask before; set while SIGCHLD is blocked because of the processes: the simulator's
  // handler could wait for any child (waitpid(-1)) and would take what the guest waits for.
  std::optional<sigset_t> mask_before;
  std::vector<std::string> environment;
  uint64_t random_state = 0;
};

// Returns the context of the guest that runs, or is about to, or ran last. Must not be called
// without one.
Context& Here();
bool IsAnybodyHere();
// Makes `context` the one that Here() returns; nullptr: none is left.
void SetContext(Context* context);

// Returns to the simulator until the guest is let run again. Calls the guest's handler of SIGIO if
// there is input for it then, and returns whether there was.
bool LetSimulatorRun();
// Calls the guest's handler of SIGIO if there is input already, without returning to the simulator,
// and returns whether there was. Looks only if there can be some.
bool TakeInput();
// Returns to the simulator for good: the guest has ended with this wait status.
[[noreturn]] void End(int status);
// Closes the guest's descriptors and ends its programs' processes.
void CleanUp(Context& context);

// Blocks SIGCHLD until the guest waits; for use before a process of the guest is started or
// continued.
void BlockChildSignals(Context& context);
// Restores the mask that BlockChildSignals() changed. For use on the simulator's stack, because its
// handlers may run here.
void RestoreSignals(Context& context);

// Records a descriptor as one of the guest's and returns it; only returns a negative number.
int Opened(int fd);
// Returns the descriptor that the guest's number stands for.
int Real(int fd);
// Returns the stream of a connection of the guest; nullptr for other descriptors, and in copies.
LocalStream* StreamOf(int fd);

// Returns whether the guest may create, change and remove this file of the machine.
bool MayChange(const char* path);

// Makes the simulator's working directory the process's working directory again.
void LeaveBootFolder();

// Calls `action`, which uses this name, and returns its result: while the guest boots, a relative
// name is in its folder, which is the process's working directory meanwhile. Fails as a system call
// does.
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
