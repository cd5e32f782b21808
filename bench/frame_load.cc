// Frames at a constant rate through a forwarder, both ways at once, and the delay each sampled one
// really met, between the kernel's own receive stamps: of the forwarder's interface where it comes
// in, of the far end where it arrives. One clock, no process's scheduling in between.
//
//   frame-load [--pps N] [--size BYTES] [--duration TIME] [--links N] [--sample N]
//              SOURCE_NS:IF FORWARDER_NS:IF FORWARDER_NS:IF SINK_NS:IF
//
// --pps is the sum of both directions. Prints JSON. Frames are of an EtherType nobody listens to,
// with VLAN 1..N by turns if --links is given.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/histogram.h"
#include "base/units.h"
#include "load/pacer.h"
#include "packet_socket.h"
#include "sys/netns.h"
#include "wire/bytes.h"

namespace viaduct::bench {
namespace {

constexpr uint16_t kExperimental = 0x88b5;  // IEEE 802, local experimental EtherType 1
constexpr size_t kBurst = 32;
constexpr int kDirections = 2;

struct Options {
  double pps = 100000;
  size_t size = 64;
  std::string duration = "2s";
  int links = 0;
  uint32_t sample = 64;
  std::vector<std::string> places;
  bool one_way = false;
};

Options Parse(int argc, char** argv) {
  Options options;
  CLI::App app("Frames through a forwarder, and their delay.", "frame-load");
  app.add_option("--pps", options.pps, "frames a second, of both directions together");
  app.add_option("--size", options.size, "bytes of a frame")->check(CLI::Range(40, 1514));
  app.add_option("--duration", options.duration);
  app.add_option("--links", options.links, "VLANs")->check(CLI::Range(0, 4094));
  app.add_option("--sample", options.sample, "look at one frame in N (a power of two)");
  app.add_flag("--one-way", options.one_way, "from source to sink only");
  app.add_option("places", options.places, "NAMESPACE:INTERFACE")->expected(4)->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::exit(app.exit(success));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  return options;
}

// An interface in a namespace: sends, taps, counts.
class Place {
 public:
  explicit Place(const std::string& text) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos) throw UsageError(text + ": give NAMESPACE:INTERFACE");
    namespace_ = sys::OpenNamespace(text.substr(0, colon));
    interface_ = text.substr(colon + 1);
  }

  UniqueFd Sender() const {
    const sys::NamespaceScope scope(namespace_.get());
    UniqueFd fd = OpenPacketSocket();
    const int on = 1;
    SystemCall("PACKET_QDISC_BYPASS",
               setsockopt(fd.get(), SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)));
    Bind(fd.get(), 0);
    return fd;
  }

  // Frames whose number's lowest bits are zero: at `offset`, 4 bytes.
  UniqueFd Tap(uint32_t offset, uint32_t sample) const {
    const sys::NamespaceScope scope(namespace_.get());
    UniqueFd fd = OpenPacketSocket();
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, sample - 1, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 64),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    SystemCall("SO_ATTACH_FILTER",
               setsockopt(fd.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)));
    const int on = 1, buffer = 64 << 20;
    // Also makes the kernel stamp frames as they come in, one stamp for every tap and ring.
    SystemCall("SO_TIMESTAMPNS", setsockopt(fd.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)));
    SystemCall("SO_RCVBUFFORCE",
               setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)));
    Bind(fd.get(), 0x0003);
    return fd;
  }

  uint64_t Received() const {
    const sys::NamespaceScope scope(namespace_.get());
    std::ifstream file("/proc/thread-self/net/dev");
    std::string line;
    while (std::getline(file, line)) {
      const size_t at = line.find(interface_ + ":");
      if (at == std::string::npos || line.find_first_not_of(' ') != at) continue;
      uint64_t bytes = 0, packets = 0;
      std::sscanf(line.c_str() + at + interface_.size() + 1, "%lu %lu", &bytes, &packets);
      return packets;
    }
    throw Error(interface_ + ": no such interface");
  }

 private:
  void Bind(int fd, uint16_t type) const {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(type);
    address.sll_ifindex = InterfaceIndex(interface_);
    SystemCall("bind of a packet socket",
               bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
  }
  static uint16_t htons(uint16_t value) { return __builtin_bswap16(value); }

  UniqueFd namespace_;
  std::string interface_;
};

// A frame's number lies behind the EtherType, where the kernel leaves it when it takes a tag out.
class Frames {
 public:
  Frames(const Options& options, uint8_t direction) : links_(options.links) {
    const size_t header = links_ > 0 ? 18 : 14;
    for (size_t i = 0; i < kBurst; ++i) {
      auto& frame = memory_[i];
      frame.fill(std::byte{0});
      frame[0] = frame[6] = std::byte{2};
      frame[5] = std::byte{static_cast<uint8_t>(2 - direction)};
      frame[11] = std::byte{static_cast<uint8_t>(1 + direction)};
      if (links_ > 0) wire::Store16(&frame[12], 0x8100);
      wire::Store16(&frame[header - 2], kExperimental);
      number_at_ = header;
      vectors_[i] = {frame.data(), options.size};
      messages_[i].msg_hdr.msg_iov = &vectors_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  // Returns how many the kernel took.
  int Send(int fd, uint32_t number, int count) {
    for (int i = 0; i < count; ++i) {
      wire::Store32(&memory_[i][number_at_], number + static_cast<uint32_t>(i));
      if (links_ > 0) {
        wire::Store16(&memory_[i][14], static_cast<uint16_t>(1 + (number + i) % links_));
      }
    }
    return std::max(0, sendmmsg(fd, messages_.data(), static_cast<unsigned>(count), 0));
  }

 private:
  uint32_t links_;
  size_t number_at_ = 0;
  std::array<std::array<std::byte, 1514>, kBurst> memory_;
  std::array<iovec, kBurst> vectors_{};
  std::array<mmsghdr, kBurst> messages_{};
};

// Stamps of sampled frames, by number.
std::unordered_map<uint32_t, int64_t> Stamps(int fd) {
  std::unordered_map<uint32_t, int64_t> stamps;
  std::array<std::byte, 64> frame;
  alignas(cmsghdr) std::array<char, 256> control;
  iovec part = {frame.data(), frame.size()};
  while (true) {
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(fd, &message, MSG_DONTWAIT) < 18) return stamps;
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp;
    std::memcpy(&stamp, CMSG_DATA(header), sizeof(stamp));
    stamps.emplace(wire::Load32(&frame[14]), stamp.tv_sec * 1000000000LL + stamp.tv_nsec);
  }
}

struct Direction {
  Direction(const Options& options, const Place& source, const Place& in, const Place& sink,
            uint8_t which)
      : sink(sink),
        frames(options, which),
        sender(source.Sender()),
        in_tap(in.Tap(14, options.sample)),
        out_tap(sink.Tap(14, options.sample)),
        before(sink.Received()) {}
  const Place& sink;
  Frames frames;
  UniqueFd sender, in_tap, out_tap;
  uint64_t before;
  uint64_t sent = 0;
};

void SleepFor(Duration duration) {
  const timespec ts = {duration.nanoseconds() / 1000000000, duration.nanoseconds() % 1000000000};
  nanosleep(&ts, nullptr);
}

double SendAll(const Options& options, std::vector<Direction>& directions) {
  const Instant start = MonotonicClock::Now();
  const Instant end = start + ParseDuration(options.duration);
  load::Pacer pacer(options.pps / static_cast<double>(directions.size()), start,
                    Duration::Milliseconds(2));
  uint64_t done = 0;
  Instant now = start;
  for (; now < end; now = MonotonicClock::Now()) {
    const int due = pacer.DueNow(done, now, kBurst);
    if (due == 0) continue;
    for (Direction& direction : directions) {
      const int sent =
          direction.frames.Send(direction.sender.get(), static_cast<uint32_t>(direction.sent), due);
      direction.sent += static_cast<uint64_t>(sent);
    }
    done += static_cast<uint64_t>(due);
  }
  return (now - start).ToSeconds();
}

nlohmann::json Report(std::vector<Direction>& directions, double seconds) {
  uint64_t sent = 0, received = 0, sampled = 0, missing = 0;
  std::vector<double> delays;
  for (Direction& direction : directions) {
    sent += direction.sent;
    received += direction.sink.Received() - direction.before;
    const auto in = Stamps(direction.in_tap.get()), out = Stamps(direction.out_tap.get());
    for (const auto& [number, stamp] : out) {
      const auto found = in.find(number);
      if (found != in.end()) delays.push_back(static_cast<double>(stamp - found->second) / 1e3);
    }
    sampled += in.size();
    missing += in.size() - std::min(in.size(), out.size());
  }
  std::sort(delays.begin(), delays.end());
  double sum = 0;
  for (const double delay : delays) sum += delay;
  const auto quantile = [&](double q) {
    return delays.empty() ? 0
                          : delays[static_cast<size_t>(q * static_cast<double>(delays.size() - 1))];
  };
  const uint64_t lost = sent > received ? sent - received : 0;
  return {{"sent", sent},
          {"received", received},
          {"lost", lost},
          {"loss", sent == 0 ? 1.0 : static_cast<double>(lost) / static_cast<double>(sent)},
          {"offered_pps", static_cast<double>(sent) / seconds},
          {"sampled", sampled},
          {"unanswered", missing},
          {"delay_us",
           {{"mean", delays.empty() ? 0 : sum / static_cast<double>(delays.size())},
            {"min", quantile(0)},
            {"p1", quantile(0.01)},
            {"p50", quantile(0.5)},
            {"p90", quantile(0.9)},
            {"p99", quantile(0.99)},
            {"p99.9", quantile(0.999)},
            {"max", quantile(1)}}}};
}

int Main(int argc, char** argv) {
  try {
    const Options options = Parse(argc, argv);
    prctl(PR_SET_TIMERSLACK, 1);
    std::vector<Place> places(options.places.begin(), options.places.end());
    std::vector<Direction> directions;
    directions.reserve(kDirections);
    directions.emplace_back(options, places[0], places[1], places[3], uint8_t{0});
    if (!options.one_way)
      directions.emplace_back(options, places[3], places[2], places[0], uint8_t{1});
    // The kernel begins to stamp frames in the background, and stamps those before when they are
    // read.
    SleepFor(Duration::Milliseconds(100));
    const double seconds = SendAll(options, directions);
    // What still waits in the path: until nothing more comes for a while.
    for (uint64_t last = 0, seen = 1; seen != last;) {
      last = seen;
      SleepFor(Duration::Milliseconds(150));
      seen = 0;
      for (const Direction& direction : directions) seen += direction.sink.Received();
    }
    std::puts(Report(directions, seconds).dump().c_str());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "frame-load: %s\n", error.what());
    return static_cast<int>(error.status());
  }
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::bench::Main(argc, argv); }
