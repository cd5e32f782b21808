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
  std::vector<std::string> boot_parameters;  // as on the kernel's command line
  // All the guest's randomness: two guests with one seed draw the same numbers.
  uint64_t seed = 1;
  std::filesystem::path
      preload;  // the library that makes it so; "": the guest is not deterministic
};

// Where a guest finds the calendar: names of sockets in a folder it is started in.
struct GuestEndpoints {
  std::filesystem::path folder;
  uint64_t id = 0;  // the number that it introduces itself with
  std::string calendar;
  std::vector<std::string> devices;  // in the order of its interfaces eth0, eth1...
};

// The words of the kernel's command line, the program's name not among them. Throws UsageError when
// they are more or longer than the image takes.
std::vector<std::string> CommandLine(const GuestOptions& options, const GuestEndpoints& endpoints);

// Throws EnvironmentError where this process may not trace its children, as User Mode Linux must.
void CheckTracing();

// Runs until destroyed or until the process that started it ends, however that ends.
class GuestProcess {
 public:
  GuestProcess() = default;
  // Throws UsageError and EnvironmentError where the guest's options or memory are more than its
  // kernel or the machine has, SystemError where it cannot be started.
  GuestProcess(const GuestOptions& options, const GuestEndpoints& endpoints);
  GuestProcess(GuestProcess&& other) noexcept = default;
  GuestProcess& operator=(GuestProcess&& other) noexcept;
  ~GuestProcess();

  int pid() const { return process_.pid(); }
  // The reading end of its standard output and standard error; the caller takes it.
  UniqueFd TakeOutput() { return std::move(output_); }
  // How it ended: "ended with status 1", "was killed by signal 9 (Killed)"; waits up to a second
  // for that, then says that it runs.
  std::string Fate();
  void Kill();

 private:
  sys::Child process_;
  UniqueFd output_;
};

}  // namespace viaduct::guest
