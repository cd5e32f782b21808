#include "run/load/options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "base/wire/probe_header.h"

namespace viaduct::load {
namespace {

constexpr char kExamples[] = R"(
Examples:
  viaduct-load receive --port 5001 --json
  viaduct-load send --to 10.0.0.2:5001 --size 160 --rate 16Mbit --duration 10s --json
  viaduct-load send --to [2001:db8::2]:5001 --rate 20000pps --duration 2s
  viaduct-load send --to 10.0.0.2:5001 --rate max --duration 2s
  viaduct-load send --to 10.0.0.2:5001 --rate max --duration 2s --frames
  viaduct-load ping --to 10.0.0.2 --interval 20ms --count 500 --json

The sender numbers and time-stamps its packets; the receiver reports lost, reordered and duplicated
packets, the one-way delay (both ends on one machine, or with --clock-ahead), and the rate between the first and the last
packet. A packet that the kernel refuses (no route, link down) counts as offered and lost. The receiver
ends when no packet has arrived for --linger after the sender's end marker (or SIGUSR1, which has the same
effect), after --duration, or on SIGINT or SIGTERM, and always prints its result. It prints "listening" on standard error when it is ready.

A ping sends ICMP echo requests at fixed times, independent of replies, and waits at the end for --linger. A round trip ends at
the kernel's time stamp of the reply, so delays of this program do not matter. A ping needs CAP_NET_RAW, or your group in the
sysctl net.ipv4.ping_group_range (which a lab sets).

If the network is within one kernel, the system call of the sender takes the packet along the complete path, so
with "--rate max" the path slows the sender down instead of losing packets: offered_pps is then the rate of the path.
)";

struct Texts {
  std::string to, rate = "max", send_duration = "10s", receive_duration, linger = "300ms";
  std::string ping_to, ping_duration, ping_interval = "1s", ping_linger = "1s";
  uint64_t count = 0;
  int64_t clock_ahead = 0;
};

void AddSend(CLI::App& app, SendOptions& options, Texts& texts) {
  app.add_option("--to", texts.to, "the destination: ADDRESS:PORT or [ADDRESS]:PORT")->required();
  app.add_option("--size", options.size, "the size of the UDP payload in bytes")
      ->capture_default_str()
      ->check(CLI::Range(static_cast<int>(kHeaderBytes), kMaxPayload));
  app.add_option("--rate", texts.rate, "the rate: 16Mbit (payload per second), 20000pps, or max")
      ->capture_default_str();
  app.add_option("--duration", texts.send_duration, "the duration of the flow")
      ->capture_default_str();
  app.add_option("--count", texts.count, "stop after this many packets")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--bind", options.bind, "the source address");
  app.add_option("--interface", options.interface,
                 "the outgoing interface for packets to a multicast group");
  app.add_flag(
      "--frames", options.frames,
      "send Ethernet frames directly on the interface, without the IP stack (needs CAP_NET_RAW)");
  app.add_option("--batch", options.batch, "the maximum number of packets per system call")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
}

void AddReceive(CLI::App& app, ReceiveOptions& options, Texts& texts) {
  app.add_option("--port", options.socket.port, "the UDP port")
      ->required()
      ->check(CLI::Range(1, 65535));
  app.add_option("--bind", options.socket.bind,
                 "the local address; default: all IPv4 and IPv6 addresses");
  app.add_option("--group", options.socket.group,
                 "the multicast group to join, on all interfaces, instead of --bind");
  app.add_option("--interface", options.socket.interface,
                 "the only interface on which to join --group");
  app.add_option("--duration", texts.receive_duration,
                 "end after this time, even if packets still arrive");
  app.add_option("--linger", texts.linger,
                 "after the sender's end marker, end when no packet has arrived for this time")
      ->capture_default_str();
  app.add_option("--clock-ahead", texts.clock_ahead,
                 "the nanoseconds by which this machine's monotonic clock is ahead of the "
                 "sender's");
  app.add_option("--sample", options.socket.sample,
                 "read only one packet of N (a power of two); the kernel counts the others, so "
                 "that the receiver does not disturb the measurement")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
}

void AddPing(CLI::App& app, PingOptions& options, Texts& texts) {
  app.add_option("--to", texts.ping_to, "the destination: an IPv4 or IPv6 address")->required();
  app.add_option("--size", options.size, "the number of bytes after the ICMP header")
      ->capture_default_str()
      ->check(CLI::Range(0, kMaxPayload));
  app.add_option("--interval", texts.ping_interval, "the time from one request to the next")
      ->capture_default_str();
  app.add_option(
      "--duration", texts.ping_duration,
      "how long to send requests; default: until --count requests are sent, or until SIGINT");
  app.add_option("--count", texts.count, "stop after this many requests")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--bind", options.bind, "the source address");
  app.add_option("--linger", texts.ping_linger, "the time to wait for the last replies")
      ->capture_default_str();
}

Duration PositiveDuration(const std::string& text, const std::string& option = "--duration") {
  const Duration duration = ParseDuration(text);
  if (duration > Duration()) return duration;
  throw UsageError(fmt::format("{} {}: must be greater than 0", option, text));
}

void FinishSend(SendOptions& options, const Texts& texts) {
  options.to = ParseEndpoint(texts.to);
  options.rate = ParsePacketRate(texts.rate, options.size);
  options.duration = PositiveDuration(texts.send_duration);
  if (texts.count > 0) options.count = texts.count;
  if (options.frames && IsGroup(options.to)) {
    throw UsageError(fmt::format("--to {}: --frames does not support multicast groups", texts.to));
  }
}

void FinishReceive(ReceiveOptions& options, const Texts& texts) {
  if (!texts.receive_duration.empty()) options.duration = PositiveDuration(texts.receive_duration);
  options.linger = ParseDuration(texts.linger);
  options.clock_ahead = Duration::Nanoseconds(texts.clock_ahead);
  if (!std::has_single_bit(options.socket.sample)) {
    throw UsageError(fmt::format("--sample {}: must be a power of two", options.socket.sample));
  }
}

void FinishPing(PingOptions& options, const Texts& texts) {
  options.to = MakeEndpoint(texts.ping_to, 0);
  if (IsGroup(options.to)) {
    throw UsageError(fmt::format("--to {}: a ping needs a unicast address, not a multicast group",
                                 texts.ping_to));
  }
  if (!options.bind.empty() && MakeEndpoint(options.bind, 0).family() != options.to.family()) {
    throw UsageError(fmt::format("--bind {}: the address family differs from that of {}",
                                 options.bind, texts.ping_to));
  }
  options.rate = 1 / PositiveDuration(texts.ping_interval, "--interval").ToSeconds();
  options.duration = texts.ping_duration.empty() ? Duration::Seconds(100 * 365 * 86400LL)
                                                 : PositiveDuration(texts.ping_duration);
  options.linger = ParseDuration(texts.ping_linger);
  options.batch = 1;
  if (texts.count > 0) options.count = texts.count;
}

}  // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  Texts texts;
  SendOptions send_options;
  ReceiveOptions receive_options;
  PingOptions ping_options;
  CLI::App app("Sends and receives measured UDP traffic, and pings.", "viaduct-load");
  app.footer(kExamples);
  app.require_subcommand(1);
  CLI::App* send = app.add_subcommand("send", "send one flow");
  CLI::App* receive = app.add_subcommand("receive", "receive one flow");
  CLI::App* ping = app.add_subcommand("ping", "measure round-trip times");
  for (CLI::App* command : {send, receive, ping}) {
    command->add_flag("--json", line.json, "print the result as JSON");
  }
  AddSend(*send, send_options, texts);
  AddReceive(*receive, receive_options, texts);
  AddPing(*ping, ping_options, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::exit(app.exit(success));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  if (*send) {
    FinishSend(send_options, texts);
    line.send = send_options;
  } else if (*ping) {
    FinishPing(ping_options, texts);
    line.ping = ping_options;
  } else {
    FinishReceive(receive_options, texts);
    line.receive = receive_options;
  }
  return line;
}

std::optional<double> ParsePacketRate(std::string_view text, int payload_bytes) {
  if (text == "max") return std::nullopt;
  if (!text.ends_with("pps")) {
    return static_cast<double>(ParseRate(text)) / (8.0 * payload_bytes);
  }
  const std::string_view number = text.substr(0, text.size() - 3);
  double rate = 0;
  const auto [end, error] =
      std::from_chars(number.begin(), number.end(), rate, std::chars_format::fixed);
  if (error != std::errc() || end != number.end() || !(rate > 0 && rate <= 1e9)) {
    throw UsageError(
        fmt::format("rate '{}': expected a rate such as 16Mbit or 20000pps, or max", text));
  }
  return rate;
}

}  // namespace viaduct::load
