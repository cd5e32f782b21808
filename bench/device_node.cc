// One of two ns-3 nodes that are connected back to back, each a process with a device on a real
// interface: a program of the benchmark `device`. The source has an OnOffApplication (UDP) or
// BulkSendApplication (TCP) and pings the sink; the sink has a PacketSink.
//
//   device-node --role=sink --interface=eth0 --device=ring
//   device-node --role=source --interface=eth0 --device=ring --traffic=tcp --duration=3s
//               --disc=PfifoFast --flow-control --bql --trace=backlog.csv
//
// The source has the address 10.1.1.1, the sink 10.1.1.2. The sink exits when nothing has arrived
// for a while. Each prints JSON.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text/json_text.h"
#include "ns3/applications-module.h"
#include "ns3/internet-apps-module.h"
#include "ns3/internet-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3_device.h"
#include "program.h"

namespace viaduct::bench {
namespace {

constexpr const char *kSource = "10.1.1.1", *kSink = "10.1.1.2";
constexpr uint16_t kPort = 9;
const ns3::Time kGrace = ns3::MilliSeconds(200);
constexpr uint32_t kSegment = 1448;

struct Options {
  DeviceChoice device;
  std::string role, traffic = "udp", disc, trace;
  bool flow_control = false, bql = false;
  std::string rate = "2Gbps";
  uint32_t size = 1472;  // bytes of UDP payload in a packet
  ns3::Time duration = ns3::Seconds(2), warm_up = ns3::Seconds(0.5);
  uint32_t buffer = 0;  // size of TCP's send and receive buffers in bytes; 0: ns-3's default
  bool IsSource() const { return role == "source"; }
};

Options Parse(int argc, char** argv) {
  Options options;
  ns3::CommandLine command(__FILE__);
  options.device.AddOptions(command);
  command.AddValue("role", "source or sink", options.role);
  command.AddValue("traffic", "udp or tcp", options.traffic);
  command.AddValue("disc", "ns3::NAMEQueueDisc above the source's device; empty: none",
                   options.disc);
  command.AddValue("flow-control", "RingNetDevice stops its queue", options.flow_control);
  command.AddValue("bql", "ns3::DynamicQueueLimits", options.bql);
  command.AddValue("rate", "of UDP", options.rate);
  command.AddValue("size", "UDP payload, bytes", options.size);
  command.AddValue("duration", "of the traffic", options.duration);
  command.AddValue("warm-up", "how much of that does not count", options.warm_up);
  command.AddValue("buffer", "TCP's, bytes; 0: ns-3's default", options.buffer);
  command.AddValue("trace", "a file for what stood where every millisecond", options.trace);
  command.Parse(argc, argv);
  if (options.role != "source" && options.role != "sink") {
    throw UsageError("--role=" + options.role + ": source or sink");
  }
  if (options.traffic != "udp" && options.traffic != "tcp") {
    throw UsageError("--traffic=" + options.traffic + ": udp or tcp");
  }
  if (options.flow_control) {
    const std::string other = options.device.attributes;
    options.device.attributes = other + (other.empty() ? "" : ",") + "FlowControl=true";
  }
  return options;
}

// Samples every millisecond the number of the source's bytes in the queue disc and in the device
// below it.
class Backlog {
 public:
  Backlog(const Options& options, ns3::Ptr<ns3::NetDevice> device, ns3::Ptr<ns3::QueueDisc> disc)
      : from_(options.warm_up), ring_(ns3::DynamicCast<ns3::RingNetDevice>(device)), disc_(disc) {
    if (!options.trace.empty()) file_.open(options.trace);
    file_ << "seconds,disc_bytes,below_bytes\n";
    Next();
  }
  // Sets the wall-clock time at which the simulation stops.
  void StopAt(Instant end) { end_ = end; }
  nlohmann::json Report() const {
    const double n = std::max<double>(samples_, 1);
    nlohmann::json result = {{"disc_bytes", in_disc_ / n}, {"disc_bytes_max", most_}};
    // FdNetDevice cannot report the number of bytes that wait below the queue disc.
    if (ring_) {
      result["below_bytes"] = below_ / n;
      if (in_disc_ + below_ > 0) result["visible"] = in_disc_ / (in_disc_ + below_);
    }
    if (disc_) {
      const auto& stats = disc_->GetStats();
      result["disc_drops"] = stats.nTotalDroppedPackets;
      result["disc_requeued"] = stats.nTotalRequeuedPackets;
    }
    return result;
  }

 private:
  void Next() {
    ns3::Simulator::Schedule(ns3::MilliSeconds(1), [this] {
      Poll();
      if (MonotonicClock::Now() >= end_) return ns3::Simulator::Stop();
      Next();
    });
  }
  void Poll() {
    const double disc = disc_ ? disc_->GetNBytes() : 0;
    // The device counts bytes only with flow control, so the larger of the numbers that the device
    // and its port report is used.
    const double below =
        ring_ ? std::max<size_t>(ring_->GetBytesInFlight(), ring_->GetPort()->BytesInFlight()) : 0;
    file_ << ns3::Simulator::Now().GetSeconds() << ',' << disc << ',';
    if (ring_) file_ << below;
    file_ << '\n';
    if (ns3::Simulator::Now() < from_) return;
    in_disc_ += disc;
    below_ += below;
    most_ = std::max(most_, disc);
    ++samples_;
  }

  ns3::Time from_;
  Instant end_;
  ns3::Ptr<ns3::RingNetDevice> ring_;
  ns3::Ptr<ns3::QueueDisc> disc_;
  std::ofstream file_;
  double in_disc_ = 0, below_ = 0, most_ = 0;
  uint64_t samples_ = 0;
};

// The round trip times of a ping.
struct RoundTrips {
  std::vector<double> ms;

  nlohmann::json Report() {
    std::sort(ms.begin(), ms.end());
    if (ms.empty()) return {{"pings", 0}};
    const auto at = [this](double share) {
      return ms[static_cast<size_t>(share * static_cast<double>(ms.size() - 1))];
    };
    return {{"pings", ms.size()}, {"rtt_ms", at(0.5)}, {"rtt_p95_ms", at(0.95)}};
  }
};

const char* FactoryOf(const Options& options) {
  return options.traffic == "udp" ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory";
}

ns3::Ptr<ns3::QueueDisc> InstallDisc(const Options& options, ns3::Ptr<ns3::NetDevice> device) {
  if (options.disc.empty()) return nullptr;
  ns3::TrafficControlHelper control;
  control.SetRootQueueDisc("ns3::" + options.disc + "QueueDisc");
  if (options.bql) control.SetQueueLimits("ns3::DynamicQueueLimits");
  return control.Install(device).Get(0);
}

nlohmann::json RunSource(const Options& options, ns3::Ptr<ns3::Node> node,
                         ns3::Ptr<ns3::NetDevice> device, ns3::Ptr<ns3::QueueDisc> disc) {
  using namespace ns3;
  // The traffic starts after the first pings: the sink's MAC address is known then.
  const Time begin = Seconds(0.3), end = begin + options.duration;
  ApplicationContainer traffic;
  const InetSocketAddress sink(Ipv4Address(kSink), kPort);
  if (options.traffic == "udp") {
    OnOffHelper onoff(FactoryOf(options), sink);
    onoff.SetConstantRate(DataRate(options.rate), options.size);
    traffic = onoff.Install(node);
  } else {
    BulkSendHelper bulk(FactoryOf(options), sink);
    bulk.SetAttribute("SendSize", UintegerValue(10 * kSegment));
    traffic = bulk.Install(node);
  }
  traffic.Start(begin);
  traffic.Stop(end);
  uint64_t packets = 0, bytes = 0;
  traffic.Get(0)->TraceConnectWithoutContext(
      "Tx", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet> packet) {
        ++packets;
        bytes += packet->GetSize();
      }));
  RoundTrips trips;
  PingHelper helper{Ipv4Address(kSink)};
  helper.SetAttribute("Interval", TimeValue(MilliSeconds(20)));
  helper.SetAttribute("VerboseMode", EnumValue(Ping::SILENT));
  ApplicationContainer ping = helper.Install(node);
  ping.Start(MilliSeconds(50));
  ping.Stop(end);
  ping.Get(0)->TraceConnectWithoutContext("Rtt",
                                          Callback<void, uint16_t, Time>([&](uint16_t, Time rtt) {
                                            if (Simulator::Now() > begin + options.warm_up)
                                              trips.ms.push_back(1e3 * rtt.GetSeconds());
                                          }));
  uint64_t refused = 0;
  if (auto fd = DynamicCast<FdNetDevice>(device)) {
    fd->TraceConnectWithoutContext(
        "MacTxDrop", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { ++refused; }));
  }
  Backlog backlog(options, device, disc);
  // The grace period lets the last packets arrive. StopAt() makes a simulation that is late because
  // of overload end after the same duration of wall-clock time.
  Simulator::Stop(end + kGrace);
  backlog.StopAt(MonotonicClock::Now() + Duration::Nanoseconds((end + kGrace).GetNanoSeconds()));
  Simulator::Run();
  if (auto ring = DynamicCast<RingNetDevice>(device)) refused = ring->GetTotalDrops();
  nlohmann::json result = {{"sent_packets", packets},
                           {"sent_bytes", bytes},
                           {"device_drops", refused},
                           {"cpu_seconds", ProcessorSeconds()}};
  result.update(backlog.Report());
  result.update(trips.Report());
  return result;
}

class Sink {
 public:
  Sink(const Options& options, ns3::Ptr<ns3::Node> node)
      : watch_(Duration::Nanoseconds(options.warm_up.GetNanoSeconds())) {
    ns3::PacketSinkHelper helper(FactoryOf(options),
                                 ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kPort));
    auto application = helper.Install(node);
    application.Start(ns3::Seconds(0));
    application.Get(0)->TraceConnectWithoutContext(
        "Rx", ns3::Callback<void, ns3::Ptr<const ns3::Packet>, const ns3::Address&>(
                  [this](ns3::Ptr<const ns3::Packet> packet, const ns3::Address&) {
                    ++packets_;
                    bytes_ += packet->GetSize();
                  }));
  }
  nlohmann::json Run(ns3::Ptr<ns3::NetDevice> device) {
    ns3::Simulator::Schedule(ns3::MilliSeconds(20), [this] {
      std::fputs("ready\n", stderr);
      std::fflush(stderr);
      Poll();
    });
    ns3::Simulator::Run();
    nlohmann::json result = {{"received_packets", packets_},
                             {"received_bytes", bytes_},
                             {"window_bytes", watch_.Count()},
                             {"seconds", watch_.Seconds()},
                             {"cpu_seconds", watch_.Processor()}};
    if (auto ring = ns3::DynamicCast<ns3::RingNetDevice>(device)) {
      result["device_drops"] = ring->GetTotalDrops();
      result["kernel_drops"] = ring->GetPort()->Counters().rx_dropped_ring_full;
    }
    return result;
  }

 private:
  void Poll() {
    if (watch_.Poll(bytes_)) return ns3::Simulator::Stop();
    ns3::Simulator::Schedule(ns3::MilliSeconds(5), [this] { Poll(); });
  }
  ArrivalWatch watch_;
  uint64_t packets_ = 0, bytes_ = 0;
};

nlohmann::json Measure(const Options& options) {
  using namespace ns3;
  GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
  // The ARP queue is long, because opening the device may take longer than the time until the
  // traffic starts: the first packet, a TCP SYN, then waits behind pings for the sink's MAC
  // address, and would otherwise be dropped and sent again only after 3 s.
  Config::SetDefault("ns3::ArpCache::PendingQueueSize", UintegerValue(1000));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
  if (options.buffer != 0) {
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(options.buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(options.buffer));
  }
  auto node = CreateObject<Node>();
  auto device = AddDevice(options.device, node);
  device->SetAddress(Mac48Address(options.IsSource() ? "02:00:00:00:ff:01" : "02:00:00:00:ff:02"));
  InternetStackHelper().Install(node);
  const Ptr<QueueDisc> disc = InstallDisc(options, device);
  auto ipv4 = node->GetObject<Ipv4>();
  const uint32_t interface = ipv4->AddInterface(device);
  ipv4->AddAddress(interface, {options.IsSource() ? kSource : kSink, Ipv4Mask("255.255.255.0")});
  ipv4->SetUp(interface);
  if (options.IsSource()) return RunSource(options, node, device, disc);
  return Sink(options, node).Run(device);
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) {
  return viaduct::bench::ExitStatusOf("device-node", [&] {
    const auto options = viaduct::bench::Parse(argc, argv);
    options.device.ChooseSimulator();
    const nlohmann::json result = viaduct::bench::Measure(options);
    ns3::Simulator::Destroy();
    std::printf("%s\n", viaduct::JsonText(result).c_str());
    return 0;
  });
}
