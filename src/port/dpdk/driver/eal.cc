#include "port/dpdk/driver/eal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "port/dpdk/driver/descriptors.h"

namespace viaduct::dpdk {
namespace {

// The size of the memory for the buffers of several ports. The addresses are reserved at the start;
// the machine provides a page only when the page is used.
constexpr int kMemoryMebibytes = 512;
// A device address that no bus has, for the option --allow: without this option DPDK would take all
// devices that it finds.
constexpr char kNoDevice[] = "ffff:ff:1f.7";

// Blocks all signals during this object's lifetime: EAL starts a thread, which inherits the signal
// mask.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// Restores the CPU affinity of the calling thread in the destructor: EAL binds the thread to its
// first CPU.
class AffinityKept {
 public:
  AffinityKept() { sched_getaffinity(0, sizeof set_, &set_); }
  AffinityKept(const AffinityKept&) = delete;
  AffinityKept& operator=(const AffinityKept&) = delete;
  ~AffinityKept() { sched_setaffinity(0, sizeof set_, &set_); }

  // Returns the argument of --lcores, such as "0@(0,1)": one core of EAL, which may run on all CPUs
  // of the process.
  std::string AsCores() const {
    std::vector<int> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set_)) cores.push_back(cpu);
    }
    return fmt::format("0@({})", fmt::join(cores, ","));
  }

 private:
  cpu_set_t set_{};
};

// Redirects to the log what EAL writes directly to standard error, during this object's lifetime.
class ErrorsElsewhere {
 public:
  explicit ErrorsElsewhere(FILE* other) : before_(stderr) { stderr = other; }
  ErrorsElsewhere(const ErrorsElsewhere&) = delete;
  ErrorsElsewhere& operator=(const ErrorsElsewhere&) = delete;
  ~ErrorsElsewhere() { stderr = before_; }

 private:
  FILE* const before_;
};

// Removes the folder that EAL creates for its files; with --no-shconf EAL creates no file in the
// folder.
void RemoveRuntimeFolder() {
  const std::filesystem::path folder = rte_eal_get_runtime_dir();
  if (folder.empty() || rmdir(folder.c_str()) != 0) return;  // another process uses the folder
  rmdir(folder.parent_path().c_str());
}

int Initialise(FILE* log) {
  const SignalsBlocked blocked;
  const AffinityKept affinity;
  const ErrorsElsewhere elsewhere(log);
  const NewDescriptors opened;
  std::vector<std::string> words = {"viaduct",
                                    "--no-huge",
                                    "--no-shconf",
                                    "--no-telemetry",
                                    "--iova-mode=va",
                                    fmt::format("-m{}", kMemoryMebibytes),
                                    "--lcores=" + affinity.AsCores(),
                                    std::string("--allow=") + kNoDevice};
  std::vector<char*> arguments;
  std::ranges::transform(words, std::back_inserter(arguments),
                         [](std::string& word) { return word.data(); });
  const int result = rte_eal_init(static_cast<int>(arguments.size()), arguments.data());
  opened.CloseOnExec();
  RemoveRuntimeFolder();
  return result;
}

FILE* OpenStream(int fd) {
  FILE* const stream = fdopen(fd, "a");
  if (stream == nullptr) throw Error("no memory for DPDK's log");
  setvbuf(stream, nullptr, _IOLBF, BUFSIZ);
  return stream;
}

}  // namespace

Eal::Eal() : log_(SystemCall("memfd_create", memfd_create("viaduct-dpdk-log", MFD_CLOEXEC))) {
  // DPDK uses the log's stream until the process exits.
  FILE* const stream = OpenStream(SystemCall("dup", dup(log_.get())));
  fcntl(fileno(stream), F_SETFD, FD_CLOEXEC);
  fcntl(fileno(stream), F_SETFL, O_APPEND);
  rte_openlog_stream(stream);
  rte_log_set_global_level(RTE_LOG_NOTICE);
  if (Initialise(stream) < 0) Refuse("initialise DPDK", -rte_errno);
  TakeLog();
}

Eal& Eal::Get() {
  // The Eal object is never destroyed: threads of DPDK may use it, and so may ports that are closed
  // at the program's exit.
  static std::mutex once;
  static auto& failed = *new std::optional<std::string>;
  static Eal* eal = nullptr;
  const std::scoped_lock lock(once);
  if (failed) throw EnvironmentError(*failed);
  if (eal != nullptr) return *eal;
  try {
    eal = new Eal();
  } catch (const Error& error) {
    failed = error.what();
    throw;
  }
  return *eal;
}

std::string Eal::TakeLog() {
  std::string text;
  std::array<char, 4096> part;
  off_t at = 0;
  for (ssize_t got = 0; (got = pread(log_.get(), part.data(), part.size(), at)) > 0; at += got) {
    text.append(part.data(), static_cast<size_t>(got));
  }
  (void)!ftruncate(log_.get(), 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t end = 0; (end = text.find('\n', end)) != text.npos;) text.replace(end, 1, "; ");
  return text;
}

void Eal::Refuse(const std::string& attempted, int result) {
  const std::string log = TakeLog();
  throw EnvironmentError(fmt::format("DPDK: cannot {}: {}{}", attempted,
                                     rte_strerror(result < 0 ? -result : result),
                                     log.empty() ? "" : fmt::format(" ({})", log)));
}

}  // namespace viaduct::dpdk
