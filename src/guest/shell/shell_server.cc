#include "guest/shell/shell_server.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/error.h"
#include "base/text/json_text.h"

namespace viaduct::guest {
namespace {

using nlohmann::json;

constexpr size_t kMaxSessions = 64;
constexpr size_t kMaxPacket = 256 * 1024;
// The time after which a client that reads nothing is disconnected, so that the client does not
// block the simulation.
constexpr int kClientTimeoutMilliseconds = 10'000;
// The maximum virtual time that a program may take to end after its terminal has hung up.
constexpr Duration kHangUpTimeout = Duration::Seconds(1);

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns the command of the default shell, which is the machine's shell, because nodes see the
// files of this machine.
std::vector<std::string> DefaultShell() { return {access("/bin/bash", X_OK) == 0 ? "bash" : "sh"}; }

std::vector<std::string> EnvironmentWith(const json& changes) {
  std::vector<std::string> environment = DefaultEnvironment();
  for (const auto& [name, value] : changes.items()) {
    std::erase_if(environment, [&name = name](const std::string& each) {
      return each.rfind(name + "=", 0) == 0;
    });
    environment.push_back(name + "=" + value.get<std::string>());
  }
  return environment;
}

}  // namespace

ShellServer::ShellServer(UniqueFd listener, std::vector<ShellNode> nodes,
                         std::function<Instant()> now, Answer answer)
    : listener_(std::move(listener)),
      nodes_(std::move(nodes)),
      now_(std::move(now)),
      answer_(std::move(answer)) {
  poller_.Add(listener_.get(), 0);
}

// Removes only the programs' callbacks, because the guests may have ended already.
ShellServer::~ShellServer() {
  for (auto& [id, session] : sessions_) {
    if (session.node != nullptr) session.node->programs->Forget(session.program);
  }
}

bool ShellServer::Serve() {
  asked_ = false;
  for (const epoll_event& event : poller_.Wait(Duration())) {
    const auto id = static_cast<uint32_t>(event.data.u64);
    if (id == 0) {
      Accept();
      continue;
    }
    const auto found = sessions_.find(id);
    if (found == sessions_.end() || !found->second.socket) continue;
    if (!Read(id, found->second)) HangUp(found->second);
  }
  KillOverdue();
  std::erase_if(sessions_, [](const auto& entry) { return entry.second.ended; });
  return asked_;
}

void ShellServer::Accept() {
  UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return;
  Session& session = sessions_[next_];
  session.socket = std::move(socket);
  if (sessions_.size() > kMaxSessions) {
    SendError(session, fmt::format("too many shells: at most {} can be open", kMaxSessions), 1);
  } else {
    poller_.Add(session.socket.get(), next_);
  }
  ++next_;
}

// Reads and handles one packet; returns false at the end of the connection, or after an error of
// the connection.
bool ShellServer::Read(uint32_t id, Session& session) {
  std::string packet(kMaxPacket, '\0');
  const ssize_t size = recv(session.socket.get(), packet.data(), packet.size(), 0);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  packet.resize(static_cast<size_t>(size));
  const auto message = ParseShell(packet);
  if (!message) return false;
  try {
    Handle(id, session, *message);
  } catch (const json::exception& error) {
    SendError(session, fmt::format("malformed request: {}", error.what()), 2);
  } catch (const Error& error) {
    SendError(session, error.what(), static_cast<int>(error.status()));
  } catch (const std::exception& error) {  // the simulation continues after any error
    SendError(session, error.what(), static_cast<int>(ExitStatus::kFailure));
  }
  return true;
}

void ShellServer::Handle(uint32_t id, Session& session, const ShellMessage& message) {
  if (session.node == nullptr) {
    if (message.packet == ShellPacket::kOpen)
      return Open(id, session, json::parse(message.payload));
    if (message.packet == ShellPacket::kAsk) return Tell(session, json::parse(message.payload));
    if (message.packet != ShellPacket::kResume)
      throw UsageError("the first packet is not a request to open a shell, to query or to resume");
    Resume();
    Send(session, ShellPacket::kOpened, "{}");
    return Disconnect(session);
  }
  ProgramClient& programs = *session.node->programs;
  asked_ = true;
  switch (message.packet) {
    case ShellPacket::kInput:
      return programs.Write(session.program, std::as_bytes(std::span(message.payload)));
    case ShellPacket::kSize: {
      const json size = json::parse(message.payload);
      return programs.Resize(session.program, size.at("rows"), size.at("columns"));
    }
    case ShellPacket::kSignal:
      return programs.Signal(session.program, json::parse(message.payload).at("signal"));
    default:
      throw UsageError("the request is not valid for an open shell");
  }
}

void ShellServer::Open(uint32_t id, Session& session, const json& request) {
  if (request.at("protocol") != kShellProtocol) {
    throw UsageError("the simulation and this command have different versions of Viaduct");
  }
  const ShellNode& node = FindNode(request.at("node"));
  ProgramRequest program;
  program.node = node.number;
  program.words = request.at("words").get<std::vector<std::string>>();
  program.terminal = request.at("terminal");
  program.rows = request.at("rows");
  program.columns = request.at("columns");
  program.input = true;
  program.folder = NodeFolder(request.at("folder"));
  program.environment = EnvironmentWith(request.at("environment"));
  session.shell = program.words.empty();
  if (session.shell) program.words = DefaultShell();
  session.program = node.programs->Start(program, EventsOf(id));
  session.node = &node;
  asked_ = true;
}

void ShellServer::Tell(Session& session, const json& request) {
  if (!answer_) {
    throw UsageError(
        "the simulation is a C++ program, which only supports viaduct kernel shell NODE");
  }
  const std::string text = JsonText(answer_(request));
  for (size_t at = 0; at < text.size(); at += kShellPiece) {
    Send(session, ShellPacket::kOutput, std::string_view(text).substr(at, kShellPiece));
  }
  Send(session, ShellPacket::kOpened, "{}");
  Disconnect(session);
}

ProgramEvents ShellServer::EventsOf(uint32_t id) {
  ProgramEvents events;
  events.started = [this, id](int error_number, const std::string& words) {
    Session& session = sessions_.at(id);
    session.started = true;
    if (error_number != 0) {
      return SendError(session, words, static_cast<int>(ExitStatus::kEnvironment));
    }
    const json opened = {{"node", session.node->name},
                         {"release", session.node->release},
                         {"time", static_cast<double>(now_().nanoseconds()) / 1e9}};
    Send(session, ShellPacket::kOpened, JsonText(opened));
  };
  events.output = [this, id](int descriptor, std::span<const std::byte> bytes) {
    for (size_t at = 0; at < bytes.size(); at += kShellPiece) {
      Send(sessions_.at(id), descriptor == 1 ? ShellPacket::kOutput : ShellPacket::kErrors,
           AsText(bytes.subspan(at, std::min(kShellPiece, bytes.size() - at))));
    }
  };
  events.exited = [this, id](int status) {
    Session& session = sessions_.at(id);
    Send(session, ShellPacket::kExited, JsonText(json{{"status", status}}));
    session.node->programs->Forget(session.program);
    Disconnect(session);
  };
  return events;
}

const ShellNode& ShellServer::FindNode(const std::string& name) const {
  if (nodes_.empty()) {
    throw UsageError("no node of this simulation has a kernel; see viaduct ls and viaduct view");
  }
  std::string names;
  for (const ShellNode& node : nodes_) {
    if (node.name == name) return node;
    names += (names.empty() ? "" : ", ") + node.name;
  }
  throw UsageError(fmt::format(
      "no node {} has a kernel in this simulation; nodes with a kernel: {}", name, names));
}

void ShellServer::Send(Session& session, ShellPacket packet, std::string_view payload) {
  if (!session.socket) return;
  if (!SendShell(session.socket.get(), packet, payload, kClientTimeoutMilliseconds))
    HangUp(session);
}

void ShellServer::SendError(Session& session, const std::string& message, int status) {
  const json error = {{"message", message}, {"status", status}};
  Send(session, ShellPacket::kError, JsonText(error));
  if (session.node != nullptr) session.node->programs->Forget(session.program);
  Disconnect(session);
}

void ShellServer::Disconnect(Session& session) {
  session.socket.reset();  // closing the descriptor also removes it from the poller
  session.ended = true;
}

// Handles a client that has closed its connection: the client's program receives SIGHUP, as when a
// terminal hangs up.
void ShellServer::HangUp(Session& session) {
  session.socket.reset();
  if (session.node == nullptr) {
    session.ended = true;
    return;
  }
  if (std::exchange(session.hung_up, true)) return;
  session.hung_up_at = now_();
  session.node->programs->Signal(session.program, SIGHUP);
  session.node->programs->Write(session.program, {});
  asked_ = true;
}

void ShellServer::KillOverdue() {
  for (auto& [id, session] : sessions_) {
    if (session.ended || !session.hung_up || now_() - session.hung_up_at < kHangUpTimeout) {
      continue;
    }
    session.node->programs->Signal(session.program, SIGKILL);
    session.node->programs->Forget(session.program);
    session.ended = true;
    asked_ = true;
  }
}

bool ShellServer::Busy() {
  for (auto& [id, session] : sessions_) {
    if (session.node == nullptr || session.ended) continue;
    if (!session.shell || !session.started || session.hung_up) return true;
    if (!session.node->programs->AtPrompt(session.program)) return true;
  }
  return false;
}

std::string ShellServer::OpenNodes() const {
  std::string nodes;
  for (const auto& [id, session] : sessions_) {
    if (session.node == nullptr || session.ended || session.hung_up) continue;
    nodes += (nodes.empty() ? "" : ", ") + session.node->name;
  }
  return nodes;
}

void ShellServer::Resume() {
  const std::string nodes = OpenNodes();
  if (!nodes.empty()) {
    throw UsageError(fmt::format("a shell is open on {}; leave the shell first (exit)", nodes));
  }
  resumed_ = true;
}

}  // namespace viaduct::guest
