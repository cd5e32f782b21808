#include "run/supervisor.h"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text/json_text.h"
#include "base/utc_time.h"
#include "lab/broker/client.h"
#include "run/simulator/conversation.h"
#include "run/simulator/progress.h"
#include "run/simulator/simulator_process.h"
#include "sys/descriptors.h"
#include "sys/event_loop.h"
#include "sys/process/child.h"
#include "sys/process/process.h"
#include "sys/trusted_folder.h"

namespace viaduct::run {
namespace {

using nlohmann::json;

// Returns a descriptor that becomes readable when the lab's record is removed, by any process.
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

// The maximum number of consecutive failures of simulators that have each run for less than
// kHealthy. There is no delay before the first restart, and a delay of kFirstDelay * 2^(n - 2)
// before the n-th.
constexpr int kMaxDeaths = 5;
constexpr Duration kFirstDelay = Duration::Seconds(1);
constexpr Duration kHealthy = Duration::Seconds(60);

// Keeps a simulator running in a lab. When the simulator fails, the lab forwards by the routes that
// it has, and a new simulator takes over the lab. The destructor also removes the lab, unless the
// supervisor has given up.
class Supervisor {
 public:
  Supervisor(const scenario::Scenario& scenario, bool quiet)
      : scenario_(scenario),
        folder_(CurrentFolder()),
        program_(FindSimulator()),
        progress_(stderr, quiet),
        client_(broker::Client::ConnectOrSpawn()) {
    client_.LimitWaiting(std::nullopt, broker::Client::kGrace);
    Start(LabUse::kStays);
  }
  ~Supervisor() {
    loop_.IgnoreSignals();
    End();
    try {
      if (!history_.given_up) client_.DestroyLab();
    } catch (const Error&) {
      // Ignores the error: the lab has already been removed, or was never built.
    }
  }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  sys::EventLoop& loop() { return loop_; }
  // Waits until the lab is up and can be used by all clients; throws the exceptions of Execute().
  void BringUp() {
    conversation_->WaitForLab();
    gone_ = WatchRecord(scenario_.name);
    conversation_->WaitForConvergence();
    if (const auto& failures = conversation_->failures(); !failures.empty()) {
      throw Error(fmt::format(
          "the lab's forwarding tables differ from the routes that its protocols computed: {}{}",
          failures.front(), failures.size() > 1 ? ", and more" : ""));
    }
    client_.Detach();
  }
  // Supervises the simulator until the lab is removed, or simulators have failed too often.
  void Supervise() {
    loop_.Watch(gone_.get(), [this] {
      over_ = true;
      throw Error("the lab was removed");
    });
    // No longer requires convergence: if some nodes are lost, the routing of all other nodes must
    // continue.
    scenario_.convergence_required = false;
    alive_since_ = MonotonicClock::Now();
    try {
      while (!history_.given_up) Replace(WaitForDeath());
    } catch (const Error&) {
      if (!over_) throw;
    }
  }

 private:
  void Start(LabUse use) {
    simulator_ =
        std::make_unique<SimulatorProcess>(SimulatorStart{.program = program_,
                                                          .scenario = scenario_,
                                                          .broker = client_.NewConnection(),
                                                          .lab = use,
                                                          .folder = folder_.string()});
    conversation_ = std::make_unique<Conversation>(scenario_, *simulator_, loop_, progress_);
  }

  void End() {
    conversation_.reset();
    simulator_.reset();
  }

  // Checks, while an error is handled, whether the lab still exists. If it does, the simulator
  // caused the error, and the function returns; if not, rethrows the error and records the end of
  // the supervision.
  void CheckIsThere() {
    if (over_) throw;
    try {
      client_.Describe();
    } catch (const Error&) {
      over_ = true;
      throw;
    }
  }

  // Waits until the simulator fails and returns the reason.
  std::string WaitForDeath() {
    try {
      loop_.Run([this] { return simulator_->Ended(); });
    } catch (const sys::Interrupted&) {
      throw;
    } catch (const Error& death) {
      CheckIsThere();
      return death.what();
    }
    return "the simulator exited by itself";
  }

  void Replace(std::string cause) {
    const Instant died = MonotonicClock::Now();
    if (died - alive_since_ > kHealthy) deaths_ = 0;
    history_.last_death = UtcNow();
    while (true) {
      End();
      history_.cause = cause;
      history_.without_seconds = (MonotonicClock::Now() - died).ToSeconds();
      history_.absent = true;
      history_.given_up = ++deaths_ > kMaxDeaths;
      client_.NoteSimulator(history_);
      if (history_.given_up) return;
      if (deaths_ > 1) {
        const Instant next = MonotonicClock::Now() + kFirstDelay * (1 << (deaths_ - 2));
        loop_.Run([] { return false; }, next);
      }
      try {
        TakeOver();
        break;
      } catch (const sys::Interrupted&) {
        throw;
      } catch (const Error& error) {
        CheckIsThere();
        cause = error.what();
      }
    }
    alive_since_ = MonotonicClock::Now();
    ++history_.restarts;
    history_.absent = false;
    history_.without_seconds = (alive_since_ - died).ToSeconds();
    client_.NoteSimulator(history_);
  }

  void TakeOver() {
    Start(LabUse::kAdopt);
    conversation_->WaitForLab();
    conversation_->WaitForConvergence();
  }

  scenario::Scenario scenario_;
  const std::filesystem::path folder_;  // paths in the scenario are relative to this folder
  const std::string program_;
  Progress progress_;
  broker::Client client_;
  sys::EventLoop loop_;
  std::unique_ptr<SimulatorProcess> simulator_;
  std::unique_ptr<Conversation> conversation_;
  UniqueFd gone_;
  bool over_ = false;
  int deaths_ = 0;
  Instant alive_since_;
  lab::SimulatorHistory history_;
};

// Reports the result to the parent process: an empty object is success.
void Tell(int fd, const json& message) {
  const std::string text = JsonText(message);
  if (write(fd, text.data(), text.size()) < 0) return;  // the parent was killed
}

[[noreturn]] void Keep(const scenario::Scenario& scenario, bool quiet, UniqueFd parent) {
  int status = 0;
  try {
    setsid();
    sys::CloseInherited();
    Supervisor keeper(scenario, quiet);
    privilege::LeaveRootsHalf();  // the lab does not need the connection to root's half
    // Ends if the parent ends, because Ctrl-C reaches only the parent, and because the user then no
    // longer wants the lab.
    keeper.loop().Watch(parent.get(), [] { throw sys::Interrupted(SIGINT); });
    keeper.BringUp();
    keeper.loop().Forget(parent.get());
    Tell(parent.get(), json::object());
    parent.reset();
    LeaveTerminal();
    keeper.Supervise();
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
    // Closes this end of the connection, so that the supervisor cleans up. The supervisor's report
    // about the clean-up is not needed.
    interrupted = signal;
    shutdown(ours.get(), SHUT_WR);
    loop.IgnoreSignals();
    loop.Run([&] { return told; });
  }
  const json answer = json::parse(std::string(buffer, std::max<ssize_t>(got, 0)), nullptr, false);
  if (answer.is_object() && answer.empty() && !interrupted) return;
  sys::AwaitChild(child);
  if (interrupted) throw *interrupted;
  if (!answer.is_object()) throw Error("the supervisor of the simulator exited unexpectedly");
  throw Error(answer.value("message", ""), static_cast<ExitStatus>(answer.value("status", 1)));
}

}  // namespace viaduct::run
