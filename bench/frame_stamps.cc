// Measures how long frames take from one interface to another, by the kernel's receive timestamps:
// the measuring program of the benchmark `path`. Both interfaces are on one machine, so both
// timestamps are of the same clock; the program receives only the sampled frames.
//
//   frame-stamps --from NAMESPACE:b0 --to NAMESPACE:eth0 --sample 64 --duration 2 [--csv FILE]
//
// The frames are sent by frame-source; one frame in `--sample` (a power of two) is examined. Prints
// JSON when the duration is over or at SIGTERM: {"at_first", "at_second", "matched", "reordered",
// "delay_ns": {"mean", "stddev", "min", "p1", "p50", "p99", "p999", "max"}, "span_s" (time from the
// first to the last frame at the second interface), "bytes" (at the second interface, without the
// first frame)}. `--csv`: a file with one delay per line, in nanoseconds, in the order of arrival.
#include <linux/if_packet.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/socket_option.h"
#include "base/text/json_text.h"
#include "base/timespec.h"
#include "base/wire/probe_header.h"
#include "packet_socket.h"
#include "program.h"
#include "sys/network/filter.h"
#include "sys/network/netns.h"

namespace viaduct::bench {
namespace {

std::atomic<bool> stop = false;

constexpr size_t kPayload = 14 + 20 + 8;
constexpr int kReceiveBuffer = 64 << 20;

struct Stamped {
  uint64_t number = 0;
  int64_t nanoseconds = 0;  // time of arrival, CLOCK_REALTIME
  uint32_t bytes = 0;
};

// A packet socket on one of the two interfaces, with the kernel's receive timestamps.
class Tap {
 public:
  // `place`: NAMESPACE:INTERFACE. Changes the calling thread's namespace.
  Tap(const std::string& place, uint32_t sample) {
    const size_t colon = place.find(':');
    if (colon == std::string::npos) throw UsageError(place + ": give NAMESPACE:INTERFACE");
    const UniqueFd space = sys::OpenNamespace(place.substr(0, colon));
    SystemCall("setns " + place, setns(space.get(), CLONE_NEWNET));
    fd_ = OpenBoundPacketSocket(place.substr(colon + 1));
    SetSocketOption(fd_.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
    SetSocketOption(fd_.get(), SOL_SOCKET, SO_TIMESTAMPNS, 1, "SO_TIMESTAMPNS");
    SetSocketOption(fd_.get(), SOL_SOCKET, SO_RCVBUFFORCE, kReceiveBuffer, "SO_RCVBUFFORCE");
    // The low half of the sequence number (base/wire/probe_header.h) is at an offset of 24 bytes
    // from the start of the UDP header.
    sys::PacketFilter::Compile("udp dst port 9000 and udp[24:4] & " + std::to_string(sample - 1) +
                               " = 0")
        .Attach(fd_.get());
  }

  int fd() const { return fd_.get(); }
  const std::vector<Stamped>& frames() const { return frames_; }

  void Drain() {
    while (std::optional<Stamped> frame = Read()) {
      if (frame->bytes > 0) frames_.push_back(*frame);
    }
  }

 private:
  // Returns the next frame; its `bytes` are 0 if it is not a frame of frame-source. Returns nothing
  // if there is no frame.
  std::optional<Stamped> Read() {
    std::array<std::byte, 256> bytes;
    alignas(cmsghdr) std::array<char, 128> control;
    iovec vector = {bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t n = recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_TRUNC);
    if (n < 0) return std::nullopt;
    const auto header =
        n < static_cast<ssize_t>(kPayload)
            ? std::nullopt
            : load::ReadHeader(
                  std::span(bytes).first(std::min<size_t>(n, bytes.size())).subspan(kPayload));
    if (!header) return Stamped{};
    return Stamped{header->sequence, StampOf(message), static_cast<uint32_t>(n)};
  }
  static int64_t StampOf(msghdr& message) {
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS) continue;
      timespec stamp;
      std::memcpy(&stamp, CMSG_DATA(c), sizeof(stamp));
      return FromTimespec(stamp).nanoseconds();
    }
    return 0;
  }

  UniqueFd fd_;
  std::vector<Stamped> frames_;
};

struct Delays {
  std::vector<int64_t> nanoseconds;  // delays in the order of arrival at the second interface
  uint64_t reordered = 0;
};

Delays Match(const Tap& from, const Tap& to) {
  std::unordered_map<uint64_t, int64_t> entered;
  for (const Stamped& frame : from.frames()) entered.emplace(frame.number, frame.nanoseconds);
  Delays delays;
  uint64_t highest = 0;
  for (const Stamped& frame : to.frames()) {
    const auto found = entered.find(frame.number);
    if (found == entered.end()) continue;
    delays.nanoseconds.push_back(frame.nanoseconds - found->second);
    if (frame.number < highest) ++delays.reordered;
    highest = std::max(highest, frame.number);
  }
  return delays;
}

nlohmann::json Summary(std::vector<int64_t> values) {
  if (values.empty()) return nullptr;
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    return values[static_cast<size_t>(q * (values.size() - 1))];
  };
  double sum = 0, squares = 0;
  for (const int64_t value : values) sum += value;
  const double mean = sum / values.size();
  for (const int64_t value : values) squares += (value - mean) * (value - mean);
  return {{"mean", mean},
          {"stddev", std::sqrt(squares / values.size())},
          {"min", values.front()},
          {"p1", quantile(0.01)},
          {"p50", quantile(0.5)},
          {"p99", quantile(0.99)},
          {"p999", quantile(0.999)},
          {"max", values.back()}};
}

// Returns the number of bytes that the second interface received after its first frame, and the
// time from its first to its last frame; their quotient is the rate.
nlohmann::json Throughput(const std::vector<Stamped>& frames) {
  uint64_t bytes = 0;
  for (size_t i = 1; i < frames.size(); ++i) bytes += frames[i].bytes;
  const int64_t span = frames.empty() ? 0 : frames.back().nanoseconds - frames.front().nanoseconds;
  return {{"span_s", span / 1e9}, {"bytes", bytes}};
}

void Watch(Tap& from, Tap& to, Duration duration) {
  const Instant end = MonotonicClock::Now() + duration;
  std::array<pollfd, 2> fds = {{{from.fd(), POLLIN, 0}, {to.fd(), POLLIN, 0}}};
  while (!stop && MonotonicClock::Now() < end) {
    poll(fds.data(), fds.size(), 20);
    from.Drain();
    to.Drain();
    // The loop pauses, because waking up for every frame would disturb the measurement.
    const timespec pause = {0, 2'000'000};
    nanosleep(&pause, nullptr);
  }
  from.Drain();
  to.Drain();
}

int Main(int argc, char** argv) {
  std::string from_place, to_place, csv;
  uint32_t sample = 1;
  double seconds = 1;
  CLI::App app("measures delays between two interfaces by kernel time stamps");
  app.add_option("--from", from_place, "NAMESPACE:INTERFACE")->required();
  app.add_option("--to", to_place, "NAMESPACE:INTERFACE")->required();
  app.add_option("--sample", sample, "one frame in this many; a power of two");
  app.add_option("--duration", seconds, "seconds");
  app.add_option("--csv", csv, "file for every delay");
  CLI11_PARSE(app, argc, argv);
  if (sample == 0 || (sample & (sample - 1)) != 0) throw UsageError("--sample: a power of two");
  Tap from(from_place, sample), to(to_place, sample);
  std::fputs("watching\n", stderr);
  Watch(from, to, Duration::Nanoseconds(static_cast<int64_t>(seconds * 1e9)));
  const Delays delays = Match(from, to);
  nlohmann::json result = {{"at_first", from.frames().size()},
                           {"at_second", to.frames().size()},
                           {"matched", delays.nanoseconds.size()},
                           {"reordered", delays.reordered},
                           {"delay_ns", Summary(delays.nanoseconds)}};
  result.update(Throughput(to.frames()));
  std::printf("%s\n", JsonText(result).c_str());
  if (csv.empty()) return 0;
  std::ofstream out(csv);
  for (const int64_t delay : delays.nanoseconds) out << delay << "\n";
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) {
  for (const int number : {SIGINT, SIGTERM}) {
    std::signal(number, [](int) { viaduct::bench::stop = true; });
  }
  return viaduct::bench::ExitStatusOf("frame-stamps",
                                      [&] { return viaduct::bench::Main(argc, argv); });
}
