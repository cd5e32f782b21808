// viaduct shell: a program behind an emulated path.
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "base/within.h"
#include "broker/broker_process.h"
#include "broker/descendants.h"
#include "broker/spawn.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/foreground.h"
#include "cli/output.h"
#include "emulate/path_report.h"
#include "emulate/shell_network.h"
#include "engine/describe.h"
#include "engine/engine.h"
#include "io/ring_port.h"
#include "path/spec/spec.h"
#include "run/environment.h"
#include "sys/guardian.h"
#include "sys/netns.h"
#include "sys/packet_socket.h"
#include "sys/process.h"

namespace viaduct::cli {
namespace {

constexpr Duration kTerminationPatience =
    Duration::Milliseconds(500);  // between SIGTERM and SIGKILL

// What the guardian says first: an ExitStatus, then the text of an error; no text: it runs.
struct Start {
  int32_t status = 0;
  std::array<char, 4000> error{};
};

// The privileged process of a shell: starts the program, signals it, reports its end, and removes
// everything when the connection is closed.
class ShellKeeper {
 public:
  ShellKeeper(int connection, emulate::ShellNetwork& network)
      : connection_(connection), network_(network) {}

  void Work(const broker::ProgramOptions& options) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // what the program leaves behind stays ours
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
    const UniqueFd signals(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    if (StartIt(options)) {
      while (Serve(signals.get())) {
      }
      EndAll();
    } else {
      sys::AwaitEnd(connection_);
    }
    network_.Remove();
  }

 private:
  bool StartIt(const broker::ProgramOptions& options) {
    Start start;
    try {
      network_.EnterNameService();
      pid_ = broker::StartProgram(options, network_.inside(), broker::InvokingUser());
      network_.CloseInside();
    } catch (const Error& error) {
      start.status = static_cast<int32_t>(error.status());
      std::string(error.what()).copy(start.error.data(), start.error.size() - 1);
    }
    send(connection_, &start, sizeof start, MSG_NOSIGNAL);
    return pid_ > 0;
  }

  // False: the shell is to end.
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
    signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info) {
    }
    int status = 0;
    for (int pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != pid_) continue;
      running_ = false;
      const int32_t report = status;
      send(connection_, &report, sizeof report, MSG_NOSIGNAL);
    }
  }

  // The program and all that came of it; what forks meanwhile is found in the next round.
  static void EndAll() {
    for (int round = 0; round < 5; ++round) {
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      const auto pids = broker::Descendants();
      if (pids.empty()) return;
      sys::TerminateProcesses(pids, kTerminationPatience);
    }
  }

  int connection_;
  emulate::ShellNetwork& network_;
  int pid_ = 0;
  bool running_ = true;
};

struct ShellOptions {
  std::string up, down, json_file;
  EngineOptions engine;
  bool verbose = false;
  std::vector<std::string> words;
};

std::vector<std::string> LoginShell() {
  const passwd* user = getpwuid(broker::InvokingUser().uid);
  return {user && *user->pw_shell ? user->pw_shell : "/bin/sh"};
}

path::Spec Parse(const char* option, const std::string& text) {
  return Within(fmt::format("{} \"{}\"", option, text), [&] { return path::ParseSpec(text); });
}

engine::Config Understand(const ShellOptions& options) {
  engine::Config config;
  config.name = "shell";
  config.ports = {emulate::ShellNetwork::kProgramPort, emulate::ShellNetwork::kHostPort};
  engine::Pair pair;
  pair.name = "shell";
  pair.a.port = 0;
  pair.b.port = 1;
  pair.up = Parse("--up", options.up);
  pair.down = Parse("--down", options.down);
  config.pairs.push_back(std::move(pair));
  options.engine.Fill(&config);
  return config;
}

std::vector<std::unique_ptr<io::AnyPort>> OpenPorts(emulate::ShellNetwork& network) {
  const sys::NamespaceScope scope(network.middle());
  std::vector<std::unique_ptr<io::AnyPort>> ports;
  for (const char* name : {emulate::ShellNetwork::kProgramPort, emulate::ShellNetwork::kHostPort}) {
    sys::PacketSocket socket = sys::OpenPacketSocket(name, true);
    io::RingOptions ring;
    ring.ifindex = socket.ifindex;
    ports.push_back(io::Hold(io::RingPort(std::move(socket.fd), ring)));
  }
  return ports;
}

broker::ProgramOptions Program(const ShellOptions& options, const emulate::ShellNetwork& network) {
  broker::ProgramOptions program;
  program.node = "shell";
  program.arguments = options.words.empty() ? LoginShell() : options.words;
  program.environment["VIADUCT_HOST"] = network.host_address().ToString();
  return program;
}

void AwaitStart(int connection) {
  Start start;
  const ssize_t got = recv(connection, &start, sizeof start, 0);
  if (got != sizeof start) throw Error("the process that was to start the program has died");
  if (start.error[0] != 0) {
    throw Error(start.error.data(), static_cast<ExitStatus>(start.status));
  }
}

void Report(const ShellOptions& options, const Invocation& invocation, const engine::Engine& engine,
            uint64_t seed) {
  nlohmann::json result = engine::DescribeStatistics(engine.Read(), std::nullopt);
  result["seed"] = seed;
  if (options.verbose) std::fputs(emulate::StatisticsTable(result).c_str(), stderr);
  if (options.json_file.empty()) return;
  result["environment"] = run::DescribeEnvironment(invocation.words);
  WriteJson(options.json_file, result);
}

int Shell(const ShellOptions& options, const Invocation& invocation) {
  engine::Config config = Understand(options);
  NeedRoot(invocation);
  const uint64_t seed = config.seed;
  Foreground foreground;  // first, so that no signal comes between making and removing
  emulate::ShellNetwork network;
  auto ports = OpenPorts(network);
  network.CloseMiddle();
  broker::ProgramOptions program = Program(options, network);
  foreground.Lend(&program);
  if (options.verbose) {
    std::fprintf(stderr, "viaduct shell: the host is %s (seed %llu)%s%s\n",
                 network.host_address().ToString().c_str(), static_cast<unsigned long long>(seed),
                 network.limits().empty() ? "" : "; ", network.limits().c_str());
  }
  sys::Guardian guardian([&](int connection) { ShellKeeper(connection, network).Work(program); });
  network.LeaveRemovalToOthers();
  network.CloseInside();
  sys::AllowHighestPriority();
  broker::BecomeInvokingUser();
  engine::Engine engine(std::move(config), std::move(ports));
  engine.Start();
  AwaitStart(guardian.Connection());
  const int status = foreground.Follow(guardian.Connection(), [&](int number) {
    const int32_t message = number;
    send(guardian.Connection(), &message, sizeof message, MSG_NOSIGNAL);
  });
  engine.Stop();
  Report(options, invocation, engine, seed);
  return status;
}

}  // namespace

void AddShell(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ShellOptions>();
  CLI::App* command = app.add_subcommand("shell", "run a program behind an emulated path");
  command->add_option("--up", options->up, "from the program to the outside")->type_name("SPEC");
  command->add_option("--down", options->down, "from the outside to the program")
      ->type_name("SPEC");
  options->engine.AddTo(*command);
  command->add_option("--json", options->json_file, "write the counters there")->type_name("FILE");
  command->add_flag("--verbose", options->verbose, "what it reaches, and the counters at the end");
  command->add_option("COMMAND", options->words, "after --; your login shell when left out");
  command->footer(
      "The program runs as you in a network namespace of its own, with NAT to where you are; this\n"
      "machine is $VIADUCT_HOST. Shells may be nested: their paths add up. SPEC: "
      "docs/path-spec.md.\n"
      "The exit status is the program's.\n"
      "Examples:\n"
      "  viaduct shell --down \"rate=10Mbit delay=40ms queue=100p\" -- curl -sO "
      "https://debian.org\n"
      "  viaduct shell --up loss=1% --down loss=1% -- bash");
  command->callback([options, &invocation] { invocation.status = Shell(*options, invocation); });
}

}  // namespace viaduct::cli
