// Senders and receivers on the two sides of a bottleneck, with ns-3's own TCP or with real kernels
// in virtual time: the experiments of the benchmark `kernelstack`, and an experiment for trying out
// kernels.
//
//   ns3-dumbbell --stack=kernel --flows=2 --bottleneck=2Mbps --delay=100ms --loss=0.05 --run=7
//
// Topology, devices, losses and applications are the same with every stack. Prints one JSON object;
// --help lists the options.
#include <array>
#include <cstdint>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/text/json_text.h"
#include "dumbbell_network.h"
#include "dumbbell_options.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/kernel-calendar.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"
#include "process_use.h"

namespace {

using nlohmann::json;
using viaduct::Instant;
using viaduct::MonotonicClock;
using viaduct::bench::Dumbbell;
using viaduct::bench::DumbbellOptions;

constexpr uint16_t kPort = 5001;

double SecondsSince(Instant start) { return (MonotonicClock::Now() - start).ToSeconds(); }

// A hash of bytes: FNV-1a, 64 bits.
class Hash {
 public:
  void Add(const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    for (size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3ULL;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325ULL;
};

// Counts, and if requested hashes, every frame that the devices receive.
class FrameWatch {
 public:
  FrameWatch(const Dumbbell& network, bool hash, Instant program_start)
      : hashing_(hash), start_(program_start) {
    uint64_t number = 0;
    for (const auto& device : network.Devices()) {
      const int side = device == network.data_end()              ? kData
                       : device == network.acknowledgement_end() ? kAcknowledgements
                                                                 : kOther;
      device->TraceConnectWithoutContext(
          "MacRx", ns3::Callback<void, ns3::Ptr<const ns3::Packet>>(
                       [this, side, number](ns3::Ptr<const ns3::Packet> frame) {
                         Saw(number, side, *frame);
                       }));
      ++number;
    }
  }

  uint64_t frames() const { return frames_; }
  uint64_t data_frames() const { return by_side_[kData]; }
  uint64_t acknowledgement_frames() const { return by_side_[kAcknowledgements]; }
  double first_seconds() const { return first_seconds_; }
  uint64_t hash() const { return hash_.value(); }

 private:
  enum Side : uint8_t { kOther, kData, kAcknowledgements };

  void Saw(uint64_t device, int side, const ns3::Packet& frame) {
    if (frames_++ == 0) first_seconds_ = SecondsSince(start_);
    ++by_side_[side];
    if (!hashing_) return;
    const int64_t now = ns3::Simulator::Now().GetNanoSeconds();
    const uint64_t size = frame.CopyData(buffer_.data(), buffer_.size());
    hash_.Add(&device, sizeof device);
    hash_.Add(&now, sizeof now);
    hash_.Add(&size, sizeof size);
    hash_.Add(buffer_.data(), size);
  }

  bool hashing_;
  Instant start_;
  uint64_t frames_ = 0;
  std::array<uint64_t, 3> by_side_{};
  double first_seconds_ = 0;
  Hash hash_;
  std::array<uint8_t, 65536> buffer_{};
};

std::string SocketFactory(const DumbbellOptions& options) {
  if (options.transport == "tcp") return "ns3::TcpSocketFactory";  // the node's TCP: ns-3 or Linux
  if (options.transport == "udp") return "ns3::UdpSocketFactory";
  if (options.transport == "dccp") return "ns3::KernelDccpSocketFactory";
  if (options.transport == "sctp") return "ns3::KernelSctpSocketFactory";
  return "ns3::KernelMptcpSocketFactory";
}

class Traffic {
 public:
  Traffic(const DumbbellOptions& options, const Dumbbell& network) : options_(options) {
    const std::string factory = SocketFactory(options);
    ns3::PacketSinkHelper sink(factory, ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kPort));
    for (uint32_t flow = 0; flow < options.flows; ++flow) {
      sinks_.push_back(
          ns3::DynamicCast<ns3::PacketSink>(sink.Install(network.receivers.Get(flow)).Get(0)));
      const ns3::InetSocketAddress to(network.ReceiverAddress(flow), kPort);
      auto source = Install(factory, to, network.senders.Get(flow));
      source.Start(options.start);
      source.Stop(options.start + options.duration);
    }
    series_.resize(options.flows);
    if (options.interval.IsStrictlyPositive()) {
      ns3::Simulator::Schedule(options.start + options.interval, &Traffic::Sample, this);
    }
  }

  std::vector<double> Goodputs() const {
    std::vector<double> goodputs;
    for (const auto& sink : sinks_) {
      goodputs.push_back(8 * static_cast<double>(sink->GetTotalRx()) /
                         options_.duration.GetSeconds());
    }
    return goodputs;
  }
  // Returns the goodput of each flow in each interval, bit/s.
  const std::vector<std::vector<double>>& series() const { return series_; }

 private:
  ns3::ApplicationContainer Install(const std::string& factory, const ns3::Address& to,
                                    ns3::Ptr<ns3::Node> node) const {
    if (options_.bulk()) {
      ns3::BulkSendHelper source(factory, to);
      source.SetAttribute("SendSize", ns3::UintegerValue(16384));
      return source.Install(node);
    }
    ns3::OnOffHelper source(factory, to);
    source.SetConstantRate(ns3::DataRate(options_.rate_app), options_.write);
    return source.Install(node);
  }

  void Sample() {
    for (size_t flow = 0; flow < sinks_.size(); ++flow) {
      auto& values = series_[flow];
      values.push_back(8 * static_cast<double>(sinks_[flow]->GetTotalRx() - sampled_[flow]) /
                       options_.interval.GetSeconds());
      sampled_[flow] = sinks_[flow]->GetTotalRx();
    }
    ns3::Simulator::Schedule(options_.interval, &Traffic::Sample, this);
  }

  const DumbbellOptions& options_;
  std::vector<ns3::Ptr<ns3::PacketSink>> sinks_;
  std::vector<std::vector<double>> series_;
  std::map<size_t, uint64_t> sampled_;
};

json KernelReport(const Dumbbell& network) {
  const auto& counters = ns3::KernelCalendar::Get()->GetCalendar().counters();
  json report = {{"release", network.KernelRelease()},
                 {"runs", counters.runs},
                 {"messages", counters.messages},
                 {"interrupts", counters.interrupts}};
  if (const std::string text = network.QdiscStatistics(); !text.empty()) {
    report["qdisc"] = json::parse(text, nullptr, false);
  }
  return report;
}

json Run(const DumbbellOptions& options, Instant program_start) {
  ns3::RngSeedManager::SetRun(options.run);
  const Dumbbell network(options);
  const Traffic traffic(options, network);
  const FrameWatch watch(network, options.hash, program_start);

  const double setup = SecondsSince(program_start);
  double booted = setup;
  viaduct::bench::ProcessUse use_booted;
  // This event is the first after all nodes have been initialized and all kernels have booted.
  ns3::Simulator::Schedule(ns3::NanoSeconds(1), [&] {
    use_booted = viaduct::bench::MeasureFamily();
    booted = SecondsSince(program_start);
  });
  // The simulation stops 1 ns after the last sample of the series, so that the sample is taken.
  ns3::Simulator::Stop(options.start + options.duration + ns3::NanoSeconds(1));
  ns3::Simulator::Run();
  const double ended = SecondsSince(program_start);
  const auto use = viaduct::bench::MeasureFamily();

  const auto goodputs = traffic.Goodputs();
  double total = 0;
  for (const double goodput : goodputs) total += goodput;
  json report = {
      {"stack", options.stack},
      {"transport", options.transport},
      {"run", options.run},
      {"nodes", network.nodes.GetN()},
      {"simulated_seconds", (options.start + options.duration).GetSeconds()},
      {"goodput_bit_per_s", goodputs},
      {"mean_goodput_bit_per_s", total / options.flows},
      {"frames", watch.frames()},
      {"segments", watch.data_frames()},
      {"acknowledgements", watch.acknowledgement_frames()},
      {"setup_seconds", setup},
      {"boot_seconds", booted - setup},
      {"first_frame_seconds", watch.first_seconds()},
      {"run_seconds", ended - booted},
      {"run_user_seconds", use.user_seconds - use_booted.user_seconds},
      {"run_system_seconds", use.system_seconds - use_booted.system_seconds},
      {"frames_per_second", static_cast<double>(watch.frames()) / (ended - booted)},
      {"pss_mib", use.pss_mib},
      {"pss_mib_per_node", use.pss_mib / network.nodes.GetN()},
      {"processes", use.processes},
  };
  if (options.is_kernel()) report["kernel"] = KernelReport(network);
  if (options.interval.IsStrictlyPositive()) report["series_bit_per_s"] = traffic.series();
  if (options.hash) report["hash"] = watch.hash();
  return report;
}

}  // namespace

int main(int argc, char** argv) {
  const Instant start = MonotonicClock::Now();
  try {
    const auto options = viaduct::bench::ParseDumbbellOptions(argc, argv);
    std::cout << viaduct::JsonText(Run(options, start)) << "\n";
    ns3::Simulator::Destroy();
    return 0;
  } catch (const viaduct::Error& error) {
    std::cerr << "ns3-dumbbell: " << error.what() << std::endl;
    ns3::Simulator::Destroy();
    return static_cast<int>(error.status());
  }
}
