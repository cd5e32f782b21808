// Devices of ns-3 on a real interface, as the programs of the benchmark `device` choose them:
// ns-3's own FdNetDevice under RealtimeSimulatorImpl, or RingNetDevice under ReactorSimulatorImpl.
#pragma once

#include <sys/resource.h>

#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3_interface.h"
#include "ns3_ring_interface.h"

namespace viaduct::bench {

struct DeviceChoice {
  std::string kind = "ring";  // fd or ring
  std::string interface;
  std::string attributes;  // attributes of RingNetDevice, "Name=Value,Name=Value"

  void AddOptions(ns3::CommandLine& command) {
    command.AddValue("device", "fd (ns-3's own) or ring", kind);
    command.AddValue("interface", "the real interface", interface);
    command.AddValue("set", "attributes of RingNetDevice: Name=Value,Name=Value", attributes);
  }
  bool IsOwn() const { return kind == "ring"; }

  // Must be called first. Throws UsageError.
  void ChooseSimulator() const {
    if (kind != "fd" && kind != "ring") throw UsageError("--device=" + kind + ": fd or ring");
    ns3::GlobalValue::Bind(
        "SimulatorImplementationType",
        ns3::StringValue(IsOwn() ? "ns3::ReactorSimulatorImpl" : "ns3::RealtimeSimulatorImpl"));
  }
};

// A device of the node on the interface; `socket` gets FdNetDevice's. Throws UsageError for an
// attribute that there is not.
inline ns3::Ptr<ns3::NetDevice> AddDevice(const DeviceChoice& choice, ns3::Ptr<ns3::Node> node,
                                          int* socket = nullptr) {
  if (!choice.IsOwn()) {
    const int opened = OpenBoundPacketSocket(choice.interface).release();
    if (socket != nullptr) *socket = opened;
    auto device = ns3::CreateObject<ns3::FdNetDevice>();
    device->SetFileDescriptor(opened);
    node->AddDevice(device);
    return device;
  }
  auto device = ns3::CreateObjectWithAttributes<ns3::RingNetDevice>(
      "Interface", ns3::StringValue(choice.interface));
  SetAttributes(device, choice.attributes);
  node->AddDevice(device);
  return device;
}

// CPU time of this process so far, seconds.
inline double ProcessorSeconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// Samples a count that grows while something arrives: its rate from the first sample that saw it
// grow to the last one, and whether it has come to rest.
class ArrivalWatch {
 public:
  // `start`: what arrives so soon after the first arrival does not count.
  explicit ArrivalWatch(Duration start = {}) : skip_(start) {}

  // Returns true once nothing more has arrived for a while, or nothing at all for long.
  bool Poll(uint64_t count) {
    const Instant now = MonotonicClock::Now();
    if (count != last_.count) {
      last_ = {count, now, ProcessorSeconds()};
      if (began_ == Instant()) began_ = now;
      if (first_.at == Instant() && now - began_ >= skip_) first_ = last_;
    }
    return count > 0 ? now - last_.at > kQuiet : now - made_ > kTimeout;
  }
  double Seconds() const { return first_.at == Instant() ? 0 : (last_.at - first_.at).ToSeconds(); }
  // Both within those seconds.
  uint64_t Count() const { return first_.at == Instant() ? 0 : last_.count - first_.count; }
  double Processor() const { return last_.processor - first_.processor; }

 private:
  static constexpr Duration kQuiet = Duration::Milliseconds(400);
  static constexpr Duration kTimeout = Duration::Milliseconds(10000);
  struct Seen {
    uint64_t count = 0;
    Instant at;
    double processor = 0;
  };
  Duration skip_;
  Instant made_ = MonotonicClock::Now(), began_;
  Seen first_, last_;
};

}  // namespace viaduct::bench
