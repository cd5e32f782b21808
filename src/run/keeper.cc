#include "run/keeper.h"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/json_text.h"
#include "broker/client.h"
#include "run/conversation.h"
#include "run/progress.h"
#include "run/simulator_process.h"
#include "sys/child.h"
#include "sys/descriptors.h"
#include "sys/event_loop.h"
#include "sys/process.h"
#include "sys/trusted_folder.h"

namespace viaduct::run {
namespace {

using nlohmann::json;

// A descriptor that becomes readable when the lab's record is removed, by whatever process.
UniqueFd WatchRecord(const std::string& lab) {
  const std::string directory = fmt::format("{}/{}", sys::kRunFolder, lab);
  UniqueFd watch(SystemCall("inotify_init", inotify_init1(IN_CLOEXEC | IN_NONBLOCK)));
  SystemCall("watch " + directory,
             inotify_add_watch(watch.get(), directory.c_str(), IN_DELETE_SELF | IN_ONLYDIR));
  return watch;
}

void LeaveTerminal() {
  sys::DropStandardStreams();
  SystemCall("chdir /", chdir("/"));
}

// When the lab or its simulator has ended, the other is ended, too.
struct Keeper {
  Keeper(const scenario::Scenario& scenario, bool quiet)
      : progress(stderr, quiet),
        client(broker::Client::ConnectOrSpawn()),
        simulator(std::make_unique<SimulatorProcess>(
            FindSimulator(), scenario, client.NewConnection(), "", std::vector<Duration>(), true)),
        conversation(std::make_unique<Conversation>(scenario, *simulator, loop, progress)) {}
  ~Keeper() {
    loop.IgnoreSignals();
    conversation.reset();
    simulator.reset();
    try {
      client.DestroyLab();
    } catch (const Error&) {
      // It was removed already, or was never built.
    }
  }

  Progress progress;
  broker::Client client;
  sys::EventLoop loop;
  std::unique_ptr<SimulatorProcess> simulator;
  std::unique_ptr<Conversation> conversation;
};

// Reports the result to the parent: "" is success.
void Tell(int fd, const json& message) {
  const std::string text = JsonText(message);
  if (write(fd, text.data(), text.size()) < 0) return;  // the parent was killed
}

[[noreturn]] void Keep(const scenario::Scenario& scenario, bool quiet, UniqueFd parent) {
  int status = 0;
  try {
    setsid();
    sys::CloseInherited();
    Keeper keeper(scenario, quiet);
    privilege::LeaveRootsHalf();  // which the lab need not keep
    // Ctrl-C reaches only the parent; when the parent has ended, the lab is not wanted any more.
    keeper.loop.Watch(parent.get(), [] { throw sys::Interrupted(SIGINT); });
    keeper.conversation->WaitForLab();
    const UniqueFd gone = WatchRecord(scenario.name);
    keeper.conversation->WaitForConvergence();
    keeper.loop.Forget(parent.get());
    keeper.client.Detach();
    Tell(parent.get(), json::object());
    parent.reset();
    LeaveTerminal();
    bool over = false;
    keeper.loop.Watch(gone.get(), [&] { over = true; });
    keeper.loop.Run([&] { return over || keeper.simulator->Ended(); });
  } catch (const Error& error) {
    status = 1;
    if (parent) {
      Tell(parent.get(), {{"message", error.what()}, {"status", static_cast<int>(error.status())}});
    }
  } catch (const std::exception& error) {
    status = 1;
    if (parent) Tell(parent.get(), {{"message", error.what()}, {"status", 1}});
  }
  sys::ExitForked(status);
}

}  // namespace

void BringUp(const scenario::Scenario& scenario, bool quiet) {
  FindSimulator();
  auto [ours, theirs] = sys::MakeSocketPair(SOCK_SEQPACKET);
  std::fflush(nullptr);
  sys::EventLoop loop;
  const pid_t child = SystemCall("fork", fork());
  if (child == 0) {
    ours.reset();
    Keep(scenario, quiet, std::move(theirs));
  }
  theirs.reset();
  char buffer[65536];
  ssize_t got = 0;
  bool told = false;
  const int connection = ours.get();
  loop.Watch(connection, [&] {
    got = read(connection, buffer, sizeof buffer);
    told = true;
  });
  std::optional<sys::Interrupted> interrupted;
  try {
    loop.Run([&] { return told; });
  } catch (const sys::Interrupted& signal) {
    // Closing our end makes the keeper clean up; its report about that is not needed.
    interrupted = signal;
    shutdown(ours.get(), SHUT_WR);
    loop.IgnoreSignals();
    loop.Run([&] { return told; });
  }
  const json answer = json::parse(std::string(buffer, std::max<ssize_t>(got, 0)), nullptr, false);
  if (answer.is_object() && answer.empty() && !interrupted) return;
  sys::AwaitChild(child);
  if (interrupted) throw *interrupted;
  if (!answer.is_object()) throw Error("the process that supervises the simulator died");
  throw Error(answer.value("message", ""), static_cast<ExitStatus>(answer.value("status", 1)));
}

}  // namespace viaduct::run
