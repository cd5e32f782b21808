// The ns-3 device on a real interface that the programs of the benchmark `device` select by an
// option: ns-3's own FdNetDevice with RealtimeSimulatorImpl, or RingNetDevice with
// ReactorSimulatorImpl.
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

  // Selects the simulator implementation; must be called before any other use of ns-3. Throws
  // UsageError.
  void ChooseSimulator() const {
    if (kind != "fd" && kind != "ring") throw UsageError("--device=" + kind + ": fd or ring");
    ns3::GlobalValue::Bind(
        "SimulatorImplementationType",
        ns3::StringValue(IsOwn() ? "ns3::ReactorSimulatorImpl" : "ns3::RealtimeSimulatorImpl"));
  }
};

// Adds a device on the interface to the node; sets `socket` to the socket of an FdNetDevice. Throws
// UsageError for an attribute that does not exist.
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

// Returns the CPU time that this process has used so far, in seconds.
inline double ProcessorSeconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// Samples a counter that grows while frames or bytes arrive. Determines by how much the counter has
// grown, the time from the first to the last sample at which it had grown, and whether it has
// stopped growing.
class ArrivalWatch {
 public:
  // `start`: the duration after the first arrival in which arrivals are not counted.
  explicit ArrivalWatch(Duration start = {}) : skip_(start) {}

  // Returns true if arrivals have stopped for kQuiet, or if nothing has arrived within kTimeout.
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
  // The number of arrivals, and the CPU time used, during the time that Seconds() returns.
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
