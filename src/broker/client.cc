#include "broker/client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/clock.h"
#include "base/json_text.h"
#include "broker/broker_process.h"
#include "broker/connection.h"
#include "sys/invoking_user.h"
#include "sys/process.h"

namespace viaduct::broker {
namespace {

using nlohmann::json;

// The clean-up of the largest labs ends well within this; a hung one must not hang its clients.
constexpr Duration kCleanUpPatience = Duration::Seconds(30);

}  // namespace

struct Client::State {
  explicit State(UniqueFd socket) : connection(std::move(socket)) {}
  ~State();

  Message Call(MessageType type, std::string_view payload, const std::vector<int>& fds = {});
  json CallJson(MessageType type, const json& arguments) {
    return DecodeJson(Call(type, StrictJsonText(arguments)).payload);
  }
  NodeSocket OpenSocket(MessageType type, const json& arguments);
  UniqueFd OpenOne(MessageType type, const json& arguments);

  Connection connection;
  const int owner_pid = getpid();
  uint32_t sequence = 0;
  int broker_pid = 0;  // of a broker that this process started
};

// Waits until the broker has closed its end: at once, unless this was the last connection; then
// after it has removed the lab.
Client::State::~State() {
  if (getpid() != owner_pid)
    return;  // a forked copy: the connection belongs to the process that opened it
  shutdown(connection.Fd(), SHUT_WR);
  const Instant deadline = MonotonicClock::Now() + kCleanUpPatience;
  try {
    Message ignored;
    for (Instant now = MonotonicClock::Now(); now < deadline; now = MonotonicClock::Now()) {
      pollfd wait{connection.Fd(), POLLIN, 0};
      const int ready =
          poll(&wait, 1, static_cast<int>((deadline - now) / Duration::Milliseconds(1)));
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) break;
      if (connection.Receive(&ignored, MSG_DONTWAIT) == Connection::Status::kEnd) break;
    }
  } catch (const Error&) {  // the answer is not needed any more
  }
  if (broker_pid > 0) ReapBroker(broker_pid);
}

Message Client::State::Call(MessageType type, std::string_view payload,
                            const std::vector<int>& fds) {
  Message answer;
  auto status = Connection::Status::kIncomplete;
  try {
    connection.Send(type, ++sequence, payload, fds);
  } catch (const SystemError& error) {
    // The broker may have sent the reason before it closed the connection.
    if (error.error_number() != EPIPE && error.error_number() != ECONNRESET) throw;
  }
  while (status == Connection::Status::kIncomplete) status = connection.Receive(&answer);
  if (status == Connection::Status::kEnd) {
    throw Error("the broker has ended (killed, or the lab was taken down); the lab is gone");
  }
  if (answer.type == MessageType::kError) ThrowDecodedError(answer.payload);
  if (answer.type != MessageType::kReply || answer.sequence != sequence) {
    throw ProtocolError("broker protocol: answer to another request");
  }
  return answer;
}

NodeSocket Client::State::OpenSocket(MessageType type, const json& arguments) {
  Message answer = Call(type, StrictJsonText(arguments));
  const json value = DecodeJson(answer.payload);
  if (answer.descriptors.size() != 1) throw ProtocolError("broker protocol: no socket received");
  return {std::move(answer.descriptors[0]), Member<int>(value, "ifindex"),
          Member<bool>(value, "has_qdisc")};
}

UniqueFd Client::State::OpenOne(MessageType type, const json& arguments) {
  Message answer = Call(type, StrictJsonText(arguments));
  if (answer.descriptors.size() != 1)
    throw ProtocolError("broker protocol: no descriptor received");
  return std::move(answer.descriptors[0]);
}

Client::Client(UniqueFd connection) : state_(std::make_unique<State>(std::move(connection))) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Client Client::ConnectOrSpawn() {
  if (auto inherited = InheritedConnection()) return Client(std::move(*inherited));
  SpawnedBroker broker = SpawnBroker();
  Client client(std::move(broker.connection));
  client.state_->broker_pid = broker.pid;
  sys::AllowHighestPriority();  // after the fork: not for the lab's programs
  sys::BecomeInvokingUser();
  return client;
}

Client Client::ConnectToLab(const std::string& lab) { return Client(ConnectToSocket(lab)); }

void Client::CreateLab(const lab::Topology& topology) {
  state_->CallJson(MessageType::kCreateLab, topology);
}

void Client::DestroyLab() { state_->CallJson(MessageType::kDestroyLab, json::object()); }

NodeSocket Client::OpenPacketSocket(const PacketSocketOptions& options) {
  return state_->OpenSocket(MessageType::kOpenPacketSocket, options);
}

NodeSocket Client::OpenControlSocket(const ControlSocketOptions& options) {
  return state_->OpenSocket(MessageType::kOpenControlSocket, options);
}

UniqueFd Client::OpenTun(const std::string& node) {
  return state_->OpenOne(MessageType::kOpenTun, {{"node", node}});
}

void Client::ApplyRoutes(const std::string& node, const fib::RouteChanges& changes) {
  if (changes.empty()) return;
  state_->Call(MessageType::kApplyRoutes, EncodeRoutes(node, changes));
}

int Client::IfIndex(const lab::Endpoint& endpoint) {
  const json answer = state_->CallJson(
      MessageType::kIfIndex, {{"node", endpoint.node}, {"interface", endpoint.interface}});
  return Member<int>(answer, "ifindex");
}

void Client::SetLinkUp(const lab::Endpoint& endpoint, bool up) {
  state_->CallJson(MessageType::kSetLinkUp,
                   {{"node", endpoint.node}, {"interface", endpoint.interface}, {"up", up}});
}

Program Client::Spawn(const ProgramOptions& options) {
  std::vector<int> descriptors;
  for (const int fd : {options.standard_input, options.standard_output, options.standard_error}) {
    if (fd >= 0) descriptors.push_back(fd);
  }
  json request = options;
  if (options.working_directory.empty()) {
    request["working_directory"] = std::filesystem::current_path().string();
  }
  Message answer = state_->Call(MessageType::kSpawn, StrictJsonText(request), descriptors);
  if (answer.descriptors.size() != 2) throw ProtocolError("broker protocol: no program received");
  return {Member<int>(DecodeJson(answer.payload), "pid"), std::move(answer.descriptors[0]),
          std::move(answer.descriptors[1])};
}

void Client::Kill(int pid, int signal) {
  state_->CallJson(MessageType::kKill, {{"pid", pid}, {"signal", signal}});
}

json Client::Describe() { return state_->CallJson(MessageType::kDescribe, json::object()); }

void Client::Detach() { state_->CallJson(MessageType::kDetach, json::object()); }

UniqueFd Client::NewConnection() {
  return state_->OpenOne(MessageType::kNewConnection, json::object());
}

}  // namespace viaduct::broker
