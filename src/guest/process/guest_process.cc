#include "guest/process/guest_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "sys/process.h"

namespace viaduct::guest {
namespace {

constexpr const char* kMemoryFolder = "/dev/shm";

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Nothing of the host's environment: what a guest does must not depend on it.
std::vector<std::string> Environment(const GuestOptions& options) {
  std::vector<std::string> environment{"HOME=/", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
  // User Mode Linux makes a file of the guest's memory here.
  environment.push_back(fmt::format("TMPDIR={}", kMemoryFolder));
  if (!options.preload.empty()) {
    environment.push_back("LD_PRELOAD=" + options.preload.string());
    environment.push_back(fmt::format("UML_SEED={}", options.seed));
  }
  return environment;
}

struct Start {
  const char* program;
  const char* folder;
  char* const* words;
  char* const* environment;
  int output;
  int failure;  // where errno goes, and that nothing came means success
  int parent;
};

// In the child, between fork and exec: system calls only.
[[noreturn]] void Become(const Start& start) {
  const auto check = [&](int result) {
    if (result >= 0) return;
    const int number = errno;
    (void)!write(start.failure, &number, sizeof number);
    _exit(127);
  };
  check(prctl(PR_SET_PDEATHSIG, SIGKILL));
  if (getppid() != start.parent) _exit(127);
  check(setpgid(0, 0));
  // Address space layout reaches into the guest: its memory's size depends on where the heap is.
  check(personality(ADDR_NO_RANDOMIZE | static_cast<unsigned>(personality(0xffffffff))));
  check(chdir(start.folder));
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  check(null);
  check(dup2(null, 0));
  check(dup2(start.output, 1));
  check(dup2(start.output, 2));
  execve(start.program, start.words, start.environment);
  check(-1);
  _exit(127);
}

std::pair<UniqueFd, UniqueFd> Pipe() {
  std::array<int, 2> ends;
  SystemCall("pipe", pipe2(ends.data(), O_CLOEXEC));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// A guest takes only the memory that it touches, but dies when it touches a page that cannot be
// had.
void CheckMemory(uint32_t memory_mib) {
  struct statvfs file_system;
  SystemCall("statvfs " + std::string(kMemoryFolder), statvfs(kMemoryFolder, &file_system));
  const uint64_t free_mib = (file_system.f_bavail * file_system.f_frsize) >> 20;
  if (memory_mib > free_mib) {
    throw EnvironmentError(fmt::format(
        "its memory of {} MiB is more than the {} MiB that are free in {}: give it less "
        "(attribute Memory), or free some (or mount -o remount,size=... {})",
        memory_mib, free_mib, kMemoryFolder, kMemoryFolder));
  }
  struct sysinfo machine;
  SystemCall("sysinfo", sysinfo(&machine));
  const uint64_t machine_mib = ((machine.totalram + machine.totalswap) * machine.mem_unit) >> 20;
  if (memory_mib > machine_mib) {
    throw EnvironmentError(
        fmt::format("its memory of {} MiB is more than the {} MiB that this machine has: give it "
                    "less (attribute Memory)",
                    memory_mib, machine_mib));
  }
}

std::string Describe(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* reason = signal == SIGBUS ? ", as when /dev/shm, where its memory is, is full" : "";
    return fmt::format("was killed by signal {} ({}{})", signal, strsignal(signal), reason);
  }
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

}  // namespace

std::vector<std::string> CommandLine(const GuestOptions& options, const GuestEndpoints& endpoints) {
  if (endpoints.devices.size() > options.image.devices) {
    const bool unpatched = options.image.devices <= Image{}.devices;
    throw UsageError(fmt::format(
        "a guest of kernel {} takes {} network devices, its control device included, not {}: "
        "{}spread the nodes over more guests (KernelStackHelper::SetGuests)",
        options.image.release, options.image.devices, endpoints.devices.size(),
        unpatched ? "build it with the patches (viaduct kernel build), or " : ""));
  }
  std::vector<std::string> words{
      fmt::format("mem={}M", options.memory_mib),
      "root=/dev/root",
      "rootfstype=hostfs",
      "rootflags=/",
      "ro",
      "init=" + options.init.string(),
      fmt::format("time-travel=ext:{}:{}", endpoints.id, endpoints.calendar),
      "con0=null,fd:1",
      "con=null",
      "ssl=null",
      "quiet",
      // A namespace gets no devices of tunnels that nobody asked for.
      "sysctl.net.core.fb_tunnels_only_for_init_net=2",
      // Random numbers from the first moment on; 6.1 would wait for the entropy of interrupts.
      "random.trust_cpu=1",
      // What User Mode Linux keeps of itself goes with the folder. Both relative and fixed: the
      // kernel's random numbers depend on every byte of this line.
      "uml_dir=u/",
      "umid=guest",
  };
  for (size_t i = 0; i < endpoints.devices.size(); ++i) {
    words.push_back(fmt::format("virtio_uml.device={}:1:{}", endpoints.devices[i], i));
  }
  words.insert(words.end(), options.boot_parameters.begin(), options.boot_parameters.end());
  size_t length = 1;
  for (const std::string& word : words) length += word.size() + 1;
  if (length > options.image.command_line) {
    throw UsageError(fmt::format(
        "a guest's command line of {} bytes is longer than the {} that kernel {} takes: use fewer "
        "devices or boot parameters a guest",
        length, options.image.command_line, options.image.release));
  }
  return words;
}

void CheckTracing() {
  const pid_t child = SystemCall("fork", fork());
  if (child == 0) sys::ExitForked(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : errno);
  int status = 0;
  if (SystemCall("waitpid", waitpid(child, &status, 0)) != child || status == 0) return;
  throw EnvironmentError(fmt::format(
      "it may not trace its processes, as User Mode Linux must (ptrace: {}): allow that (sysctl "
      "kernel.yama.ptrace_scope=1; a container: --cap-add=SYS_PTRACE or another seccomp profile)",
      WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : strsignal(WTERMSIG(status))));
}

GuestProcess::GuestProcess(const GuestOptions& options, const GuestEndpoints& endpoints) {
  CheckMemory(options.memory_mib);
  std::vector<std::string> words = CommandLine(options, endpoints);
  words.insert(words.begin(), options.image.file.string());
  std::vector<std::string> environment = Environment(options);
  const std::vector<char*> word_pointers = Pointers(words);
  const std::vector<char*> environment_pointers = Pointers(environment);
  const std::string folder = endpoints.folder.string();
  auto [output, output_end] = Pipe();
  auto [failure, failure_end] = Pipe();
  const Start start{word_pointers[0],
                    folder.c_str(),
                    word_pointers.data(),
                    environment_pointers.data(),
                    output_end.get(),
                    failure_end.get(),
                    getpid()};
  pid_ = SystemCall("fork a guest", fork());
  if (pid_ == 0) Become(start);
  failure_end.reset();
  output_ = std::move(output);
  int number = 0;
  if (read(failure.get(), &number, sizeof number) == sizeof number) {
    throw SystemError("start kernel " + words[0], number);
  }
}

GuestProcess::GuestProcess(GuestProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      status_(other.status_),
      reaped_(other.reaped_),
      output_(std::move(other.output_)) {}

GuestProcess& GuestProcess::operator=(GuestProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  std::swap(reaped_, other.reaped_);
  std::swap(output_, other.output_);
  return *this;
}

GuestProcess::~GuestProcess() { Kill(); }

void GuestProcess::Kill() {
  if (pid_ <= 0) return;
  // The group holds what the guest's processes run in.
  kill(-pid_, SIGKILL);
  if (!reaped_) waitpid(pid_, &status_, 0);
  pid_ = -1;
}

std::string GuestProcess::Fate() {
  if (pid_ <= 0) return "is gone";
  if (!reaped_) {
    const UniqueFd ended = sys::OpenPidFd(pid_);
    pollfd entry{ended.get(), POLLIN, 0};
    poll(&entry, 1, 1000);
    reaped_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  }
  return reaped_ ? Describe(status_) : "runs";
}

}  // namespace viaduct::guest
