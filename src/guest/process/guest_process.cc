#include "guest/process/guest_process.h"

#include <fmt/core.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/wait_status.h"
#include "guest/process/boot_folder.h"
#include "guest/process/confinement.h"
#include "sys/descriptors.h"
#include "sys/process/child.h"
#include "sys/process/launch.h"
#include "sys/process/process.h"

namespace viaduct::guest {
namespace {

// The name of a symbolic link in the guest's folder to the folder of its memory: with a fixed name,
// the guest's environment is the same in every run.
constexpr const char* kMemoryLink = "m";

// The first release of Linux in which User Mode Linux can work without ptrace(2) (parameter
// seccomp= in arch/um/os-Linux/start_up.c).
constexpr const char* kFirstWithSeccomp = "6.16";

// Returns the environment of the guest. The simulator's environment is not passed on, because the
// guest's behaviour must not depend on it.
sys::Environment EnvironmentOf(const GuestOptions& options) {
  sys::Environment environment{"HOME=/", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
  // The folder in which User Mode Linux creates the file of the guest's memory.
  environment.push_back(fmt::format("TMPDIR={}", kMemoryLink));
  if (!options.preload.empty()) {
    environment.push_back("LD_PRELOAD=" + options.preload.string());
    environment.push_back(fmt::format("UML_SEED={}", options.seed));
  }
  return environment;
}

// Checks that the guest's memory can be allocated. A guest uses only the pages that it accesses,
// but it is killed when it accesses a page that cannot be allocated.
void CheckMemory(uint32_t memory_mib) {
  struct statvfs file_system;
  SystemCall(std::string("statvfs ") + kMemoryFolder, statvfs(kMemoryFolder, &file_system));
  const uint64_t free_mib = (file_system.f_bavail * file_system.f_frsize) >> 20;
  if (memory_mib > free_mib) {
    throw EnvironmentError(fmt::format(
        "the guest needs {} MiB of memory, but only {} MiB are free in {}: reduce the memory "
        "(attribute Memory), free some space, or run mount -o remount,size=... {}",
        memory_mib, free_mib, kMemoryFolder, kMemoryFolder));
  }
  struct sysinfo machine;
  SystemCall("sysinfo", sysinfo(&machine));
  const uint64_t machine_mib = ((machine.totalram + machine.totalswap) * machine.mem_unit) >> 20;
  if (memory_mib > machine_mib) {
    throw EnvironmentError(fmt::format(
        "the guest needs {} MiB of memory, but this machine has only {} MiB: reduce the "
        "memory (attribute Memory)",
        memory_mib, machine_mib));
  }
}

// Disables address space randomization, because the size of the guest's memory depends on the
// address of the heap.
void FixAddresses() {
  const int now = SystemCall("personality", personality(0xffffffff));
  SystemCall("personality", personality(ADDR_NO_RANDOMIZE | static_cast<unsigned>(now)));
}

std::vector<std::filesystem::path> Writable(const GuestOptions& options,
                                            const GuestEndpoints& endpoints) {
  std::vector<std::filesystem::path> writable = options.writable;
  writable.insert(writable.end(), {endpoints.folder, endpoints.memory, "/dev/null"});
  return writable;
}

std::string Describe(int status) {
  const bool no_memory = WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS;
  return DescribeEnding(status) +
         (no_memory ? "; check whether /dev/shm, which holds the memory of the guest, is full"
                    : "");
}

}  // namespace

std::vector<std::string> CommandLine(const GuestOptions& options, const GuestEndpoints& endpoints) {
  if (endpoints.device_count > options.image.devices) {
    const bool unpatched = options.image.devices <= Image{}.devices;
    throw UsageError(fmt::format(
        "a guest of kernel {} can have {} network devices, including its control device, not {}: "
        "{}spread the nodes over more guests (KernelStackHelper::SetGuests)",
        options.image.release, options.image.devices, endpoints.device_count,
        unpatched ? "build the kernel with viaduct kernel build, which patches it, or " : ""));
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
      // Prevents fallback tunnel devices in new network namespaces.
      "sysctl.net.core.fb_tunnels_only_for_init_net=2",
      // Makes random numbers available from the start; Linux 6.1 would wait for the entropy of
      // interrupts.
      "random.trust_cpu=1",
      // Sets the folder of User Mode Linux's own files inside the guest's folder, so that these
      // files are removed together with that folder. The name is relative and fixed, because the
      // kernel's random numbers depend on every byte of the command line.
      "uml_dir=u/",
      "umid=guest",
  };
  // Makes User Mode Linux stop programs by signals instead of ptrace(2), if this method works. The
  // method does not work for an embedded guest. The parameter is set for an embedded guest too,
  // because the random numbers, which depend on the command line, must be the same.
  if (!OlderRelease(options.image.release, kFirstWithSeccomp)) words.push_back("seccomp=auto");
  for (size_t i = 0; i < endpoints.device_count; ++i) {
    words.push_back(fmt::format("virtio_uml.device={}:1:{}", endpoints.devices, i));
  }
  words.insert(words.end(), options.boot_parameters.begin(), options.boot_parameters.end());
  size_t length = 1;
  for (const std::string& word : words) length += word.size() + 1;
  if (length > options.image.command_line) {
    throw UsageError(
        fmt::format("a guest's command line of {} bytes is longer than the {} that kernel {} "
                    "accepts: use fewer devices or boot parameters per guest",
                    length, options.image.command_line, options.image.release));
  }
  return words;
}

void CheckTracing() {
  const pid_t child = SystemCall("fork", fork());
  if (child == 0) sys::ExitForked(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : errno);
  const int status = sys::AwaitChild(child);
  if (status == 0) return;
  throw EnvironmentError(
      fmt::format("User Mode Linux is not permitted to trace its processes (ptrace: {}): permit "
                  "tracing with sysctl kernel.yama.ptrace_scope=1, or in a container with "
                  "--cap-add=SYS_PTRACE or another seccomp profile",
                  WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : strsignal(WTERMSIG(status))));
}

std::string EmbeddingUnavailable(const GuestOptions& options) {
  return embed::Unavailable(options.image.file, uint64_t{options.memory_mib} << 20);
}

GuestProcess::GuestProcess(const GuestOptions& options, const GuestEndpoints& endpoints) {
  sys::LaunchOptions launch;
  // Checks the command line first, because the errors in a command line are the same on every
  // machine.
  launch.words = CommandLine(options, endpoints);
  CheckMemory(options.memory_mib);
  launch.words.insert(launch.words.begin(), options.image.file.string());
  sys::Pipe output = sys::MakePipe();
  std::filesystem::create_symlink(endpoints.memory, endpoints.folder / kMemoryLink);
  if (options.embedded) {
    Embed(options, endpoints, std::move(launch.words), std::move(output.write));
    output_ = std::move(output.read);
    return;
  }
  launch.environment = EnvironmentOf(options);
  launch.folder = endpoints.folder.string();
  launch.standard = {-1, output.write.get(), output.write.get()};
  launch.group = sys::LaunchOptions::Group::kOwn;
  launch.death_signal = SIGKILL;
  const Confinement confinement(Writable(options, endpoints));
  launch.prepare = [&confinement] {
    FixAddresses();
    confinement.Enter();
  };
  try {
    process_ = sys::Child(sys::Launch(launch), true);
  } catch (const SystemError& error) {
    throw SystemError("start kernel " + launch.words[0], error.error_number());
  }
  output_ = std::move(output.read);
}

GuestProcess& GuestProcess::operator=(GuestProcess&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(output_, other.output_);
  std::swap(kernel_, other.kernel_);
  return *this;
}

GuestProcess::~GuestProcess() { Kill(); }

void GuestProcess::Embed(const GuestOptions& options, const GuestEndpoints& endpoints,
                         std::vector<std::string> words, UniqueFd output) {
  embed::KernelOptions kernel;
  kernel.file = options.image.file;
  kernel.words = std::move(words);
  kernel.environment = EnvironmentOf(options);
  kernel.memory = uint64_t{options.memory_mib} << 20;
  kernel.seed = options.seed;
  kernel.folder = endpoints.folder;
  kernel.writable = Writable(options, endpoints);
  kernel.output = std::move(output);
  kernel.streams = endpoints.devices;
  kernel_ = std::make_unique<embed::EmbeddedKernel>(std::move(kernel));
}

void GuestProcess::LetRun(bool look_for_input, Duration timeout) {
  kernel_->SetTimeout(timeout);
  kernel_->LetRun(look_for_input);
}

void GuestProcess::LeaveFolder() {
  if (kernel_) kernel_->LeaveFolder();
}

void GuestProcess::Kill() {
  kernel_.reset();
  if (process_.pid() <= 0) return;
  // Kills the process group, which contains the processes that run the guest's programs and may
  // outlive the guest's first process.
  kill(-process_.pid(), SIGKILL);
  process_ = sys::Child();
}

void GuestProcess::Signal(int number) {
  if (kernel_) return kernel_->End(number);
  if (process_.pid() > 0) kill(process_.pid(), number);
}

std::string GuestProcess::Fate() {
  if (kernel_) return kernel_->ended() ? Describe(*kernel_->ended()) : "runs";
  if (process_.pid() <= 0) return "is not running";
  const std::optional<int> status = process_.WaitFor(Duration::Seconds(1));
  return status ? Describe(*status) : "runs";
}

}  // namespace viaduct::guest
