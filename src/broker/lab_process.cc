#include "broker/lab_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
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
  privilege::ForbidNewPrivileges();
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
  UniqueFd words;
  int last_words = STDERR_FILENO;
  const auto fail = [&](const Error& error) {
    if (works) {
      Tell(last_words, fmt::format("{}\n", error.what()));
    } else {
      Tell(answer, EncodeError(error));
    }
  };
  try {
    std::vector<int> keep = process.keep;
    words = OpenLastWords(process.last_words);
    if (words && process.runs_users_code) {  // whose own output could fill the folder
      last_words = words.get();
      keep.push_back(last_words);
    } else if (words) {
      SystemCall("dup2", dup2(words.get(), STDERR_FILENO));
    }
    keep.insert(keep.end(), {answer, process.namespace_fd});
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

}  // namespace

int StartLabProcess(const LabProcess& process, const sys::Identity& owner, const Work& work) {
  sys::Pipe pipe = sys::MakePipe();
  const int broker_pid = getpid();
  const int pid = SystemCall("fork the " + process.what, fork());
  if (pid == 0) ProcessMain(process, owner, broker_pid, pipe.write.get(), work);
  pipe.write.reset();
  const std::string answer = ReadToEnd(pipe.read.get(), "the answer of the " + process.what);
  if (answer == kReady) return pid;
  sys::AwaitChild(pid);
  if (answer.empty()) throw Error("the " + process.what + " died as it started");
  ThrowDecodedError(answer);
}

}  // namespace viaduct::broker
