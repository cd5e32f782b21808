// The applications of many clients in one process: the traffic of the benchmark `clients`.
//
//   client-load source FILE RATE SIZE SECONDS WARMUP [HUB]
//   client-load sink FILE
//
// FILE has a line "SOURCE DESTINATION" (IPv4 addresses) for each client. `source` waits until each
// destination has answered a probe, prints "ready", and sends RATE datagrams a second in all, SIZE
// bytes each, to one destination after the other, for SECONDS; beside that a probe to each twice a
// second. It prints one JSON object: datagrams offered, sent and refused by the kernel; for each
// client the mean round trip of the probes that were sent after WARMUP seconds, microseconds, how
// many, and how many were not answered.
//
// With HUB, an address, the datagrams are sent to it as VXLAN frames that this process makes itself
// (the n-th client's VNI is n, its destination has the MAC address 02:00:00:00:00:00 + n), as the
// clients' own hosts would have sent them: their work would take the time of what is measured.
// Probes go through the interfaces in any case.
//
// `sink` answers probes. For each line on standard input it prints the present time and how many
// datagrams each client's destination has got. They are counted by a filter that refuses them all,
// so that no time is spent on reading.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/socket_option.h"
#include "program.h"
#include "sys/descriptor_limit.h"
#include "wire/test/packet_builder.h"
#include "wire/vxlan.h"

namespace viaduct::bench {
namespace {

constexpr uint16_t kDataPort = 9000, kProbePort = 9001;
constexpr size_t kBurst = 32;
constexpr Duration kProbeInterval = Duration::Milliseconds(500);
constexpr Duration kPatience = Duration::Seconds(60);
constexpr Duration kLastAnswers = Duration::Seconds(1);

struct Pair {
  sockaddr_in source{}, destination{};
  sockaddr_in sent_to{};           // where its datagrams go: the destination, or the hub
  std::vector<std::byte> headers;  // before the payload
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

UniqueFd MakeSocket(const sockaddr_in& bound) {
  UniqueFd fd(SystemCall("socket", socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
  SystemCall("bind", bind(fd.get(), reinterpret_cast<const sockaddr*>(&bound), sizeof bound));
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

struct Probe {
  uint32_t client, number;
  int64_t sent;  // ns
};

class Source {
 public:
  Source(std::vector<Pair> pairs, double rate, size_t size, const std::string& hub)
      : pairs_(std::move(pairs)),
        rate_(rate),
        data_(MakeSocket(AddressOf("0.0.0.0", 0))),
        probes_(MakeSocket(AddressOf("0.0.0.0", 0))),
        payload_(size),
        heard_(pairs_.size()) {
    SetSocketBuffer(probes_.get(), SO_RCVBUFFORCE, SO_RCVBUF, 8 << 20);
    if (!hub.empty()) Encapsulate(AddressOf(hub, wire::kVxlanPort));
    for (Pair& pair : pairs_) {
      pair.parts[0] = {pair.headers.data(), pair.headers.size()};
      pair.parts[1] = {payload_.data(), payload_.size()};
    }
  }

  void AwaitAll() {
    const Instant end = MonotonicClock::Now() + kPatience;
    while (answered_ < pairs_.size()) {
      if (MonotonicClock::Now() > end) {
        throw Error(fmt::format("{} of {} destinations answer", answered_, pairs_.size()));
      }
      for (uint32_t i = 0; i < pairs_.size(); ++i) {
        if (heard_[i].probes == heard_[i].lost) SendProbe(i, MonotonicClock::Now());
        if (i % 32 == 31) Listen(5);
      }
      Listen(200);
    }
    for (Heard& each : heard_) each = {};
  }

  nlohmann::json Send(double seconds, double warm_up) {
    const Instant start = MonotonicClock::Now();
    const Instant end = start + SecondsOf(seconds);
    counting_from_ = start + SecondsOf(warm_up);
    Instant next_probe = start;
    uint64_t offered = 0, refused = 0;
    uint32_t next_client = 0;
    for (Instant now = start; now < end; now = MonotonicClock::Now()) {
      const auto due = static_cast<uint64_t>((now - start).ToSeconds() * rate_);
      for (int i = 0; i < 8 && offered < due; ++i) {
        const size_t burst = std::min<uint64_t>(kBurst, due - offered);
        refused += burst - SendBurst(burst);
        offered += burst;
      }
      while (now >= next_probe) {
        SendProbe(next_client, now);
        next_client = (next_client + 1) % static_cast<uint32_t>(pairs_.size());
        next_probe =
            next_probe + SecondsOf(kProbeInterval.ToSeconds() / static_cast<double>(pairs_.size()));
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
    uint64_t probes = 0, lost = 0;  // lost: not answered yet
    Duration total;
  };

  void Encapsulate(const sockaddr_in& hub) {
    for (size_t i = 0; i < pairs_.size(); ++i) {
      Pair& pair = pairs_[i];
      const auto number = static_cast<uint32_t>(i + 1);
      pair.sent_to = hub;
      pair.headers =
          wire::packet::Build(wire::packet::Ethernet{.source = MacOf(0x02010000, number),
                                                     .destination = MacOf(0x02000000, number)} /
                              wire::packet::Ipv4{.source = TextOf(pair.source),
                                                 .destination = TextOf(pair.destination)} /
                              wire::packet::Udp{kDataPort, kDataPort} /
                              wire::packet::Payload{std::string(payload_.size(), '\0')});
      pair.headers.resize(pair.headers.size() - payload_.size());
      std::vector<std::byte> outer(wire::VxlanHeader::kSize);
      wire::VxlanHeader{number}.Write(outer);
      pair.headers.insert(pair.headers.begin(), outer.begin(), outer.end());
    }
  }

  static std::string MacOf(uint32_t high, uint32_t number) {
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", high >> 24, high >> 16 & 255,
                       high >> 8 & 255, high & 255, number >> 8, number & 255);
  }

  static std::string TextOf(const sockaddr_in& address) {
    return wire::IpAddress::FromIpv4(ntohl(address.sin_addr.s_addr)).ToString();
  }

  size_t SendBurst(size_t burst) {
    for (size_t i = 0; i < burst; ++i) {
      Pair& pair = pairs_[turn_];
      msghdr& header = messages_[i].msg_hdr;
      header = {};
      header.msg_name = &pair.sent_to;
      header.msg_namelen = sizeof pair.sent_to;
      header.msg_iov = pair.parts.data();
      header.msg_iovlen = pair.parts.size();
      turn_ = (turn_ + 1) % pairs_.size();
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

  void SendProbe(uint32_t client, Instant now) {
    const Probe probe{client, 0, now.nanoseconds()};
    sockaddr_in to = pairs_[client].destination;
    to.sin_port = htons(kProbePort);
    if (now >= counting_from_) {
      ++heard_[client].probes;
      ++heard_[client].lost;
    }
    if (sendto(probes_.get(), &probe, sizeof probe, 0, reinterpret_cast<const sockaddr*>(&to),
               sizeof to) < 0) {
      return;  // counted as lost
    }
  }

  void Listen(int timeout) {
    if (timeout > 0) {
      pollfd wait{probes_.get(), POLLIN, 0};
      poll(&wait, 1, timeout);
    }
    Probe probe{};
    while (recv(probes_.get(), &probe, sizeof probe, MSG_DONTWAIT) == sizeof probe) {
      if (probe.client >= pairs_.size()) continue;
      const Instant sent = Instant::FromNanoseconds(probe.sent);
      Heard& heard = heard_[probe.client];
      if (sent < counting_from_ || heard.lost == 0) continue;
      if (heard.lost == heard.probes) ++answered_;
      --heard.lost;
      heard.total = heard.total + (MonotonicClock::Now() - sent);
    }
  }

  std::vector<Pair> pairs_;
  const double rate_;
  UniqueFd data_, probes_;
  std::vector<char> payload_;
  std::array<mmsghdr, kBurst> messages_{};
  std::vector<Heard> heard_;
  size_t turn_ = 0, answered_ = 0;
  Instant counting_from_;
};

class Sink {
 public:
  explicit Sink(const std::vector<Pair>& pairs)
      : probes_(MakeSocket(AddressOf("0.0.0.0", kProbePort))) {
    for (const Pair& pair : pairs) {
      sockets_.push_back(MakeSocket(pair.destination));
      sock_filter nothing{BPF_RET | BPF_K, 0, 0, 0};
      const sock_fprog program{1, &nothing};
      SetSocketOption(sockets_.back().get(), SOL_SOCKET, SO_ATTACH_FILTER, program,
                      "SO_ATTACH_FILTER");
    }
  }

  int Run() {
    std::array<pollfd, 2> wait{{{STDIN_FILENO, POLLIN, 0}, {probes_.get(), POLLIN, 0}}};
    std::array<char, 256> line;
    for (;;) {
      poll(wait.data(), wait.size(), -1);
      if (wait[1].revents != 0) Answer();
      if (wait[0].revents == 0) continue;
      if (read(STDIN_FILENO, line.data(), line.size()) <= 0) return 0;
      Report();
    }
  }

 private:
  void Answer() {
    std::array<char, 64> bytes;
    sockaddr_in from{};
    socklen_t length = sizeof from;
    for (;;) {
      const ssize_t got = recvfrom(probes_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT,
                                   reinterpret_cast<sockaddr*>(&from), &length);
      if (got < 0) return;
      if (sendto(probes_.get(), bytes.data(), static_cast<size_t>(got), 0,
                 reinterpret_cast<const sockaddr*>(&from), length) < 0) {
        continue;  // the source counts it as lost
      }
    }
  }

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

  UniqueFd probes_;
  std::vector<UniqueFd> sockets_;
};

int Main(int argc, char** argv) {
  return ExitStatusOf("client-load", [&] {
    const std::string role = argc > 2 ? argv[1] : "";
    sys::RaiseDescriptorLimit();
    if (role == "sink" && argc == 3) return Sink(ReadPairs(argv[2])).Run();
    if (role != "source" || argc < 7 || argc > 8) {
      throw UsageError(
          "usage: client-load source FILE RATE SIZE SECONDS WARMUP [HUB] | client-load sink FILE");
    }
    Source source(ReadPairs(argv[2]), Number(argv[3]), static_cast<size_t>(Number(argv[4])),
                  argc == 8 ? argv[7] : "");
    source.AwaitAll();
    std::printf("ready\n");
    std::fflush(stdout);
    std::printf("%s\n", source.Send(Number(argv[5]), Number(argv[6])).dump().c_str());
    return 0;
  });
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::bench::Main(argc, argv); }
