// viaduct kernel shell: a shell or program on a kernel node of a paused simulation, as if it ran
// here. viaduct kernel resume: the simulation goes on.
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/fd.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/foreground.h"
#include "cli/terminal.h"
#include "guest/shell/paused.h"
#include "guest/shell/shell_protocol.h"
#include "sys/event_loop.h"

namespace viaduct::cli {
namespace {

using guest::ShellPacket;
using nlohmann::json;

constexpr int kForEver = -1;

UniqueFd ConnectToPaused(const guest::PausedSimulation& paused) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, paused.socket().c_str(), sizeof address.sun_path - 1);
  UniqueFd fd(SystemCall("socket", socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return fd;
  }
  if (errno == EACCES) {
    throw EnvironmentError(fmt::format("simulation {} is another user's", paused.name));
  }
  throw UsageError(fmt::format("simulation {} is not paused any more", paused.name));
}

// The next packet; empty at the end of the connection. One that was closed before all we had said
// was read is reset, which is told before what had still been said to us.
std::string ReceivePacket(int fd) {
  std::string packet(2 * guest::kShellPiece, '\0');
  ssize_t size = 0;
  do {
    size = recv(fd, packet.data(), packet.size(), 0);
  } while (size < 0 && (errno == EINTR || errno == ECONNRESET));
  packet.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return packet;
}

[[noreturn]] void ThrowShellError(std::string_view payload) {
  const json error = json::parse(payload);
  throw Error(error.at("message").get<std::string>(),
              static_cast<ExitStatus>(error.at("status").get<int>()));
}

void WriteOutput(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw SystemError("write the program's output", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

json WindowSize() {
  winsize size{};
  ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
  return {{"rows", size.ws_row}, {"columns", size.ws_col}};
}

// What a user's own shell would have; the rest is the node's.
json ShellEnvironment() {
  json environment = json::object();
  for (const char* name : {"TERM", "COLORTERM", "LANG", "HOME", "USER", "LOGNAME", "PATH"}) {
    if (const char* value = std::getenv(name)) environment[name] = value;
  }
  return environment;
}

class ShellClient {
 public:
  ShellClient(const guest::PausedSimulation& paused, std::string node,
              std::vector<std::string> words)
      : name_(paused.name),
        node_(std::move(node)),
        words_(std::move(words)),
        terminal_(OnTerminal()),
        signals_(CatchForegroundSignals()),
        connection_(ConnectToPaused(paused)) {}

  // Until the program ends; its status as a shell reports it.
  int Follow() {
    Open();
    if (terminal_) raw_.emplace(STDIN_FILENO);
    while (!status_) {
      pollfd fds[] = {{signals_.get(), POLLIN, 0},
                      {connection_.get(), POLLIN, 0},
                      {input_open_ ? STDIN_FILENO : -1, POLLIN, 0}};
      if (poll(fds, std::size(fds), -1) < 0 && errno != EINTR) throw SystemError("poll", errno);
      if (fds[0].revents) TakeSignal();
      if (fds[1].revents) {
        TakePacket();
      } else if (fds[2].revents) {
        TakeInput();
      }
    }
    raw_.reset();
    if (Interactive()) {
      std::fprintf(stderr, "%s is still paused: viaduct kernel resume goes on\n", name_.c_str());
    }
    return *status_;
  }

 private:
  bool Interactive() const { return terminal_ && words_.empty(); }

  void Open() {
    json request = WindowSize();
    request["protocol"] = guest::kShellProtocol;
    request["node"] = node_;
    request["words"] = words_;
    request["terminal"] = terminal_;
    request["folder"] = std::filesystem::current_path();
    request["environment"] = ShellEnvironment();
    Send(ShellPacket::kOpen, request.dump());
    const std::string packet = ReceivePacket(connection_.get());
    const auto message = guest::ParseShell(packet);
    if (!message) ThrowEnd();
    if (message->packet == ShellPacket::kError) ThrowShellError(message->payload);
    if (message->packet != ShellPacket::kOpened)
      throw Error("the simulation's answer is malformed");
    if (!Interactive()) return;
    const json opened = json::parse(message->payload);
    std::fprintf(stderr,
                 "%s: Linux %s at %.6f s of %s. Virtual time stands still at the prompt and passes "
                 "while a command runs.\n",
                 node_.c_str(), opened.at("release").get<std::string>().c_str(),
                 opened.at("time").get<double>(), name_.c_str());
  }

  [[noreturn]] void ThrowEnd() {
    raw_.reset();
    throw Error(fmt::format("simulation {} has ended, and the program with it", name_));
  }

  void Send(ShellPacket packet, std::string_view payload) {
    // Where it is closed, what was said last is still to be read.
    if (!SendShell(connection_.get(), packet, payload, kForEver)) input_open_ = false;
  }

  void TakeSignal() {
    signalfd_siginfo info;
    if (read(signals_.get(), &info, sizeof info) != sizeof info) return;
    const auto signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGWINCH) {
      if (terminal_) Send(ShellPacket::kSize, WindowSize().dump());
    } else if (signal == SIGTERM || signal == SIGHUP) {
      raw_.reset();
      throw sys::Interrupted(signal);  // the connection's end hangs up on the program
    } else {
      Send(ShellPacket::kSignal, json{{"signal", signal}}.dump());
    }
  }

  void TakePacket() {
    const std::string packet = ReceivePacket(connection_.get());
    const auto message = guest::ParseShell(packet);
    if (!message) ThrowEnd();
    switch (message->packet) {
      case ShellPacket::kOutput:
        return WriteOutput(STDOUT_FILENO, message->payload);
      case ShellPacket::kErrors:
        return WriteOutput(STDERR_FILENO, message->payload);
      case ShellPacket::kExited: {
        const int status = json::parse(message->payload).at("status");
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return;
      }
      case ShellPacket::kError:
        raw_.reset();
        ThrowShellError(message->payload);
      default:
        throw Error("the simulation's answer is malformed");
    }
  }

  void TakeInput() {
    std::array<char, 4096> buffer;
    const ssize_t size = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    input_open_ = size > 0;
    if (size < 0 && terminal_) throw sys::Interrupted(SIGHUP);  // the window is gone
    Send(ShellPacket::kInput, {buffer.data(), size > 0 ? static_cast<size_t>(size) : 0});
  }

  std::string name_, node_;
  std::vector<std::string> words_;
  bool terminal_, input_open_ = true;
  UniqueFd signals_, connection_;
  std::optional<RawMode> raw_;
  std::optional<int> status_;
};

int OpenShell(const std::string& target, const std::vector<std::string>& words) {
  const NodeName name(target);
  const auto paused = guest::FindPaused(name.place);
  return ShellClient(paused, name.node, words).Follow();
}

void ResumePaused(const std::string& name) {
  const auto paused = guest::FindPaused(name);
  const UniqueFd connection = ConnectToPaused(paused);
  SendShell(connection.get(), ShellPacket::kResume, "", kForEver);
  const std::string packet = ReceivePacket(connection.get());
  const auto message = guest::ParseShell(packet);
  if (message && message->packet == ShellPacket::kError) ThrowShellError(message->payload);
  if (!message) throw Error(fmt::format("simulation {} has ended", paused.name));
}

}  // namespace

void AddKernelShell(CLI::App& kernel, Invocation& invocation) {
  struct Options {
    std::string target;
    std::vector<std::string> words;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = kernel.add_subcommand(
      "shell", "a shell, or a program, on a kernel node of a paused simulation");
  command
      ->add_option("NODE", options->target,
                   "the node; SIMULATION:NODE when several simulations are paused")
      ->required();
  command->add_option("COMMAND", options->words, "a program and its arguments; default: a shell");
  command->footer(
      "Virtual time stands still while every shell waits at its prompt. While a command runs, the\n"
      "whole simulation goes on at the pace of the wall clock: sleep 5 lets five seconds pass.\n"
      "Examples:\n"
      "  viaduct run line.yaml --mode simulate --pause-at 5s     then, in another terminal:\n"
      "  viaduct kernel shell n0\n"
      "  viaduct kernel shell n0 -- ss -ti\n"
      "  viaduct kernel resume");
  command->callback(
      [options, &invocation] { invocation.status = OpenShell(options->target, options->words); });
}

void AddKernelResume(CLI::App& kernel, Invocation&) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = kernel.add_subcommand("resume", "let a paused simulation go on");
  command->add_option("SIMULATION", *name,
                      "its name or process; may be left out when one is paused");
  command->footer("Example:\n  viaduct kernel resume");
  command->callback([name] { ResumePaused(*name); });
}

}  // namespace viaduct::cli
