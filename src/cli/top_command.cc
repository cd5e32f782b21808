// viaduct top: shows what runs on this machine, as a table that is updated, as JSON, or for
// Prometheus.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "base/within.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "run/watch/metrics_server.h"
#include "run/watch/screen.h"
#include "run/watch/snapshot.h"
#include "run/watch/table.h"
#include "sys/event_loop.h"
#include "sys/signals.h"
#include "sys/terminal.h"

namespace viaduct::cli {
namespace {

// The timeout for an answer to a request for statistics: a process that hangs must not stop the
// display.
constexpr Duration kTopTimeout = Duration::Seconds(2);

struct TopOptions {
  bool as_json = false, as_prometheus = false, once = false;
  std::string interval = "1s", listen;
};

// Returns a snapshot with the rates of the interval before it: takes two snapshots.
watch::Snapshot LookTwice(Duration interval) {
  sys::EventLoop loop;
  const watch::Snapshot before = watch::TakeSnapshot(kTopTimeout);
  loop.Run([] { return false; }, MonotonicClock::Now() + interval);
  watch::Snapshot now = watch::TakeSnapshot(kTopTimeout);
  watch::SetRates(before, &now);
  return now;
}

// Shows the table on the terminal until a signal or the key q ends it.
class LiveTable {
 public:
  explicit LiveTable(Duration interval)
      : interval_(interval),
        loop_(sys::CatchSignals({SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT}),
              [this](int signal) { Handle(signal); }) {}

  void Run() {
    if (sys::OnTerminal()) loop_.Watch(STDIN_FILENO, [this] { ReadKeys(); });
    watch::Screen screen(STDOUT_FILENO);
    screen_ = &screen;
    Refresh();
    loop_.Run([this] { return ends_; });
  }

 private:
  void Refresh() {
    const Instant next = MonotonicClock::Now() + interval_;
    watch::Snapshot now = watch::TakeSnapshot(kTopTimeout);
    watch::SetRates(before_, &now);
    text_ = watch::SnapshotText(now, true);
    screen_->Show(text_);
    before_ = std::move(now);
    loop_.At(next, [this] { Refresh(); });
  }

  void ReadKeys() {
    char keys[64];
    const ssize_t got = read(STDIN_FILENO, keys, sizeof keys);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) loop_.Forget(STDIN_FILENO);
    for (ssize_t i = 0; i < got; ++i) ends_ = ends_ || keys[i] == 'q' || keys[i] == 'Q';
  }

  void Handle(int signal) {
    switch (signal) {
      case SIGINT:
        ends_ = true;  // a signal is the normal way to end the watching
        return;
      case SIGTSTP:
        screen_->Leave();
        raise(SIGSTOP);
        [[fallthrough]];
      case SIGCONT:
        screen_->Enter();
        [[fallthrough]];
      case SIGWINCH:
        screen_->Show(text_);
        return;
      default:
        throw sys::Interrupted(signal);
    }
  }

  const Duration interval_;
  sys::EventLoop loop_;
  watch::Screen* screen_ = nullptr;
  watch::Snapshot before_;
  std::string text_;
  bool ends_ = false;
};

// Serves the metrics over HTTP until a signal ends the command.
void ServeMetrics(const std::string& where) {
  // The address is that of the loopback interface if only a port is given.
  const size_t colon = where.rfind(':');
  const std::string port = where.substr(colon == std::string::npos ? 0 : colon + 1);
  std::string address = colon == std::string::npos ? "" : where.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  const auto number = Within("--listen", [&] { return ParseInteger(port, 0, 65535); });
  sys::EventLoop loop;
  const watch::MetricsServer server(
      loop,
      Within("--listen",
             [&] { return wire::IpAddress::Parse(address.empty() ? "127.0.0.1" : address); }),
      static_cast<uint16_t>(number),
      [] { return watch::MetricsText(watch::TakeSnapshot(kTopTimeout)); });
  std::fprintf(stderr, "serving metrics: TCP port %d, path /metrics\n", server.port());
  try {
    loop.Run([] { return false; });
  } catch (const sys::Interrupted& interrupted) {
    if (interrupted.signal() != SIGINT) throw;
  }
}

void Top(const TopOptions& options) {
  if (options.as_json && options.as_prometheus)
    throw UsageError("--json and --prometheus exclude each other");
  const Duration interval = PositiveDuration("--interval", options.interval);
  if (!options.listen.empty() && options.as_json)
    throw UsageError("--listen and --json exclude each other: --listen serves Prometheus metrics");
  privilege::NeedNoRoot();
  if (!options.listen.empty()) return ServeMetrics(options.listen);
  if (options.as_prometheus) {
    PrintText(watch::MetricsText(watch::TakeSnapshot(kTopTimeout)));
  } else if (options.as_json) {
    PrintJson(LookTwice(interval));
  } else if (options.once || isatty(STDOUT_FILENO) != 1) {
    PrintText(watch::SnapshotText(LookTwice(interval), false));
  } else {
    LiveTable(interval).Run();
  }
}

}  // namespace

void AddTop(CLI::App& app, Invocation&) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command =
      app.add_subcommand("top", "show what labs, paths, hubs and their clients are doing");
  command->add_flag("--once", options->once,
                    "print the table once, as if standard output were not a terminal");
  command
      ->add_option("--interval", options->interval,
                   "the interval between updates, over which rates are measured")
      ->capture_default_str();
  command->add_flag("--json", options->as_json, "print JSON once");
  command->add_flag("--prometheus", options->as_prometheus,
                    "print the Prometheus text format once (as for textfiles of node_exporter)");
  command
      ->add_option("--listen", options->listen,
                   "serve the Prometheus text over HTTP at /metrics, until Ctrl-C; without an "
                   "address only on localhost")
      ->type_name("[ADDRESS]:PORT");
  command->footer(
      "In a terminal the table is updated until q or Ctrl-C; the busiest clients and links are\n"
      "first. Only the owner of a lab, path or hub, and root, see its statistics. See "
      "docs/top.md.\n"
      "Examples:\n"
      "  viaduct top\n"
      "  viaduct top --prometheus > /var/lib/prometheus/node-exporter/viaduct.prom");
  command->callback([options] { Top(*options); });
}

}  // namespace viaduct::cli
