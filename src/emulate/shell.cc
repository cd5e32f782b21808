#include "emulate/shell.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/error.h"
#include "io/ring_port.h"
#include "sys/invoking_user.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"
#include "sys/process.h"
#include "sys/signals.h"

namespace viaduct::emulate {
namespace {

constexpr Duration kTerminationPatience =
    Duration::Milliseconds(500);  // between SIGTERM and SIGKILL

// The guardian's first message: an ExitStatus and the text of an error, or no text if the program
// runs.
struct StartReport {
  int32_t status = 0;
  std::array<char, 4000> error{};
};

// The privileged process of a shell: starts the program, signals it, reports its end, and removes
// everything when the connection is closed.
class ShellKeeper {
 public:
  ShellKeeper(int connection, ShellNetwork& network) : connection_(connection), network_(network) {}

  void Work(const sys::ProgramOptions& options) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of the program become our children
    const UniqueFd signals = sys::CatchSignals({SIGCHLD});
    if (Started(options)) {
      while (Serve(signals.get())) {
      }
      EndAll();
    } else {
      sys::AwaitEnd(connection_);
    }
    network_.Remove();
  }

 private:
  // Reports to the other end whether the program runs.
  bool Started(const sys::ProgramOptions& options) {
    StartReport report;
    try {
      network_.EnterNameService();
      pid_ = sys::StartProgram(options, network_.inside(), "node shell", sys::InvokingUser());
      network_.CloseInside();
    } catch (const Error& error) {
      report.status = static_cast<int32_t>(error.status());
      std::string(error.what()).copy(report.error.data(), report.error.size() - 1);
    }
    send(connection_, &report, sizeof report, MSG_NOSIGNAL);
    return pid_ > 0;
  }

  // Waits for one event. Returns false when the shell must end.
  bool Serve(int signals) {
    pollfd fds[] = {{connection_, POLLIN, 0}, {signals, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) return errno == EINTR;
    if (fds[1].revents) Collect(signals);
    if (!fds[0].revents) return true;
    int32_t number = 0;
    const ssize_t got = recv(connection_, &number, sizeof number, 0);
    if (got == 0) return false;
    if (got == sizeof number && running_) kill(-pid_, number);
    return true;
  }

  void Collect(int signals) {
    while (sys::TakeSignal(signals) != 0) continue;
    int status = 0;
    for (int pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != pid_) continue;
      running_ = false;
      const int32_t report = status;
      send(connection_, &report, sizeof report, MSG_NOSIGNAL);
    }
  }

  // Ends the program and its descendants; the next round finds those that were forked meanwhile.
  static void EndAll() {
    for (int round = 0; round < 5; ++round) {
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      const auto pids = sys::Descendants();
      if (pids.empty()) return;
      sys::TerminateProcesses(pids, kTerminationPatience);
    }
  }

  int connection_;
  ShellNetwork& network_;
  int pid_ = 0;
  bool running_ = true;
};

std::vector<std::string> LoginShell() {
  const auto user = sys::FindAccount(sys::InvokingUser().uid);
  return {user && !user->shell.empty() ? user->shell : "/bin/sh"};
}

std::vector<std::unique_ptr<io::AnyPort>> OpenPorts(const ShellNetwork& network) {
  const sys::NamespaceScope scope(network.middle());
  std::vector<std::unique_ptr<io::AnyPort>> ports;
  for (const char* name : {ShellNetwork::kProgramPort, ShellNetwork::kHostPort}) {
    sys::PacketSocket socket = sys::OpenPacketSocket(name, true);
    io::RingOptions ring;
    ring.ifindex = socket.ifindex;
    ports.push_back(io::Hold(io::RingPort(std::move(socket.fd), ring)));
  }
  return ports;
}

void AwaitStart(int connection) {
  StartReport report;
  const ssize_t got = recv(connection, &report, sizeof report, 0);
  if (got != sizeof report)
    throw Error("the process that should have started the program has died");
  if (report.error[0] != 0) {
    throw Error(report.error.data(), static_cast<ExitStatus>(report.status));
  }
}

}  // namespace

engine::Config ShellPath(const path::Spec& up, const path::Spec& down) {
  engine::Config config;
  config.name = "shell";
  config.ports = {ShellNetwork::kProgramPort, ShellNetwork::kHostPort};
  config.pairs = {{"shell", {0, {}, {}}, {1, {}, {}}, up, down, {}}};
  return config;
}

Shell::Shell(engine::Config config) : config_(std::move(config)), ports_(OpenPorts(network_)) {
  network_.CloseMiddle();
}

sys::ProgramOptions Shell::Program(const std::vector<std::string>& words) const {
  sys::ProgramOptions program;
  program.arguments = words.empty() ? LoginShell() : words;
  program.environment["VIADUCT_HOST"] = network_.host_address().ToString();
  return program;
}

void Shell::Start(const sys::ProgramOptions& program) {
  guardian_.emplace([&](int connection) { ShellKeeper(connection, network_).Work(program); });
  network_.LeaveRemovalToOthers();
  network_.CloseInside();
  sys::AllowHighestPriority();
  sys::BecomeInvokingUser();
  engine_.emplace(std::move(config_), std::move(ports_));
  engine_->Start();
  AwaitStart(guardian_->Connection());
}

void Shell::Signal(int number) {
  const int32_t message = number;
  send(guardian_->Connection(), &message, sizeof message, MSG_NOSIGNAL);
}

engine::Statistics Shell::Stop() {
  engine_->Stop();
  return engine_->Read();
}

}  // namespace viaduct::emulate
