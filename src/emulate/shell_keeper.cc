#include "emulate/shell_keeper.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "base/error.h"
#include "broker/call.h"
#include "emulate/shell_network.h"
#include "sys/descriptors.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"
#include "sys/network/tcp_table.h"
#include "sys/process.h"
#include "sys/signals.h"
#include "sys/unix_socket.h"
#include "sys/user_program.h"

namespace viaduct::emulate {
namespace {

using broker::MessageType;
using broker::Reply;

// Time between SIGTERM and SIGKILL.
constexpr Duration kTerminationPatience = Duration::Milliseconds(500);

class ShellKeeper {
 public:
  ShellKeeper(UniqueFd connection, const sys::Identity& user)
      : connection_(std::move(connection)), user_(user) {}

  void Work() {
    prctl(PR_SET_NAME, "viaduct-shell");
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of the program become our children
    broker::AllowLongAnswers(connection_.Fd());
    const UniqueFd signals = sys::CatchSignals({SIGCHLD, SIGTERM, SIGINT});
    while (Serve(signals.get())) {
    }
    EndAll();
    network_.reset();
  }

 private:
  // Waits for one event. Returns false if the shell should end.
  bool Serve(int signals) {
    // poll() takes no notice of the last one while there is no network.
    std::array<pollfd, 3> waits{{{connection_.Fd(), POLLIN, 0},
                                 {signals, POLLIN, 0},
                                 {network_ ? network_->monitor() : -1, POLLIN, 0}}};
    if (poll(waits.data(), waits.size(), -1) < 0) return errno == EINTR;
    if (waits[1].revents != 0 && !Collect(signals)) return false;
    if (waits[2].revents != 0) network_->FollowInterfaces();
    return waits[0].revents == 0 ||
           broker::AnswerNext(connection_,
                              [this](broker::Message& request) { return Perform(request); });
  }

  Reply Perform(broker::Message& request) {
    switch (request.type) {
      case MessageType::kBuildShell:
        return Build();
      case MessageType::kSpawn:
        return Start(request);
      case MessageType::kKill:
        if (is_running_)
          kill(-pid_, broker::Member<int>(broker::DecodeJson(request.payload), "signal"));
        return {};
      case MessageType::kEndProgram:
        EndAll();
        return {};
      case MessageType::kCountUnsent:
        return CountUnsent();
      default:
        throw broker::ProtocolError("broker protocol: not what a shell's keeper does");
    }
  }

  Reply Build() {
    if (network_) throw UsageError("this process has made its shell already");
    network_.emplace(user_.uid);
    Reply reply;
    const ShellInfo& info = network_->info();
    reply.value = {{"name", info.name},
                   {"created", info.created},
                   {"host", *info.inside},
                   {"limits", network_->limits()},
                   {"ipv6_limits", network_->ipv6_limits()},
                   {"ports", nlohmann::json::array()}};
    UniqueFd listener = sys::ListenAt(info.control_socket(), user_.uid, user_.gid, SOCK_STREAM);
    const sys::NamespaceScope scope(network_->middle());
    for (const char* name : kShellPorts) {
      sys::PacketSocket socket = sys::OpenPacketSocket(name, true);
      reply.value["ports"].push_back(socket.ifindex);
      reply.descriptors.push_back(std::move(socket.fd));
    }
    reply.descriptors.push_back(std::move(listener));
    network_->CloseMiddle();
    return reply;
  }

  Reply Start(broker::Message& request) {
    if (!network_ || pid_ > 0) throw UsageError("a shell has one network, and then one program");
    const broker::ProgramOptions options = broker::DecodeProgram(request);
    network_->EnterNameService();
    sys::Pipe status = sys::MakePipe();
    pid_ = sys::StartProgram(options, network_->inside(), "node shell", user_);
    is_running_ = true;
    status_ = std::move(status.write);
    Reply reply;
    reply.descriptors.push_back(std::move(status.read));
    return reply;
  }

  Reply CountUnsent() const {
    if (!network_) throw UsageError("this process has made no shell yet");
    const sys::NamespaceScope scope(network_->inside());
    return {{{"connections", sys::CountUnsentTcp()}}, {}};
  }

  // Returns false if the shell should end: its network is being removed.
  bool Collect(int signals) {
    bool goes_on = true;
    while (const int signal = sys::TakeSignal(signals)) goes_on = goes_on && signal == SIGCHLD;
    int status = 0;
    for (int pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != pid_) continue;
      is_running_ = false;
      const int32_t report = status;
      (void)!write(status_.get(), &report, sizeof report);  // a reader that has gone is no matter
    }
    return goes_on;
  }

  // Ends the program and its descendants; the next round finds those forked meanwhile.
  static void EndAll() {
    for (int round = 0; round < 5; ++round) {
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      const auto pids = sys::Descendants();
      if (pids.empty()) return;
      sys::TerminateProcesses(pids, kTerminationPatience);
    }
  }

  broker::Connection connection_;
  const sys::Identity user_;
  std::optional<ShellNetwork> network_;
  UniqueFd status_;  // where the program's wait status goes
  int pid_ = 0;
  bool is_running_ = false;
};

}  // namespace

void KeepShell(UniqueFd connection, const sys::Identity& user) {
  ShellKeeper(std::move(connection), user).Work();
}

}  // namespace viaduct::emulate
