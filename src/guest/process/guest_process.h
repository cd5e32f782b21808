// A guest kernel as a process of the host, or in the simulator's process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "guest/embed/embedded_kernel.h"
#include "guest/image/image.h"
#include "sys/process/child.h"

namespace viaduct::guest {

struct GuestOptions {
  Image image;
  uint32_t memory_mib = 64;
  // The guest's first process: a path of the host, whose files the guest sees read-only.
  std::filesystem::path init;
  std::vector<std::string> boot_parameters;  // for the kernel's command line
  // The seed of all the guest's randomness: two guests with the same seed draw the same numbers.
  uint64_t seed = 1;
  std::vector<std::filesystem::path> writable;  // folders of the host in which it may write
  std::filesystem::path preload;  // the library that makes the guest deterministic; "": none
  bool embedded = false;          // in this process, where its numbers are always deterministic
};

// The names by which a guest finds the calendar: sockets in its working directory.
struct GuestEndpoints {
  std::filesystem::path folder;
  std::filesystem::path memory;  // the folder in which it creates its memory
  uint64_t id = 0;               // the id by which the guest identifies itself
  std::string calendar;
  std::string devices;      // one socket for all devices, in the order of eth0, eth1...
  size_t device_count = 0;  // the number of devices
};

// Returns the words of the kernel's command line, without the program's name. Throws UsageError
// when they are more or longer than the image accepts.
std::vector<std::string> CommandLine(const GuestOptions& options, const GuestEndpoints& endpoints);

// Throws EnvironmentError if this process is not permitted to ptrace its children, which User Mode
// Linux needs.
void CheckTracing();

// Returns why a guest with these options cannot be embedded in this process now; empty if it can.
std::string EmbeddingUnavailable(const GuestOptions& options);

// A guest kernel. Runs until destroyed or until the process that started it ends for any reason. An
// embedded one runs only in LetRun().
class GuestProcess {
 public:
  GuestProcess() = default;
  // Starts the guest. Throws UsageError or EnvironmentError if its options or memory exceed the
  // limits of its kernel or of the machine, SystemError if it cannot be started.
  GuestProcess(const GuestOptions& options, const GuestEndpoints& endpoints);
  GuestProcess(GuestProcess&& other) noexcept = default;
  GuestProcess& operator=(GuestProcess&& other) noexcept;
  ~GuestProcess();

  // --- For an embedded guest only; see embed::EmbeddedKernel.
  bool embedded() const { return kernel_ != nullptr; }
  // Lets it run until it waits, for at most `timeout` (in wall time) without advancing its virtual
  // time.
  void LetRun(bool look_for_input, Duration timeout);
  bool stuck() const { return kernel_ && kernel_->stuck(); }
  // Returns the stream of a connection to the devices' socket.
  std::shared_ptr<embed::LocalStream> Stream(size_t connection) const {
    return kernel_->Stream(connection);
  }
  std::optional<size_t> TakeRequest() { return kernel_->TakeRequest(); }

  // Releases the folder in which it booted, which it no longer uses.
  void LeaveFolder();
  // Passes the read end of its standard output and standard error to the caller.
  UniqueFd TakeOutput() { return std::move(output_); }
  // Describes how it ended: "ended with status 1", "was killed by signal 9 (Killed)". Waits up to a
  // second for the end, then returns that it still runs.
  std::string Fate();
  void Kill();
  // Sends a signal that ends it, as from outside; for tests.
  void Signal(int number);

 private:
  void Embed(const GuestOptions& options, const GuestEndpoints& endpoints,
             std::vector<std::string> words, UniqueFd output);

  sys::Child process_;
  std::unique_ptr<embed::EmbeddedKernel> kernel_;
  UniqueFd output_;
};

}  // namespace viaduct::guest
