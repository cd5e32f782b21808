// A guest kernel as a process of the host.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/fd.h"
#include "guest/image/image.h"
#include "sys/child.h"

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
  std::filesystem::path preload;  // the library that makes the guest deterministic; "": it is not
};

// How a guest finds the calendar: names of sockets in its working directory.
struct GuestEndpoints {
  std::filesystem::path folder;
  std::filesystem::path memory;  // the folder in which it creates its memory
  uint64_t id = 0;               // the id by which the guest identifies itself
  std::string calendar;
  std::vector<std::string> devices;  // in the order of its interfaces eth0, eth1...
};

// The words of the kernel's command line, without the program's name. Throws UsageError when they
// are more or longer than the image accepts.
std::vector<std::string> CommandLine(const GuestOptions& options, const GuestEndpoints& endpoints);

// Throws EnvironmentError if this process is not permitted to ptrace its children, which User Mode
// Linux needs.
void CheckTracing();

// Runs until destroyed or until the process that started it ends for any reason.
class GuestProcess {
 public:
  GuestProcess() = default;
  // Throws UsageError or EnvironmentError if the guest's options or memory exceed the limits of its
  // kernel or of the machine, SystemError if it cannot be started.
  GuestProcess(const GuestOptions& options, const GuestEndpoints& endpoints);
  GuestProcess(GuestProcess&& other) noexcept = default;
  GuestProcess& operator=(GuestProcess&& other) noexcept;
  ~GuestProcess();

  int pid() const { return process_.pid(); }
  // Passes the reading end of its standard output and standard error to the caller.
  UniqueFd TakeOutput() { return std::move(output_); }
  // Describes how it ended: "ended with status 1", "was killed by signal 9 (Killed)". Waits up to a
  // second for the end, then says that it still runs.
  std::string Fate();
  void Kill();

 private:
  sys::Child process_;
  UniqueFd output_;
};

}  // namespace viaduct::guest
