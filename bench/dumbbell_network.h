// The network of ns3-dumbbell: senders, a router, one or several bottlenecks, a router, receivers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dumbbell_options.h"
#include "ns3/ipv4-address.h"
#include "ns3/kernel-application.h"
#include "ns3/kernel-stack-helper.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"

namespace viaduct::bench {

// Path p has separate routers. Sender i has the address 10.p.i.1, receiver i 10.(100+p).i.1 on it
// (i in base 250: the third byte, with the fourth stepped by 4 beyond). All links but the
// bottlenecks are point-to-point ones of 1 Gbit/s, and 10 us long.
class Dumbbell {
 public:
  explicit Dumbbell(const DumbbellOptions& options);
  ~Dumbbell();

  ns3::NodeContainer senders, receivers;
  ns3::NodeContainer routers;  // left, right of path 0, left, right of path 1, ...
  ns3::NodeContainer nodes;    // all of them

  // Returns the address of the flow's receiver on the first path.
  ns3::Ipv4Address ReceiverAddress(uint32_t flow) const;
  // Every device but loopback ones.
  std::vector<ns3::Ptr<ns3::NetDevice>> Devices() const;
  // The devices at which the data of path 0 and its acknowledgements arrive after the bottleneck.
  ns3::Ptr<ns3::NetDevice> data_end() const { return bottleneck_.Get(1); }
  ns3::Ptr<ns3::NetDevice> acknowledgement_end() const { return bottleneck_.Get(0); }
  // The kernel's release, e.g. "6.12.117"; empty: ns-3's own stack.
  std::string KernelRelease() const;
  // The output of "tc -s qdisc" for the kernel router's device at the end; empty: not requested.
  std::string QdiscStatistics() const;

 private:
  void InstallStacks();
  void InstallKernel(const ns3::NodeContainer& on);
  void InstallNs3(const ns3::NodeContainer& on);
  void SetCongestionControl();
  void MakePath(uint32_t path);
  void Join(ns3::Ptr<ns3::Node> host, ns3::Ptr<ns3::Node> router, uint32_t network,
            uint32_t number);
  ns3::NetDeviceContainer MakeBottleneck(ns3::Ptr<ns3::Node> left, ns3::Ptr<ns3::Node> right);
  void SetQueue();
  void AnnounceMptcpAddresses();
  ns3::Ptr<ns3::KernelApplication> RunTool(ns3::Ptr<ns3::Node> node,
                                           const std::vector<std::string>& words, ns3::Time at);

  DumbbellOptions options_;
  std::unique_ptr<ns3::KernelStackHelper> kernel_;
  ns3::NetDeviceContainer bottleneck_;  // devices of path 0, left and right
  ns3::Ptr<ns3::KernelApplication> statistics_;
};

}  // namespace viaduct::bench
