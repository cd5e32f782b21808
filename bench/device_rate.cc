// Measures how many frames a second an ns-3 device on a real interface sends or receives: a program
// of the benchmark `device`.
//
//   device-rate --mode=send --interface=eth0 --device=ring --layer=port --size=64 --duration=1
//   device-rate --mode=receive --interface=eth0 --device=fd --layer=device
//   device-rate --mode=attributes        prints the attributes that RingNetDevice has
//
// Layer `port` is level 0 of ns-3's example fd-emu-send: prepared frames are sent by
// FdNetDevice::Write() or the port's Transmit(); frames are received, and dropped, by the thread
// that reads for FdNetDevice or by a bare loop on the port. Layer `device`: packets are sent by
// Send(), or received as ns3::Packets by a node, which drops them. A receiver exits when nothing
// has arrived for a while.
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/text/json_text.h"
#include "base/wire/test/packet_builder.h"
#include "ns3/reactor-simulator-impl.h"
#include "ns3_device.h"
#include "program.h"
#include "run/load/pace.h"

namespace viaduct::bench {
namespace {

namespace packet = wire::packet;

constexpr int kEthernet = 14, kHeaders = kEthernet + 20 + 8;  // kHeaders: Ethernet, IPv4, UDP
constexpr size_t kBurst = 64;
constexpr const char* kAddress = "02:00:00:00:ff:fe";  // receiver's address, which no kernel has
constexpr uint16_t kIpv4 = 0x0800;
constexpr auto kPollInterval = std::chrono::milliseconds(5);

struct Options {
  std::string mode, layer = "device";
  DeviceChoice device;
  int size = 64;        // bytes of the frame, without FCS
  double duration = 1;  // duration of sending in seconds
  double rate = 0;      // frames a second with layer `port`; 0: as many as are accepted
  bool poll = false;    // the reactor, or the bare loop, never sleeps
  ns3::Time tick;       // interval of the events that send a frame during reception; 0: no events
};

std::vector<std::byte> MakeFrame(int size) {
  const packet::Ethernet ethernet{.destination = kAddress};
  const packet::Ipv4 ip{.source = "10.0.0.1", .destination = "10.0.0.2"};
  const packet::Udp udp{.source = 9000, .destination = 9000};
  return Build(ethernet / ip / udp / packet::Payload{std::string(size - kHeaders, '\0')});
}

ns3::Ptr<ns3::Packet> MakePacket(int size) {
  const auto frame = MakeFrame(size);
  return ns3::Create<ns3::Packet>(reinterpret_cast<const uint8_t*>(frame.data()) + kEthernet,
                                  size - kEthernet);
}

io::AnyPort& PortOf(ns3::Ptr<ns3::NetDevice> device) {
  return *ns3::DynamicCast<ns3::RingNetDevice>(device)->GetPort();
}

// ---------------------------------------------------------------- sending

nlohmann::json Sent(uint64_t sent, uint64_t refused, double seconds, double processor) {
  return {{"sent", sent}, {"refused", refused}, {"seconds", seconds}, {"cpu_seconds", processor}};
}

// Waits until the port has sent all frames that it has accepted. Returns the duration of the wait.
Duration AwaitSent(io::AnyPort& port) {
  const Instant begin = MonotonicClock::Now();
  while (port.BytesInFlight() > 0 && MonotonicClock::Now() - begin < Duration::Seconds(1)) {
    std::this_thread::yield();
  }
  return MonotonicClock::Now() - begin;
}

nlohmann::json SendFromPort(const Options& options, ns3::Ptr<ns3::NetDevice> device) {
  auto frame = MakeFrame(options.size);
  load::PaceOptions pace;
  pace.duration = Duration::Nanoseconds(std::llround(1e9 * options.duration));
  pace.batch = kBurst;
  if (options.rate > 0) pace.rate = options.rate;
  load::SendPackets send;
  if (options.device.IsOwn()) {
    const std::vector<io::FrameToSend> burst(kBurst, frame);
    send = [&port = PortOf(device), burst](uint64_t, int packets, Instant) {
      return static_cast<int>(port.Transmit(std::span(burst).first(packets)));
    };
  } else {
    // FdNetDevice sends one frame per call; the clock is still read only once per burst.
    send = [&frame, fd = ns3::DynamicCast<ns3::FdNetDevice>(device)](uint64_t, int packets,
                                                                     Instant) {
      auto* const bytes = reinterpret_cast<uint8_t*>(frame.data());
      const auto size = static_cast<ssize_t>(frame.size());
      for (int i = 0; i < packets; ++i) {
        if (fd->Write(bytes, frame.size()) != size) return i;
      }
      return packets;
    };
  }
  const double before = ProcessorSeconds();
  const std::atomic<bool> stop = false;
  const auto paced = load::Pace(pace, stop, send);
  uint64_t refused = paced.offered - paced.sent;
  if (options.device.IsOwn()) {
    const Duration waited = AwaitSent(PortOf(device));
    const auto counters = PortOf(device).Counters();
    refused += counters.tx_dropped_error;
    return Sent(counters.tx_frames, refused, (paced.elapsed + waited).ToSeconds(),
                ProcessorSeconds() - before);
  }
  return Sent(paced.sent, refused, paced.elapsed.ToSeconds(), ProcessorSeconds() - before);
}

// Sends packets from simulator events, kBurst packets in each event, for the given duration.
class DeviceSender {
 public:
  DeviceSender(const Options& options, ns3::Ptr<ns3::NetDevice> device)
      : duration_(Duration::Nanoseconds(std::llround(1e9 * options.duration))),
        device_(device),
        packet_(MakePacket(options.size)) {}

  nlohmann::json Run() {
    // The sender starts after 20 ms, because FdNetDevice is up only after its first event.
    ns3::Simulator::Schedule(ns3::MilliSeconds(20), [this] {
      start_ = MonotonicClock::Now();
      processor_ = ProcessorSeconds();
      Round();
    });
    ns3::Simulator::Run();
    return result_;
  }

 private:
  void Round() {
    for (size_t i = 0; i < kBurst; ++i) {
      ++(device_->Send(packet_->Copy(), to_, kIpv4) ? sent_ : refused_);
    }
    const Duration passed = MonotonicClock::Now() - start_;
    if (passed < duration_) {
      ns3::Simulator::ScheduleNow([this] { Round(); });
      return;
    }
    result_ = Sent(sent_, refused_, passed.ToSeconds(), ProcessorSeconds() - processor_);
    ns3::Simulator::Stop();
  }

  Duration duration_;
  ns3::Ptr<ns3::NetDevice> device_;
  ns3::Ptr<ns3::Packet> packet_;
  const ns3::Mac48Address to_{kAddress};
  Instant start_;
  double processor_ = 0;
  uint64_t sent_ = 0, refused_ = 0;
  nlohmann::json result_;
};

// ---------------------------------------------------------------- receiving

void SayReady() {
  std::fputs("ready\n", stderr);
  std::fflush(stderr);
}

nlohmann::json Received(const ArrivalWatch& watch, uint64_t frames) {
  return {{"frames", frames},
          {"window_frames", watch.Count()},
          {"seconds", watch.Seconds()},
          {"cpu_seconds", watch.Processor()}};
}

void Add(nlohmann::json& result, uint64_t frames, const PacketCount& kernel) {
  result["dropped_by_kernel"] = kernel.dropped;
  result["dropped_by_device"] = kernel.given - std::min(kernel.given, frames);
}

nlohmann::json ReceiveFromPort(io::AnyPort& port, bool spin) {
  std::array<io::ReceivedFrame, kBurst> frames;
  ArrivalWatch watch;
  uint64_t count = 0, sum = 0;
  Instant next;
  SayReady();
  for (bool over = false; !over;) {
    const size_t burst = port.Receive(frames);
    for (const auto& frame : std::span(frames).first(burst)) {
      sum += std::to_integer<uint64_t>(frame.bytes[0]);  // simulates a reader of the frame
    }
    count += burst;
    if (burst == 0 && !spin) {
      pollfd wait{port.fd(), POLLIN, 0};
      poll(&wait, 1, 5);
    }
    if (const Instant now = MonotonicClock::Now(); now >= next) {
      over = watch.Poll(count);
      next = now + Duration::Milliseconds(5);
    }
  }
  auto result = Received(watch, count);
  const auto counters = port.Counters();
  Add(result, count, {count, counters.rx_dropped_ring_full + counters.rx_dropped_truncated});
  result["sum"] = sum;
  return result;
}

// Receives with the thread class of FdNetDevice, which here frees the frames that it has read.
nlohmann::json ReceiveFromReader(const std::string& interface) {
  const UniqueFd socket = OpenBoundPacketSocket(interface);
  std::atomic<uint64_t> count = 0;
  auto reader = ns3::Create<ns3::FdNetDeviceFdReader>();
  reader->SetBufferSize(65536);  // the size that FdNetDevice uses
  reader->Start(socket.get(), ns3::Callback<void, uint8_t*, ssize_t>([&](uint8_t* bytes, ssize_t) {
                  std::free(bytes);
                  count.fetch_add(1, std::memory_order_relaxed);
                }));
  ArrivalWatch watch;
  SayReady();
  while (!watch.Poll(count)) std::this_thread::sleep_for(kPollInterval);
  reader->Stop();
  auto result = Received(watch, count);
  Add(result, count, CountPackets(socket.get()));
  return result;
}

nlohmann::json Quantiles(const Histogram& histogram) {
  return {{"count", histogram.Count()},
          {"p50_us", 1e-3 * static_cast<double>(histogram.Quantile(0.5))},
          {"p99_us", 1e-3 * static_cast<double>(histogram.Quantile(0.99))},
          {"max_us", 1e-3 * static_cast<double>(histogram.Max())}};
}

// Returns the seconds that this thread has waited for a processor used by other threads; 0 if the
// kernel does not report this time.
double WaitedSeconds() {
  std::ifstream file("/proc/thread-self/schedstat");
  uint64_t ran = 0, waited = 0;
  file >> ran >> waited;
  return 1e-9 * static_cast<double>(waited);
}

// Counts the packets that reach the ns-3 node, and drops them.
class NodeReceiver {
 public:
  NodeReceiver(const Options& options, ns3::Ptr<ns3::Node> node, ns3::Ptr<ns3::NetDevice> device)
      : tick_(options.tick), device_(device), packet_(MakePacket(options.size)) {
    using namespace ns3;
    node->RegisterProtocolHandler(
        Callback<void, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&, const Address&,
                 NetDevice::PacketType>([this](Ptr<NetDevice>, Ptr<const Packet>, uint16_t,
                                               const Address&, const Address&,
                                               NetDevice::PacketType) { ++count_; }),
        kIpv4, device);
  }

  nlohmann::json Run() {
    ns3::Simulator::Schedule(ns3::MilliSeconds(20), [this] {
      SayReady();
      Poll();
      if (tick_.IsStrictlyPositive()) Tick();
    });
    ns3::Simulator::Run();
    auto result = Received(watch_, count_);
    result["ticks_sent"] = ticks_;
    result["waited_seconds"] = WaitedSeconds() - waited_;
    if (ns3::Ptr<ns3::ReactorSimulatorImpl> reactor = ns3::ReactorSimulatorImpl::Get()) {
      result["frames_late"] = Quantiles(reactor->GetPortLateness());
      result["events_late"] = Quantiles(reactor->GetLateness());
      // Adds the lateness that the device itself measures, if the device has the following
      // attributes.
      for (const char* name : {"ReceivedLateness", "SentLateness"}) {
        ns3::TimeValue p99;
        if (device_->GetAttributeFailSafe(name, p99)) {
          result[name] = 1e-3 * static_cast<double>(p99.Get().GetNanoSeconds());
        }
      }
    }
    return result;
  }
  uint64_t Count() const { return count_; }

 private:
  void Poll() {
    const bool first = count_ > 0 && !started_;
    if (first) {
      started_ = true;  // the statistics begin with the traffic
      waited_ = WaitedSeconds();
      if (auto reactor = ns3::ReactorSimulatorImpl::Get()) reactor->ResetStatistics();
    }
    if (watch_.Poll(count_)) return ns3::Simulator::Stop();
    ns3::Simulator::Schedule(ns3::MilliSeconds(5), [this] { Poll(); });
  }
  void Tick() {
    static const ns3::Mac48Address to("02:00:00:00:ff:fd");
    if (device_->Send(packet_->Copy(), to, kIpv4)) ++ticks_;
    ns3::Simulator::Schedule(tick_, [this] { Tick(); });
  }

  ns3::Time tick_;
  ns3::Ptr<ns3::NetDevice> device_;
  ns3::Ptr<ns3::Packet> packet_;
  ArrivalWatch watch_;
  bool started_ = false;
  double waited_ = 0;
  uint64_t count_ = 0, ticks_ = 0;
};

nlohmann::json ReceiveInNode(const Options& options, ns3::Ptr<ns3::Node> node,
                             ns3::Ptr<ns3::NetDevice> device, int socket) {
  NodeReceiver receiver(options, node, device);
  auto result = receiver.Run();
  if (auto ring = ns3::DynamicCast<ns3::RingNetDevice>(device)) {
    const auto counters = ring->GetPort()->Counters();
    Add(result, receiver.Count(),
        {counters.rx_frames, counters.rx_dropped_ring_full + counters.rx_dropped_truncated});
  } else {
    Add(result, receiver.Count(), CountPackets(socket));
  }
  return result;
}

// ---------------------------------------------------------------- selecting the measurement

nlohmann::json Attributes() {
  const ns3::TypeId type = ns3::RingNetDevice::GetTypeId();
  nlohmann::json names = nlohmann::json::array();
  for (size_t i = 0; i < type.GetAttributeN(); ++i) names.push_back(type.GetAttribute(i).name);
  return names;
}

nlohmann::json Measure(const Options& options) {
  const bool send = options.mode == "send", port = options.layer == "port";
  if (!send && port && !options.device.IsOwn()) return ReceiveFromReader(options.device.interface);
  if (options.poll) {
    ns3::Config::SetDefault("ns3::ReactorSimulatorImpl::AlwaysPoll", ns3::BooleanValue(true));
  }
  auto node = ns3::CreateObject<ns3::Node>();
  int socket = -1;
  const auto device = AddDevice(options.device, node, &socket);
  device->SetAddress(ns3::Mac48Address(send ? "02:00:00:00:ff:fd" : kAddress));
  if (port) {
    if (options.device.IsOwn()) node->Initialize();  // opens the port
    return send ? SendFromPort(options, device) : ReceiveFromPort(PortOf(device), options.poll);
  }
  return send ? DeviceSender(options, device).Run() : ReceiveInNode(options, node, device, socket);
}

int Main(int argc, char** argv) {
  Options options;
  ns3::CommandLine command(__FILE__);
  command.AddValue("mode", "send, receive or attributes", options.mode);
  command.AddValue("layer", "port or device", options.layer);
  options.device.AddOptions(command);
  command.AddValue("size", "of a frame, without FCS", options.size);
  command.AddValue("duration", "seconds, of a sender", options.duration);
  command.AddValue("rate", "frames a second, of layer port; 0: all that are taken", options.rate);
  command.AddValue("poll", "the reactor, or the bare loop, never sleeps", options.poll);
  command.AddValue("tick", "a receiver's event that sends a frame: how often; 0: none",
                   options.tick);
  command.Parse(argc, argv);
  if (options.mode != "send" && options.mode != "receive" && options.mode != "attributes") {
    throw UsageError("--mode=" + options.mode + ": send, receive or attributes");
  }
  if (options.layer != "port" && options.layer != "device") {
    throw UsageError("--layer=" + options.layer + ": port or device");
  }
  if (options.size < kHeaders || options.size > 1514) {
    throw UsageError("--size: from 42 to 1514");
  }
  nlohmann::json result;
  if (options.mode == "attributes") {
    result = Attributes();
  } else {
    options.device.ChooseSimulator();
    result = Measure(options);
    ns3::Simulator::Destroy();
  }
  std::printf("%s\n", JsonText(result).c_str());
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) {
  return viaduct::bench::ExitStatusOf("device-rate",
                                      [&] { return viaduct::bench::Main(argc, argv); });
}
