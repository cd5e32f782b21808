// Sends numbered UDP frames through an interface at a paced rate, with or without VLAN tags: the
// source of the benchmark `path`. The frames bypass the queueing discipline and have an unused
// destination MAC address, so that the sink's kernel counts and drops them without further cost.
//
//   frame-source --interface eth0 --size 70 --rate 400000 --duration 2 [--vlans 250] [--burst 32]
//
// `--size` is the length of the complete frame without FCS and tag. With `--vlans N` the frames are
// sent in the VLANs 1 to N in rotation. Prints JSON: {"flow", "sent", "refused", "seconds",
// "offered_pps", "slip_s"}.
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/socket_option.h"
#include "base/text/json_text.h"
#include "base/wire/probe_header.h"
#include "base/wire/test/packet_builder.h"
#include "packet_socket.h"
#include "program.h"
#include "run/load/pace.h"

namespace viaduct::bench {
namespace {

namespace packet = wire::packet;

constexpr int kHeaders = 14 + 20 + 8;  // bytes of the Ethernet, IPv4 and UDP headers
struct Options : load::PaceOptions {
  std::string interface;
  int size = 70;
  int vlans = 0;
};

// The frames of one sendmmsg() call. They are built once; later only their sequence numbers change.
class Burst {
 public:
  Burst(const Options& options, uint32_t flow) : flow_(flow) {
    const int frames = std::max(options.batch, options.vlans);
    for (int i = 0; i < frames; ++i) frames_.push_back(MakeFrame(options, i));
    for (auto& frame : frames_) vectors_.push_back({frame.data(), frame.size()});
    messages_.resize(frames);
    for (int i = 0; i < frames; ++i) {
      messages_[i].msg_hdr.msg_iov = &vectors_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
    payload_ = frames_[0].size() - (options.size - kHeaders);
  }

  // Sends at most `packets` packets, which are numbered consecutively from `number` and use the
  // frames in rotation. Returns the number of packets that the kernel accepted.
  int Send(int fd, uint64_t number, int packets, Instant now) {
    const size_t first = number % frames_.size();
    const int run = static_cast<int>(std::min<size_t>(packets, frames_.size() - first));
    for (int i = 0; i < run; ++i) {
      load::WriteHeader(
          {.type = load::PacketType::kData, .flow = flow_, .sequence = number + i, .sent = now},
          std::span(frames_[first + i]).subspan(payload_));
    }
    return std::max(0, sendmmsg(fd, &messages_[first], run, 0));
  }

 private:
  static std::vector<std::byte> MakeFrame(const Options& options, int index) {
    const packet::Payload payload{std::string(options.size - kHeaders, '\0')};
    const packet::Ethernet ethernet{.destination = "02:00:00:00:ff:fe"};
    const packet::Ipv4 ip{.source = "10.0.0.1", .destination = "10.0.0.2"};
    const packet::Udp udp{.source = 9000, .destination = 9000};
    if (options.vlans == 0) return WithoutChecksum(Build(ethernet / ip / udp / payload), options);
    const packet::Vlan vlan{.id = static_cast<uint16_t>(index % options.vlans + 1)};
    return WithoutChecksum(Build(ethernet / vlan / ip / udp / payload), options);
  }
  // Clears the UDP checksum, because the payload changes with each packet: UDP over IPv4 allows
  // packets without a checksum (RFC 768).
  static std::vector<std::byte> WithoutChecksum(std::vector<std::byte> frame,
                                                const Options& options) {
    const size_t checksum = frame.size() - (options.size - kHeaders) - 2;
    frame[checksum] = frame[checksum + 1] = std::byte{0};
    return frame;
  }

  uint32_t flow_;
  size_t payload_ = 0;
  std::vector<std::vector<std::byte>> frames_;
  std::vector<iovec> vectors_;
  std::vector<mmsghdr> messages_;
};

UniqueFd OpenSocket(const std::string& interface) {
  UniqueFd fd = OpenPacketSocket();
  viaduct::SetSocketOption(fd.get(), SOL_PACKET, PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = InterfaceIndex(interface);
  SystemCall("bind packet socket " + interface,
             bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
  return fd;
}

int Main(int argc, char** argv) {
  Options options;
  double rate = 0, duration = 1;
  uint64_t count = 0;
  CLI::App app("sends numbered UDP frames through an interface");
  app.add_option("--interface", options.interface)->required();
  app.add_option("--size", options.size, "frame without FCS and tag")
      ->check(CLI::Range(kHeaders + static_cast<int>(load::kHeaderBytes), 9000));
  app.add_option("--rate", rate, "frames per second; 0: as fast as possible");
  app.add_option("--duration", duration, "seconds");
  app.add_option("--count", count, "stop after this many frames");
  app.add_option("--vlans", options.vlans)->check(CLI::Range(0, 4094));
  app.add_option("--burst", options.batch, "frames per system call")->check(CLI::Range(1, 1024));
  CLI11_PARSE(app, argc, argv);
  const uint32_t flow = std::random_device{}();
  if (rate > 0) options.rate = rate;
  if (count > 0) options.count = count;
  options.duration = Duration::Nanoseconds(static_cast<int64_t>(duration * 1e9));
  const UniqueFd fd = OpenSocket(options.interface);
  Burst burst(options, flow);
  uint64_t refused = 0;
  const std::atomic<bool> stop = false;
  const auto sent = load::Pace(options, stop, [&](uint64_t number, int packets, Instant now) {
    const int taken = burst.Send(fd.get(), number, packets, now);
    if (taken == 0) ++refused;
    return taken;
  });
  const double seconds = sent.elapsed.ToSeconds();
  const nlohmann::json result = {{"flow", flow},
                                 {"sent", sent.sent},
                                 {"refused", refused},
                                 {"seconds", seconds},
                                 {"offered_pps", static_cast<double>(sent.sent) / seconds},
                                 {"slip_s", sent.slip.ToSeconds()}};
  std::printf("%s\n", JsonText(result).c_str());
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) {
  return viaduct::bench::ExitStatusOf("frame-source",
                                      [&] { return viaduct::bench::Main(argc, argv); });
}
