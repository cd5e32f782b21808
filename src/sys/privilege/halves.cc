#include "sys/privilege/halves.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sys/descriptor_limit.h"
#include "sys/descriptors.h"
#include "sys/ipc/error.h"
#include "sys/privilege/capabilities.h"
#include "sys/process/child.h"
#include "sys/process/find_program.h"
#include "sys/process/launch.h"
#include "sys/process/process.h"

namespace viaduct::privilege {
namespace {

std::optional<ipc::Connection> the_steward;  // this process's connection to the steward

// Receives one message; returns nothing if the other end has closed.
std::optional<ipc::Message> Receive(ipc::Connection& connection) {
  ipc::Message message;
  auto status = ipc::Connection::Status::kIncomplete;
  while (status == ipc::Connection::Status::kIncomplete) status = connection.Receive(&message);
  if (status == ipc::Connection::Status::kEnd) return std::nullopt;
  if (message.code == ipc::Answer::kError) {
    ipc::ThrowDecodedError(kStewardService, message.payload);
  }
  return message;
}

void ForkSteward(const sys::Identity& user, ServiceEntries entries) {
  sys::AllowMoreDescriptors();
  std::pair<UniqueFd, UniqueFd> ends = sys::MakeSocketPair(SOCK_SEQPACKET);
  if (SystemCall("fork the privileged process of the command", fork()) == 0)
    RunSteward(ends.second.get(), user, entries);
  ends.second.reset();
  ipc::Connection steward(std::move(ends.first), kStewardService);
  // Waits until the steward has left this process's group: before that, a signal that kills all
  // processes of this group also kills the steward.
  if (!Receive(steward)) throw Error("the privileged process of the command did not start");
  the_steward.emplace(std::move(steward));
}

// Returns the user of the process at the other end of a connection; -1 if the descriptor is not a
// connection.
uid_t PeerOf(int connection) {
  int type = 0;
  socklen_t length = sizeof type;
  ucred peer{};
  if (getsockopt(connection, SOL_SOCKET, SO_TYPE, &type, &length) != 0) return -1;
  length = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
  return type == SOCK_SEQPACKET ? peer.uid : -1;
}

// Becomes root's half in a process that sudo started. Forks the steward and exits, because sudo
// must not run as long as the steward.
[[noreturn]] void BeRootsHalf(const sys::Identity& user, ServiceEntries entries) {
  if (geteuid() != 0 || PeerOf(STDIN_FILENO) != user.uid) {
    throw UsageError(fmt::format(
        "{} is an internal command that viaduct starts through sudo; it cannot be called directly",
        kRootsHalfWord));
  }
  sys::AllowMoreDescriptors();
  sys::Pipe confined = sys::MakePipe();
  if (SystemCall("fork the privileged process of the command", fork()) == 0)
    RunSteward(STDIN_FILENO, user, entries);
  confined.write.reset();
  // Waits until the steward closes its end of the pipe: the steward has then left the session, to
  // which sudo sends SIGHUP when it ends.
  char byte;
  (void)!read(confined.read.get(), &byte, sizeof byte);
  _exit(0);
}

void BecomeUser() {
  sys::BecomeInvokingUser();
  KeepCapabilities({});
  sys::ForbidNewPrivileges();
  // Makes the user the owner of the process's files in /proc, which would otherwise belong to root.
  // This is safe because the process's memory has contained no data of root.
  SystemCall("prctl PR_SET_DUMPABLE", prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

// Returns the name or path of this command for sudo, which searches only the system's folders
// (secure_path, sudoers(5)).
std::string CommandForSudo() {
  const std::string installed = sys::FindProgramIn(
      fmt::format("/usr/local/sbin:/usr/local/bin:{}", sys::kSystemFolders), "viaduct");
  const std::filesystem::path own = sys::OwnProgram();
  std::error_code error;  // is set if a program is absent, which counts as not equivalent
  return std::filesystem::equivalent(installed, own, error) ? "viaduct" : own.string();
}

[[noreturn]] void ThrowNoRoot(const std::string& why) {
  throw EnvironmentError(fmt::format(
      "this command needs root for namespaces, links and routes, but {}: run sudo {} ...; "
      "viaduct run --mode simulate does not need root",
      why, CommandForSudo()));
}

// Returns the first line that another process has written to the pipe.
std::string FirstLine(int pipe) {
  std::array<char, 512> text;
  sys::SetNonBlocking(pipe);
  const ssize_t got = read(pipe, text.data(), text.size());
  const std::string_view all(text.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return std::string(all.substr(0, all.find('\n')));
}

std::string ReasonOfSudo(const std::string& sudos_words) {
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
    return fmt::format(
        "sudo refuses ({}): programs on nodes and in shells have no more privileges than "
        "you, unless you start them with --new-privileges",
        sudos_words);
  }
  const bool asks = sudos_words.find("password is required") != std::string::npos;
  return asks                  ? "sudo asks for a password"
         : sudos_words.empty() ? "sudo cannot start the privileged process of the command"
                               : fmt::format("sudo refuses ({})", sudos_words);
}

// Starts root's half by sudo, in the background, so that sudo neither reads from the terminal nor
// continues to run.
void StartBySudo() {
  auto [ours, theirs] = sys::MakeSocketPair(SOCK_SEQPACKET);
  sys::Pipe words = sys::MakePipe();
  sys::LaunchOptions sudo;
  sudo.words = {"sudo", "-n", "-b", "--", sys::OwnProgram(), kRootsHalfWord};
  sudo.environment = sys::OwnEnvironment();
  sys::SetVariable(*sudo.environment, "LC_ALL", "C");  // ReasonOfSudo() reads sudo's messages
  sudo.standard = {theirs.get(), -1, words.write.get()};
  try {
    sys::AwaitChild(sys::Launch(sudo));
  } catch (const sys::LaunchError& error) {
    if (error.step() != sys::LaunchError::Step::kExecute) throw;
    ThrowNoRoot(fmt::format("sudo cannot be executed ({})", std::strerror(error.error_number())));
  }
  theirs.reset();
  words.write.reset();
  ipc::Connection steward(std::move(ours), kStewardService);
  if (!Receive(steward)) ThrowNoRoot(ReasonOfSudo(FirstLine(words.read.get())));
  the_steward.emplace(std::move(steward));
  sys::ForbidNewPrivileges();
}

}  // namespace

void SeparateHalves(const std::string& word, ServiceEntries entries) {
  const bool is_roots_half = word == kRootsHalfWord;
  if (geteuid() != 0 && !is_roots_half) return;
  const sys::Identity user = sys::InvokingUser();
  if (is_roots_half) BeRootsHalf(user, entries);
  if (user.uid == 0) return;
  ForkSteward(user, entries);
  BecomeUser();
}

bool HasRootsHalf() { return the_steward.has_value(); }

void NeedRootsHalf(ServiceEntries entries) {
  if (the_steward) return;
  if (geteuid() == 0) return ForkSteward(sys::InvokingUser(), entries);
  StartBySudo();
}

ServiceProcess Ask(const ipc::Service& service) {
  const nlohmann::json request = {{"service", service.name}};
  the_steward->Send(StewardRequest::kStart, 0, request.dump());
  std::optional<ipc::Message> answer = Receive(*the_steward);
  if (!answer) throw Error("the privileged process of the command exited");
  if (answer->descriptors.size() != 1) {
    throw Error("the privileged process of the command returned no connection");
  }
  return {
      std::move(answer->descriptors[0]),
      ipc::AnswerMember<int>(kStewardService, ipc::DecodeAnswer(kStewardService, *answer), "pid")};
}

ipc::Caller CallerOf(const ipc::Service& service, std::string ended) {
  ServiceProcess process = Ask(service);
  return {std::move(process.connection), process.pid, service, std::move(ended)};
}

nlohmann::json AskOnce(const ipc::Service& service, ipc::Code code,
                       const nlohmann::json& arguments) {
  ipc::Caller caller =
      CallerOf(service, "the privileged process of the command exited unexpectedly");
  return caller.CallJson(code, arguments);
}

void LeaveRootsHalf() { the_steward.reset(); }

void NeedNoRoot() {
  if (geteuid() != 0) sys::ForbidNewPrivileges();
}

}  // namespace viaduct::privilege
