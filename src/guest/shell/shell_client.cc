#include "guest/shell/shell_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/text/json_text.h"
#include "base/wait_status.h"
#include "sys/event_loop.h"
#include "sys/signals.h"

namespace viaduct::guest {
namespace {

using nlohmann::json;

constexpr int kForEver = -1;

UniqueFd ConnectToPaused(const PausedSimulation& paused) {
  try {
    return paused.Connect();
  } catch (const SystemError& error) {
    if (error.error_number() == EACCES) {
      throw EnvironmentError(
          fmt::format("simulation {} belongs to another user", paused.simulation));
    }
    throw UsageError(fmt::format("simulation {} is no longer paused", paused.simulation));
  }
}

// Receives the next packet; returns an empty string at the end of the connection. If the simulation
// closes the connection before it has read all packets, the kernel first reports a reset, and then
// the packets that the simulation had sent.
std::string ReceivePacket(int fd) {
  std::string packet(2 * kShellPiece, '\0');
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

json WindowSize() {
  winsize size{};
  ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
  return {{"rows", size.ws_row}, {"columns", size.ws_col}};
}

// Returns those environment variables of the user's shell that are passed to the program. The
// program gets all other variables from the node.
json ShellEnvironment() {
  json environment = json::object();
  for (const char* name : {"TERM", "COLORTERM", "LANG", "HOME", "USER", "LOGNAME", "PATH"}) {
    if (const char* value = std::getenv(name)) environment[name] = value;
  }
  return environment;
}

}  // namespace

ShellClient::ShellClient(const PausedSimulation& paused, std::string node,
                         std::vector<std::string> words)
    : name_(paused.simulation),
      node_(std::move(node)),
      words_(std::move(words)),
      terminal_(sys::OnTerminal()),
      signals_(sys::CatchForegroundSignals()),
      connection_(ConnectToPaused(paused)) {}

ShellClient::Opened ShellClient::Open() {
  json request = WindowSize();
  request["protocol"] = kShellProtocol;
  request["node"] = node_;
  request["words"] = words_;
  request["terminal"] = terminal_;
  request["folder"] = CurrentFolder();
  request["environment"] = ShellEnvironment();
  Send(ShellPacket::kOpen, StrictJsonText(request));
  const std::string packet = ReceivePacket(connection_.get());
  const auto message = ParseShell(packet);
  if (!message) ThrowEnd();
  if (message->packet == ShellPacket::kError) ThrowShellError(message->payload);
  if (message->packet != ShellPacket::kOpened) throw Error("malformed answer from the simulation");
  const json opened = json::parse(message->payload);
  return {opened.at("release"), opened.at("time")};
}

int ShellClient::Follow() {
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
  return *status_;
}

void ShellClient::ThrowEnd() {
  raw_.reset();
  throw Error(fmt::format("simulation {} has ended, which also ended the program", name_));
}

void ShellClient::Send(ShellPacket packet, std::string_view payload) {
  // A failure of SendShell() is not an error: if the connection is closed, the simulation's last
  // packets must still be read.
  if (!SendShell(connection_.get(), packet, payload, kForEver)) input_open_ = false;
}

void ShellClient::TakeSignal() {
  const int signal = sys::TakeSignal(signals_.get());
  if (signal == 0) return;
  if (signal == SIGWINCH) {
    if (terminal_) Send(ShellPacket::kSize, JsonText(WindowSize()));
  } else if (signal == SIGTERM || signal == SIGHUP) {
    raw_.reset();
    throw sys::Interrupted(signal);  // closing the connection sends SIGHUP to the program
  } else {
    Send(ShellPacket::kSignal, JsonText(json{{"signal", signal}}));
  }
}

void ShellClient::TakePacket() {
  const std::string packet = ReceivePacket(connection_.get());
  const auto message = ParseShell(packet);
  if (!message) ThrowEnd();
  switch (message->packet) {
    case ShellPacket::kOutput:
      return WriteAll(STDOUT_FILENO, message->payload, "the program's output");
    case ShellPacket::kErrors:
      return WriteAll(STDERR_FILENO, message->payload, "the program's output");
    case ShellPacket::kExited:
      status_ = ShellStatus(json::parse(message->payload).at("status"));
      return;
    case ShellPacket::kError:
      raw_.reset();
      ThrowShellError(message->payload);
    default:
      throw Error("malformed answer from the simulation");
  }
}

void ShellClient::TakeInput() {
  std::array<char, 4096> buffer;
  const ssize_t size = read(STDIN_FILENO, buffer.data(), buffer.size());
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  input_open_ = size > 0;
  if (size < 0 && terminal_) throw sys::Interrupted(SIGHUP);  // the terminal has hung up
  Send(ShellPacket::kInput, {buffer.data(), size > 0 ? static_cast<size_t>(size) : 0});
}

json Ask(const PausedSimulation& paused, const json& request) {
  const UniqueFd connection = ConnectToPaused(paused);
  SendShell(connection.get(), ShellPacket::kAsk, StrictJsonText(request), kForEver);
  std::string answer;
  for (;;) {
    const std::string packet = ReceivePacket(connection.get());
    const auto message = ParseShell(packet);
    if (!message) throw Error(fmt::format("simulation {} has ended", paused.simulation));
    if (message->packet == ShellPacket::kError) ThrowShellError(message->payload);
    if (message->packet == ShellPacket::kOpened) return json::parse(answer);
    answer += message->payload;
  }
}

void Resume(const PausedSimulation& paused) {
  const UniqueFd connection = ConnectToPaused(paused);
  SendShell(connection.get(), ShellPacket::kResume, "", kForEver);
  const std::string packet = ReceivePacket(connection.get());
  const auto message = ParseShell(packet);
  if (message && message->packet == ShellPacket::kError) ThrowShellError(message->payload);
  if (!message) throw Error(fmt::format("simulation {} has ended", paused.simulation));
}

}  // namespace viaduct::guest
