// The state of an embedded guest. The guest's owner shares it with the functions that replace
// libc's functions for the guest's kernel (the imports).
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

// A range of memory from `begin` up to, but not including, `end`.
struct Range {
  uintptr_t begin = 0, end = 0;
  bool Contains(const void* start, size_t size) const {
    const auto at = reinterpret_cast<uintptr_t>(start);
    return at >= begin && at <= end && size <= end - at;
  }
};

struct Context {
  // True in the copies of this process (fork, clone) that the guest makes for its programs: all
  // imports are libc's functions in a copy, and the copy exits without the simulator's clean-up.
  bool copy = false;

  // --- Switches between the stacks of the guest and the simulator.
  std::atomic<bool> inside{false};  // true while the guest's kernel runs, not the simulator
  void* guest_place = nullptr;
  void* simulator_place = nullptr;
  std::atomic<uint64_t> switches{0};  // the number of times the guest was let run
  std::optional<int> ended;           // the wait status (waitpid(2)) of an ended guest
  // True after the watchdog made the guest leave the processor before it returned.
  std::atomic<bool> stuck{false};
  // The value of `switches` for which MakeLeave() makes the guest leave.
  std::atomic<uint64_t> unwanted{0};

  // --- Memory of the guest.
  //
  // The addresses of the kernel's image, its memory and its vmalloc() mappings.
  Range place;
  uintptr_t heap = 0;  // the address that sbrk() returns

  // --- Signals. `handlers` has the kernel's handlers by signal number; the handler of SIGIO is
  // called as a function and never by a signal.
  struct sigaction handlers[NSIG] = {};
  stack_t signal_stack = {};
  int in_handler = 0;
  // True if there may be input for the guest for which TakeInput() has not polled yet.
  bool input_not_looked_for = true;

  // --- Descriptors and files of the guest.
  int standard[3] = {-1, -1, -1};  // the process's descriptors for the guest's descriptors 0, 1, 2
  std::set<int> descriptors;       // the descriptors that the guest has opened
  int events = -1;                 // the guest's epoll instance
  // The descriptor of the folder to which the guest's relative file names refer while the guest
  // boots; -1 after the boot.
  int boot_folder = -1;
  // The descriptor of the simulator's working directory, to which the process returns after the use
  // of a relative name.
  int simulator_folder = -1;
  std::vector<std::filesystem::path> writable;

  // --- Connections of the guest to the simulator's socket named `streams_name`, in the order in
  // which the connections were made.
  std::string streams_name;
  std::vector<std::shared_ptr<LocalStream>> streams;
  std::map<int, size_t> stream_of;  // key: the guest's descriptor
  // The numbers of the streams on which the guest has sent: one entry for each send operation.
  std::deque<size_t> requests;
  uint64_t requested = 0;  // the value of `switches` at the guest's last send operation

  std::set<pid_t> processes;  // the processes that run the guest's programs
  // The simulator's signal mask before SIGCHLD was blocked; set while SIGCHLD is blocked because of
  // the guest's processes. A SIGCHLD handler of the simulator could wait for any child
  // (waitpid(-1)) and would reap a process for which the guest waits.
  std::optional<sigset_t> mask_before;
  std::vector<std::string> environment;
  uint64_t random_state = 0;
};

// Returns the context of the guest that runs, is about to run, or ran last. Must not be called if
// no guest has run.
Context& Here();
bool IsAnybodyHere();
// Sets the context that Here() returns; nullptr: no guest.
void SetContext(Context* context);

// Switches to the simulator's stack until the guest is let run again. Then calls the guest's
// handler of SIGIO if there is input for the guest, and returns whether there was input.
bool LetSimulatorRun();
// Calls the guest's handler of SIGIO if there is input for the guest, without a switch to the
// simulator, and returns whether there was input. Polls for input only if the context's flag
// input_not_looked_for is set.
bool TakeInput();
// Records that the guest has ended with this wait status, cleans up, and switches to the simulator
// for ever.
[[noreturn]] void End(int status);
// Closes the guest's descriptors and kills the processes of its programs.
void CleanUp(Context& context);

// Blocks SIGCHLD until the guest waits; must be called before a process of the guest is started or
// continued.
void BlockChildSignals(Context& context);
// Restores the signal mask that BlockChildSignals() changed. Must be called on the simulator's
// stack, because the simulator's signal handlers may run during the call.
void RestoreSignals(Context& context);

// Records `fd` as one of the guest's descriptors and returns it; a negative number is returned but
// not recorded.
int Opened(int fd);
// Returns the process's descriptor for a descriptor of the guest. Only the guest's descriptors 0, 1
// and 2 have other numbers in the process.
int Real(int fd);
// Returns the stream in memory of a guest's connection; nullptr for other descriptors, and in
// copies of the process.
LocalStream* StreamOf(int fd);

// Returns whether the guest may create, change and remove the file `path` of the machine.
bool MayChange(const char* path);

// Sets the process's working directory to the simulator's working directory again.
void LeaveBootFolder();

// Calls `action`, which uses the file name `path`, and returns the result of `action`. While the
// guest boots, a relative name refers to the guest's boot folder, which is the process's working
// directory during the call. If the directory cannot be changed, returns -1 or nullptr with errno
// set.
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
