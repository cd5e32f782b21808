// The applications of many clients in one process: the traffic of the benchmark `clients`.
//
//   client-load source FILE RATE SIZE SECONDS WARMUP PROBES [HUB | dev:INTERFACE]
//   client-load sink FILE
//
// FILE has a line "SOURCE DESTINATION" (IPv4 addresses) for each client. `source` waits until each
// destination has answered a probe, prints "ready", and then sends RATE datagrams a second in
// total, SIZE bytes each, to one destination after the other, for SECONDS; at the same time it
// sends PROBES probes a second in total, to one client after the other; the order of the clients is
// shuffled before each round (seed 1). It prints one JSON object: the numbers of datagrams offered,
// sent and refused by the kernel; and for each client the mean round trip time of the probes that
// were sent after WARMUP seconds (microseconds, until the kernel received the answer), the number
// of these probes, and how many of them were not answered.
//
// With HUB, an IP address, the datagrams are sent to HUB as VXLAN frames that this process makes
// itself (the n-th client's VNI is n, its destination has the MAC address 02:00:00:00:00:00 + n).
// The clients' own hosts, which would send the same frames, are left out, because their work would
// take processor time from what is measured. The datagrams are passed to the kernel in batches of
// 32 (UDP_SEGMENT); an interface without segmentation offload sends the datagrams of a batch one by
// one. Probes always leave through the clients' interfaces.
//
// With dev:INTERFACE, the same frames are sent through INTERFACE without encapsulation.
//
// Probes are ICMP echo requests, which the destinations' kernel answers. The kernel permits them
// only for the groups in net.ipv4.ping_group_range.
//
// For each line on standard input, `sink` prints the current time and the number of datagrams that
// each client's destination has received. The datagrams are counted by a socket filter that refuses
// them all, so that no time is spent on reading them.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/icmp.h>
#include <linux/if_packet.h>
#include <linux/sock_diag.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/random.h"
#include "base/socket_option.h"
#include "base/wire/test/packet_builder.h"
#include "base/wire/vxlan.h"
#include "packet_socket.h"
#include "program.h"
#include "sys/descriptor_limit.h"

namespace viaduct::bench {
namespace {

constexpr uint16_t kDataPort = 9000;
constexpr size_t kBurst = 32;
constexpr std::string_view kDevice = "dev:";
constexpr Duration kTimeout = Duration::Seconds(60);
constexpr Duration kLastAnswers = Duration::Seconds(1);

struct Pair {
  sockaddr_in source{}, destination{};
  sockaddr_in sent_to{};           // destination of the datagrams: `destination`, or the hub
  std::vector<std::byte> headers;  // bytes that precede the payload of each datagram
  std::array<iovec, 2> parts{};
};

sockaddr_in AddressOf(const std::string& text, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1) {
    throw UsageError(text + ": not an IPv4 address");
  }
  return address;
}

std::vector<Pair> ReadPairs(const std::string& file) {
  std::vector<Pair> pairs;
  std::ifstream stream(file);
  std::string source, destination;
  while (stream >> source >> destination) {
    Pair& pair = pairs.emplace_back();
    pair.source = AddressOf(source, 0);
    pair.destination = pair.sent_to = AddressOf(destination, kDataPort);
  }
  if (pairs.empty()) throw UsageError(file + ": has no pairs of addresses");
  return pairs;
}

UniqueFd MakeSocket(const sockaddr_in& bound, int protocol = IPPROTO_UDP) {
  UniqueFd fd(
      SystemCall("socket", socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol)));
  SystemCall("bind", bind(fd.get(), reinterpret_cast<const sockaddr*>(&bound), sizeof bound));
  return fd;
}

// Opens a packet socket that sends frames through an interface and receives nothing.
UniqueFd MakePacketSocket(const std::string& interface) {
  UniqueFd fd = OpenPacketSocket();
  sockaddr_ll bound{};
  bound.sll_family = AF_PACKET;
  bound.sll_ifindex = InterfaceIndex(interface);
  SystemCall("bind", bind(fd.get(), reinterpret_cast<const sockaddr*>(&bound), sizeof bound));
  SetSocketOption(fd.get(), SOL_PACKET, PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS");
  return fd;
}

Duration SecondsOf(double seconds) {
  return Duration::Nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

double Number(const char* text) {
  double value = 0;
  const char* const end = text + std::strlen(text);
  if (std::from_chars(text, end, value).ptr != end || !(value >= 0)) {
    throw UsageError(std::string(text) + ": not a number");
  }
  return value;
}

enum class Phase : uint32_t { kAwaiting, kWarmingUp, kCounting };

struct Probe {
  icmphdr header;
  uint32_t client;
  Phase phase;
  int64_t sent;  // time of sending: CLOCK_REALTIME, ns
};

int64_t NanosecondsOf(const timespec& time) { return time.tv_sec * 1000000000LL + time.tv_nsec; }

int64_t RealtimeNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return NanosecondsOf(now);
}

class Source {
 public:
  // `way`: the target of the datagrams: a hub's address, dev:INTERFACE, or empty for the
  // destinations of the datagrams.
  Source(std::vector<Pair> pairs, double rate, size_t size, const std::string& way)
      : pairs_(std::move(pairs)),
        rate_(rate),
        order_(pairs_.size()),
        data_(MakeSocket(AddressOf("0.0.0.0", 0))),
        probes_(MakeSocket(AddressOf("0.0.0.0", 0), IPPROTO_ICMP)),
        payload_(size),
        heard_(pairs_.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    SetSocketBuffer(probes_.get(), SO_RCVBUFFORCE, SO_RCVBUF, 8 << 20);
    SetSocketOption(probes_.get(), SOL_SOCKET, SO_TIMESTAMPNS, 1, "SO_TIMESTAMPNS");
    if (way.starts_with(kDevice)) {
      UseFrames();
      data_ = MakePacketSocket(way.substr(kDevice.size()));
    } else if (!way.empty()) {
      UseFrames();
      Encapsulate(AddressOf(way, wire::kVxlanPort));
    }
    for (Pair& pair : pairs_) {
      pair.parts[0] = {pair.headers.data(), pair.headers.size()};
      pair.parts[1] = {payload_.data(), payload_.size()};
    }
  }

  void AwaitAll() {
    const Instant end = MonotonicClock::Now() + kTimeout;
    while (answered_ < pairs_.size()) {
      if (MonotonicClock::Now() > end) {
        throw Error(fmt::format("{} of {} destinations answer", answered_, pairs_.size()));
      }
      for (uint32_t i = 0; i < pairs_.size(); ++i) {
        if (heard_[i].probes == heard_[i].lost) SendProbe(i);
        if (i % 32 == 31) Listen(5);
      }
      Listen(200);
    }
    for (Heard& each : heard_) each = {};
    phase_ = Phase::kWarmingUp;
  }

  nlohmann::json Send(double seconds, double warm_up, double probes) {
    const Instant start = MonotonicClock::Now();
    const Instant end = start + SecondsOf(seconds);
    const Instant counting_from = start + SecondsOf(warm_up);
    Instant next_probe = start;
    const Duration interval = SecondsOf(1 / probes);
    uint64_t offered = 0, refused = 0;
    size_t next_client = 0;
    for (Instant now = start; now < end; now = MonotonicClock::Now()) {
      const auto due = static_cast<uint64_t>((now - start).ToSeconds() * rate_);
      for (int i = 0; i < 8 && offered < due; ++i) {
        const size_t burst = std::min<uint64_t>(kBurst, due - offered);
        refused += burst - SendBurst(burst);
        offered += burst;
      }
      if (now >= counting_from) phase_ = Phase::kCounting;
      while (now >= next_probe) {
        if (next_client == 0) Shuffle();
        SendProbe(order_[next_client]);
        next_client = (next_client + 1) % order_.size();
        next_probe += interval;
      }
      Listen(0);
    }
    const double took = (MonotonicClock::Now() - start).ToSeconds();
    const Instant last = MonotonicClock::Now() + kLastAnswers;
    while (MonotonicClock::Now() < last) Listen(50);
    nlohmann::json report = {
        {"offered", offered}, {"sent", offered - refused}, {"refused", refused}, {"seconds", took}};
    for (const Heard& each : heard_) {
      const uint64_t answers = each.probes - each.lost;
      report["probes"].push_back(each.probes);
      report["lost"].push_back(each.lost);
      report["rtt_us"].push_back(
          answers > 0 ? nlohmann::json(each.total.ToSeconds() * 1e6 / static_cast<double>(answers))
                      : nlohmann::json());
    }
    return report;
  }

 private:
  struct Heard {
    uint64_t probes = 0, lost = 0;  // lost: probes that have not been answered yet
    Duration total;
  };

  void UseFrames() {
    for (size_t i = 0; i < pairs_.size(); ++i) {
      Pair& pair = pairs_[i];
      const auto number = static_cast<uint32_t>(i + 1);
      pair.headers =
          wire::packet::Build(wire::packet::Ethernet{.source = MacOf(0x02010000, number),
                                                     .destination = MacOf(0x02000000, number)} /
                              wire::packet::Ipv4{.source = TextOf(pair.source),
                                                 .destination = TextOf(pair.destination)} /
                              wire::packet::Udp{kDataPort, kDataPort} /
                              wire::packet::Payload{std::string(payload_.size(), '\0')});
      pair.headers.resize(pair.headers.size() - payload_.size());
    }
  }

  void Encapsulate(const sockaddr_in& hub) {
    for (size_t i = 0; i < pairs_.size(); ++i) {
      pairs_[i].sent_to = hub;
      std::vector<std::byte> outer(wire::VxlanHeader::kSize);
      wire::VxlanHeader{static_cast<uint32_t>(i + 1)}.Write(outer);
      pairs_[i].headers.insert(pairs_[i].headers.begin(), outer.begin(), outer.end());
    }
    segments_wanted_ = true;
  }

  static std::string MacOf(uint32_t high, uint32_t number) {
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", high >> 24, high >> 16 & 255,
                       high >> 8 & 255, high & 255, number >> 8, number & 255);
  }

  static std::string TextOf(const sockaddr_in& address) {
    return wire::IpAddress::FromIpv4(ntohl(address.sin_addr.s_addr)).ToString();
  }

  // Sends the next datagrams. Returns the number of datagrams that the kernel accepted.
  size_t SendBurst(size_t burst) {
    if (segments_wanted_) return SendSegments(burst);
    const bool is_bound = !pairs_[0].headers.empty();
    for (size_t i = 0; i < burst; ++i) {
      Pair& pair = NextPair();
      msghdr& header = messages_[i].msg_hdr;
      header = {};
      if (!is_bound) {
        header.msg_name = &pair.sent_to;
        header.msg_namelen = sizeof pair.sent_to;
      }
      header.msg_iov = pair.parts.data();
      header.msg_iovlen = pair.parts.size();
    }
    size_t sent = 0;
    while (sent < burst) {
      const int n = sendmmsg(data_.get(), messages_.data() + sent,
                             static_cast<unsigned>(burst - sent), MSG_DONTWAIT);
      if (n <= 0) break;
      sent += static_cast<size_t>(n);
    }
    return sent;
  }

  // Sends all frames of a burst to the hub, each in a separate datagram.
  size_t SendSegments(size_t burst) {
    msghdr header{};
    header.msg_name = &pairs_[0].sent_to;
    header.msg_namelen = sizeof pairs_[0].sent_to;
    header.msg_iov = segments_.data();
    header.msg_iovlen = 2 * burst;
    for (size_t i = 0; i < burst; ++i) {
      const Pair& pair = NextPair();
      segments_[2 * i] = pair.parts[0];
      segments_[2 * i + 1] = pair.parts[1];
    }
    const auto length = static_cast<uint16_t>(segments_[0].iov_len + segments_[1].iov_len);
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof length)> control{};
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const segment = CMSG_FIRSTHDR(&header);
    segment->cmsg_level = SOL_UDP;
    segment->cmsg_type = UDP_SEGMENT;
    segment->cmsg_len = CMSG_LEN(sizeof length);
    std::memcpy(CMSG_DATA(segment), &length, sizeof length);
    return sendmsg(data_.get(), &header, MSG_DONTWAIT) < 0 ? 0 : burst;
  }

  Pair& NextPair() {
    Pair& pair = pairs_[turn_];
    turn_ = (turn_ + 1) % pairs_.size();
    return pair;
  }

  // Shuffles the order of the clients (Durstenfeld 1964) before each round. With a constant order,
  // a client would always be probed at the same phase of any pattern that repeats in each round,
  // and the delay of that phase would be attributed to the client.
  void Shuffle() {
    for (size_t left = order_.size(); left > 1; --left) {
      std::swap(order_[left - 1], order_[random_.Below(left)]);
    }
  }

  void SendProbe(uint32_t client) {
    const sockaddr_in& to = pairs_[client].destination;
    if (phase_ != Phase::kWarmingUp) {
      ++heard_[client].probes;
      ++heard_[client].lost;
    }
    const Probe probe{{ICMP_ECHO, 0, 0, {}}, client, phase_, RealtimeNow()};
    if (sendto(probes_.get(), &probe, sizeof probe, 0, reinterpret_cast<const sockaddr*>(&to),
               sizeof to) < 0) {
      return;  // the probe counts as lost
    }
  }

  void Listen(int timeout) {
    if (timeout > 0) {
      pollfd wait{probes_.get(), POLLIN, 0};
      poll(&wait, 1, timeout);
    }
    Probe probe{};
    iovec part{&probe, sizeof probe};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control;
    for (;;) {
      msghdr header{};
      header.msg_iov = &part;
      header.msg_iovlen = 1;
      header.msg_control = control.data();
      header.msg_controllen = control.size();
      if (recvmsg(probes_.get(), &header, MSG_DONTWAIT) != sizeof probe) return;
      const cmsghdr* const stamp = CMSG_FIRSTHDR(&header);
      if (probe.client >= pairs_.size() || probe.phase != phase_ || stamp == nullptr) continue;
      timespec arrived{};
      std::memcpy(&arrived, CMSG_DATA(stamp), sizeof arrived);
      Heard& heard = heard_[probe.client];
      if (heard.lost == 0) continue;
      if (heard.lost == heard.probes) ++answered_;
      --heard.lost;
      heard.total += Duration::Nanoseconds(NanosecondsOf(arrived) - probe.sent);
    }
  }

  std::vector<Pair> pairs_;
  const double rate_;
  std::vector<uint32_t> order_;  // order of clients for the next probes
  RandomStream random_{1, "order of probes"};
  UniqueFd data_, probes_;
  std::vector<char> payload_;
  std::array<mmsghdr, kBurst> messages_{};
  std::vector<Heard> heard_;
  std::array<iovec, 2 * kBurst> segments_{};
  size_t turn_ = 0, answered_ = 0;
  bool segments_wanted_ = false;
  Phase phase_ = Phase::kAwaiting;
};

class Sink {
 public:
  explicit Sink(const std::vector<Pair>& pairs) {
    for (const Pair& pair : pairs) {
      sockets_.push_back(MakeSocket(pair.destination));
      sock_filter nothing{BPF_RET | BPF_K, 0, 0, 0};
      const sock_fprog program{1, &nothing};
      SetSocketOption(sockets_.back().get(), SOL_SOCKET, SO_ATTACH_FILTER, program,
                      "SO_ATTACH_FILTER");
    }
  }

  int Run() const {
    std::array<char, 256> line;
    while (read(STDIN_FILENO, line.data(), line.size()) > 0) Report();
    return 0;
  }

 private:
  void Report() const {
    nlohmann::json report = {{"time", MonotonicClock::Now().nanoseconds() * 1e-9},
                             {"received", nlohmann::json::array()}};
    for (const UniqueFd& socket : sockets_) {
      std::array<uint32_t, SK_MEMINFO_VARS> memory{};
      socklen_t length = sizeof memory;
      SystemCall("SO_MEMINFO",
                 getsockopt(socket.get(), SOL_SOCKET, SO_MEMINFO, memory.data(), &length));
      report["received"].push_back(memory[SK_MEMINFO_DROPS]);
    }
    std::printf("%s\n", report.dump().c_str());
    std::fflush(stdout);
  }

  std::vector<UniqueFd> sockets_;
};

int Main(int argc, char** argv) {
  return ExitStatusOf("client-load", [&] {
    const std::string role = argc > 2 ? argv[1] : "";
    sys::RaiseDescriptorLimit();
    if (role == "sink" && argc == 3) return Sink(ReadPairs(argv[2])).Run();
    if (role != "source" || argc < 8 || argc > 9) {
      throw UsageError(
          "usage: client-load source FILE RATE SIZE SECONDS WARMUP PROBES [HUB | dev:INTERFACE] | "
          "client-load sink FILE");
    }
    const double probes = Number(argv[7]);
    if (probes < 1) throw UsageError("PROBES: at least 1 a second");
    Source source(ReadPairs(argv[2]), Number(argv[3]), static_cast<size_t>(Number(argv[4])),
                  argc == 9 ? argv[8] : "");
    source.AwaitAll();
    std::printf("ready\n");
    std::fflush(stdout);
    std::printf("%s\n", source.Send(Number(argv[5]), Number(argv[6]), probes).dump().c_str());
    return 0;
  });
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::bench::Main(argc, argv); }
