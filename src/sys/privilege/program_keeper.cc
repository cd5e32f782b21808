#include "sys/privilege/program_keeper.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "sys/descriptors.h"
#include "sys/process/process.h"
#include "sys/process/user_program.h"
#include "sys/signals.h"

namespace viaduct::privilege {
namespace {

using ipc::Reply;

// The time between SIGTERM and SIGKILL.
constexpr Duration kTerminationTimeout = Duration::Milliseconds(500);

// Ends all descendants of this process. The loop runs several times, because descendants may fork
// while others are being ended.
void EndDescendants() {
  for (int round = 0; round < 5; ++round) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const auto pids = sys::Descendants();
    if (pids.empty()) return;
    sys::TerminateProcesses(pids, kTerminationTimeout);
  }
}

}  // namespace

void ProgramKeeper::Work(const char* name) {
  prctl(PR_SET_NAME, name);
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of the program become children of this process
  ipc::AllowLongAnswers(connection_.fd());
  const UniqueFd signals = sys::CatchSignals({SIGCHLD, SIGTERM, SIGINT});
  while (Serve(signals.get())) {
  }
  EndDescendants();
}

// Waits for one event and handles it. Returns false if the keeper must end.
bool ProgramKeeper::Serve(int signals) {
  // poll() ignores a descriptor below 0, which Watched() may return.
  std::array<pollfd, 3> waits{
      {{connection_.fd(), POLLIN, 0}, {signals, POLLIN, 0}, {Watched(), POLLIN, 0}}};
  if (poll(waits.data(), waits.size(), -1) < 0) return errno == EINTR;
  if (waits[1].revents != 0 && !Collect(signals)) return false;
  if (waits[2].revents != 0) Follow();
  return waits[0].revents == 0 || ipc::AnswerNext(connection_, [this](ipc::Message& request) {
           return PerformAny(request);
         });
}

Reply ProgramKeeper::PerformAny(ipc::Message& request) {
  switch (request.code.As<ProgramRequest>()) {
    case ProgramRequest::kSpawn:
      return Start(request);
    case ProgramRequest::kSignal:
      if (is_running_) kill(-pid_, ipc::Member<int>(ipc::DecodeJson(request.payload), "signal"));
      return {};
    case ProgramRequest::kEnd:
      EndDescendants();
      return {};
    default:
      return Perform(request);
  }
}

Reply ProgramKeeper::Start(ipc::Message& request) {
  if (HasProgram()) throw UsageError("this process has already started its program");
  ProgramOptions options = DecodeProgram(request);
  options.asker = connection_.fd();
  const int network = EnterNetwork(options);
  sys::Pipe status = sys::MakePipe();
  pid_ = sys::StartProgram(options, network, "node " + options.node, user_);
  is_running_ = true;
  status_ = std::move(status.write);
  Reply reply;
  reply.descriptors.push_back(std::move(status.read));
  return reply;
}

// Reads pending signals and reports the program's wait status. Returns false if the keeper must
// end.
bool ProgramKeeper::Collect(int signals) {
  bool goes_on = true;
  while (const int signal = sys::TakeSignal(signals)) goes_on = goes_on && signal == SIGCHLD;
  int status = 0;
  for (int pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid != pid_) continue;
    is_running_ = false;
    const int32_t report = status;
    (void)!write(status_.get(), &report, sizeof report);  // the reader may have closed the pipe
  }
  return goes_on;
}

std::vector<std::string> LoginShell() {
  const auto user = sys::FindAccount(getuid());
  return {user && !user->shell.empty() ? user->shell : "/bin/sh"};
}

UniqueFd StartKeptProgram(ipc::Caller& keeper, const ProgramOptions& program) {
  ipc::Message answer = CallSpawn(keeper, program);
  if (answer.descriptors.size() != 1)
    throw Error("the descriptor for the program's exit status is missing");
  return std::move(answer.descriptors[0]);
}

void SignalKeptProgram(ipc::Caller& keeper, int number) {
  keeper.CallJson(ProgramRequest::kSignal, {{"signal", number}});
}

void EndKeptProgram(ipc::Caller& keeper) { keeper.CallJson(ProgramRequest::kEnd); }

}  // namespace viaduct::privilege
