#include "broker/lab_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "broker/protocol.h"
#include "privilege/capabilities.h"
#include "sys/child.h"
#include "sys/descriptors.h"
#include "sys/process.h"

namespace viaduct::broker {
namespace {

using Work = std::function<void(const std::function<void()>& ready)>;

// What is told to the broker instead of an error.
constexpr char kReady[] = "{}";
constexpr mode_t kLastWordsMode = 0644;

void BecomeLabProcess(const LabProcess& process, const sys::Identity& owner, int broker_pid) {
  prctl(PR_SET_NAME, process.title);
  SystemCall("enter a namespace of the lab", setns(process.namespace_fd, CLONE_NEWNET));
  sys::AllowHighestPriority();
  setsid();
  sys::FavourOwnSession();
  const bool is_other = owner.uid != getuid();
  if (is_other) sys::Become(owner);
  if (is_other || process.runs_users_code) privilege::KeepCapabilities({});
  sys::ForbidNewPrivileges();
  sys::TakeHighestPriority();
  // Set after the change of identity, which clears it (prctl(2)).
  SystemCall("prctl PR_SET_PDEATHSIG", prctl(PR_SET_PDEATHSIG, SIGKILL));
  if (getppid() != broker_pid) throw Error("the broker has ended");
}

void Tell(int fd, const std::string& text) {
  if (write(fd, text.data(), text.size()) < 0) return;  // the broker has ended
}

UniqueFd OpenLastWords(const std::string& path) {
  if (path.empty()) return {};
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd file(SystemCall("open " + path, open(path.c_str(), kFlags, kLastWordsMode)));
  SystemCall("chmod " + path, fchmod(file.get(), kLastWordsMode));  // whatever the umask is
  return file;
}

[[noreturn]] void ProcessMain(const LabProcess& process, const sys::Identity& owner, int broker_pid,
                              int answer, const Work& work) {
  bool works = false;  // whose errors the broker does not hear any more
  const auto fail = [&](const Error& error) {
    if (works) {
      Tell(process.words >= 0 ? process.words : STDERR_FILENO, fmt::format("{}\n", error.what()));
    } else {
      Tell(answer, EncodeError(error));
    }
  };
  try {
    if (const UniqueFd words = OpenLastWords(process.last_words)) {
      SystemCall("dup2", dup2(words.get(), STDERR_FILENO));
    }
    std::vector<int> keep = process.keep;
    keep.insert(keep.end(), {answer, process.namespace_fd});
    if (process.words >= 0) keep.push_back(process.words);
    // Open copies would keep the broker's connections and the lab's namespaces alive. 0 to 2 are
    // /dev/null, but for the last words.
    sys::CloseAllBut(std::move(keep));
    BecomeLabProcess(process, owner, broker_pid);
    close(process.namespace_fd);
    work([answer, &works] {
      works = true;
      Tell(answer, kReady);
      close(answer);
    });
    sys::ExitForked(0);
  } catch (const Error& error) {
    fail(error);
  } catch (const std::exception& error) {
    fail(Error(error.what()));
  }
  sys::ExitForked(1);
}

// The answer of a process that may hang: in users' files, or in their code, which may also write
// without end.
std::string ReadAnswer(int fd, const LabProcess& process) {
  constexpr size_t kMost = 65536;
  const Instant deadline =
      process.runs_users_code ? MonotonicClock::Now() + LabProcess::kPatience : Instant::Never();
  std::string answer;
  std::array<char, 4096> part;
  while (answer.size() < kMost) {
    std::array<pollfd, 2> ready = {{{fd, POLLIN, 0}, {process.asker, 0, 0}}};
    const int changed = poll(ready.data(), ready.size(), PollTimeout(deadline));
    if (changed < 0 && errno == EINTR) continue;
    SystemCall("poll", changed);
    if (changed == 0) {
      throw Error(fmt::format("did not start within {}; a forwarding program may hang",
                              FormatDuration(LabProcess::kPatience)));
    }
    if ((ready[1].revents & POLLHUP) != 0) throw Error("is not wanted any more");
    const ssize_t count = read(fd, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    answer.append(part.data(), static_cast<size_t>(count));
  }
  return answer;
}

}  // namespace

int StartLabProcess(const LabProcess& process, const sys::Identity& owner, const Work& work) {
  sys::Pipe pipe = sys::MakePipe();
  const int broker_pid = getpid();
  const int pid = SystemCall("fork the " + process.what, fork());
  if (pid == 0) ProcessMain(process, owner, broker_pid, pipe.write.get(), work);
  pipe.write.reset();
  std::string answer;
  try {
    answer = ReadAnswer(pipe.read.get(), process);
  } catch (const Error& error) {
    kill(pid, SIGKILL);
    sys::AwaitChild(pid);
    throw Error(fmt::format("the {} {}", process.what, error.what()));
  }
  if (answer == kReady) return pid;
  if (process.runs_users_code) kill(pid, SIGKILL);  // may have written the answer, and go on
  sys::AwaitChild(pid);
  if (answer.empty()) throw Error("the " + process.what + " died as it started");
  ThrowDecodedError(answer);
}

}  // namespace viaduct::broker
