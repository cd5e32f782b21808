#include "lab/broker/lab_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "sys/descriptors.h"
#include "sys/ipc/connection.h"
#include "sys/ipc/error.h"
#include "sys/privilege/capabilities.h"
#include "sys/process/child.h"
#include "sys/process/process.h"

namespace viaduct::broker {
namespace {

using Work = std::function<void(const std::function<void()>& ready)>;

// The protocol of the only message that the process sends to the broker: a reply when the process
// is ready, or an error.
constexpr ipc::Service kStartService = {"start", 1};
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
  // PR_SET_PDEATHSIG is set after the change of identity, which clears it (prctl(2)).
  SystemCall("prctl PR_SET_PDEATHSIG", prctl(PR_SET_PDEATHSIG, SIGKILL));
  if (getppid() != broker_pid) throw Error("the broker exited");
}

void Tell(int fd, const std::string& text) {
  if (write(fd, text.data(), text.size()) < 0) return;  // the broker has ended
}

void Tell(ipc::Connection& broker, ipc::Answer answer, const std::string& payload) {
  try {
    broker.Send(answer, 0, payload);
  } catch (const SystemError&) {  // the broker has ended
  }
}

UniqueFd OpenLastWords(const std::string& path) {
  if (path.empty()) return {};
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd file(SystemCall("open " + path, open(path.c_str(), kFlags, kLastWordsMode)));
  SystemCall("chmod " + path, fchmod(file.get(), kLastWordsMode));  // independent of the umask
  return file;
}

[[noreturn]] void ProcessMain(const LabProcess& process, const sys::Identity& owner, int broker_pid,
                              UniqueFd answer, const Work& work) {
  std::optional<ipc::Connection> broker(std::in_place, std::move(answer), kStartService);
  // Whether the process has started. After the start the broker no longer reads errors of the
  // process.
  bool works = false;
  const auto fail = [&](const Error& error) {
    if (works) {
      Tell(process.words >= 0 ? process.words : STDERR_FILENO, fmt::format("{}\n", error.what()));
    } else {
      Tell(*broker, ipc::Answer::kError, ipc::EncodeError(kStartService, error));
    }
  };
  try {
    if (const UniqueFd words = OpenLastWords(process.last_words)) {
      SystemCall("dup2", dup2(words.get(), STDERR_FILENO));
    }
    std::vector<int> keep = process.keep;
    keep.insert(keep.end(), {broker->fd(), process.namespace_fd});
    if (process.words >= 0) keep.push_back(process.words);
    // Closes the copies of the broker's descriptors, which would keep the broker's connections and
    // the lab's namespaces open. Descriptors 0 to 2 are /dev/null, except standard error if it is
    // the file for the last words.
    sys::CloseAllBut(std::move(keep));
    BecomeLabProcess(process, owner, broker_pid);
    close(process.namespace_fd);
    work([&broker, &works] {
      works = true;
      Tell(*broker, ipc::Answer::kReply, "{}");
      broker.reset();
    });
    sys::ExitForked(0);
  } catch (const Error& error) {
    fail(error);
  } catch (const std::exception& error) {
    fail(Error(error.what()));
  }
  sys::ExitForked(1);
}

// Returns the answer of a process that may hang while it reads users' files or runs their code;
// nothing if the process has ended. Users' code may send any bytes as the answer.
std::optional<ipc::Message> ReceiveAnswer(ipc::Connection& connection, const LabProcess& process) {
  const Instant deadline =
      process.runs_users_code ? MonotonicClock::Now() + LabProcess::kTimeout : Instant::Never();
  for (;;) {
    std::array<pollfd, 2> ready = {{{connection.fd(), POLLIN, 0}, {process.asker, 0, 0}}};
    const int changed = poll(ready.data(), ready.size(), PollTimeout(deadline));
    if (changed < 0 && errno == EINTR) continue;
    SystemCall("poll", changed);
    if (changed == 0) {
      throw Error(fmt::format("did not start within {}; a forwarding program may hang",
                              FormatDuration(LabProcess::kTimeout)));
    }
    if ((ready[1].revents & POLLHUP) != 0) throw Error("was cancelled before it started");
    ipc::Message answer;
    switch (connection.Receive(&answer, MSG_DONTWAIT)) {
      case ipc::Connection::Status::kMessage:
        return answer;
      case ipc::Connection::Status::kEnd:
        return std::nullopt;
      case ipc::Connection::Status::kIncomplete:
        break;
    }
  }
}

}  // namespace

int StartLabProcess(const LabProcess& process, const sys::Identity& owner, const Work& work) {
  std::pair<UniqueFd, UniqueFd> ends = sys::MakeSocketPair(SOCK_SEQPACKET);
  const int broker_pid = getpid();
  const int pid = SystemCall("fork the " + process.what, fork());
  if (pid == 0) ProcessMain(process, owner, broker_pid, std::move(ends.second), work);
  ends.second.reset();
  ipc::Connection connection(std::move(ends.first), kStartService);
  std::optional<ipc::Message> answer;
  try {
    answer = ReceiveAnswer(connection, process);
  } catch (const Error& error) {
    kill(pid, SIGKILL);
    sys::AwaitChild(pid);
    throw Error(fmt::format("the {} {}", process.what, error.what()));
  }
  if (answer && answer->code == ipc::Answer::kReply) return pid;
  // Kills the process, because users' code may have sent the answer, and the process may continue.
  if (process.runs_users_code) kill(pid, SIGKILL);
  sys::AwaitChild(pid);
  if (!answer) throw Error("the " + process.what + " exited unexpectedly during its start");
  ipc::ThrowDecodedError(kStartService, answer->payload);
}

}  // namespace viaduct::broker
