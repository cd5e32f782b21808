// A guest kernel as a separate process or in the simulator's process.
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
  // The path of the guest's first process on the host, whose files the guest sees read-only.
  std::filesystem::path init;
  std::vector<std::string> boot_parameters;  // added to the kernel's command line
  // The seed of all the guest's randomness: two guests with the same seed draw the same random
  // numbers.
  uint64_t seed = 1;
  // The folders of the host in which the guest may write.
  std::vector<std::filesystem::path> writable;
  // The library that makes a guest's random numbers deterministic; "": none.
  std::filesystem::path preload;
  // Whether the guest runs in the simulator's process, where its random numbers are always
  // deterministic.
  bool embedded = false;
};

// The names by which a guest finds its calendar: sockets in the guest's working directory.
struct GuestEndpoints {
  std::filesystem::path folder;
  std::filesystem::path memory;  // the folder in which the guest creates its memory
  uint64_t id = 0;               // the id by which the guest identifies itself
  std::string calendar;
  std::string devices;      // the socket of all devices, in the order of eth0, eth1...
  size_t device_count = 0;  // the number of network devices
};

// Returns the words of the kernel's command line, without the program's name. Throws UsageError if
// the image does not accept so many devices or such a long command line.
std::vector<std::string> CommandLine(const GuestOptions& options, const GuestEndpoints& endpoints);

// Throws EnvironmentError if this process is not permitted to trace its children by ptrace(2),
// which User Mode Linux needs.
void CheckTracing();

// Returns the reason why a guest with the given options cannot be embedded in this process at
// present; empty if it can.
std::string EmbeddingUnavailable(const GuestOptions& options);

// A guest kernel. The guest runs until this object is destroyed or the process that started the
// guest ends for any reason. An embedded guest runs only in LetRun().
class GuestProcess {
 public:
  GuestProcess() = default;
  // Starts the guest. Throws UsageError or EnvironmentError if the options or the memory exceed the
  // limits of the guest's kernel or of the machine, SystemError if the guest cannot be started.
  GuestProcess(const GuestOptions& options, const GuestEndpoints& endpoints);
  GuestProcess(GuestProcess&& other) noexcept = default;
  GuestProcess& operator=(GuestProcess&& other) noexcept;
  ~GuestProcess();

  // --- Functions for an embedded guest only; embed::EmbeddedKernel implements them.
  bool embedded() const { return kernel_ != nullptr; }
  // Lets the guest run until it waits, for at most `timeout` of wall time without advancing its
  // virtual time.
  void LetRun(bool look_for_input, Duration timeout);
  bool stuck() const { return kernel_ && kernel_->stuck(); }
  // Returns the stream of the guest's connection with the number `connection` to the devices'
  // socket.
  std::shared_ptr<embed::LocalStream> Stream(size_t connection) const {
    return kernel_->Stream(connection);
  }
  std::optional<size_t> TakeRequest() { return kernel_->TakeRequest(); }

  // Closes the folder in which the guest booted and which it no longer uses.
  void LeaveFolder();
  // Passes the read end of the guest's standard output and standard error to the caller.
  UniqueFd TakeOutput() { return std::move(output_); }
  // Returns a text that describes how the guest ended, such as "ended with status 1". Waits for the
  // end for at most a second; returns "runs" if the guest still runs after that.
  std::string Fate();
  void Kill();
  // Ends the guest by a signal, as another process could; for tests.
  void Signal(int number);

 private:
  void Embed(const GuestOptions& options, const GuestEndpoints& endpoints,
             std::vector<std::string> words, UniqueFd output);

  sys::Child process_;
  std::unique_ptr<embed::EmbeddedKernel> kernel_;
  UniqueFd output_;
};

}  // namespace viaduct::guest
