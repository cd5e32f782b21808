// The network of ns3-dumbbell: senders, a left router, a bottleneck, a right router and receivers.
// Each path has its own routers and its own bottleneck.
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

// A dumbbell with one or several paths, each with separate routers. On path p sender i has the
// address 10.p.0.1 + 4 i and receiver i the address 10.(100+p).0.1 + 4 i. All links except the
// bottlenecks are point-to-point links of 1 Gbit/s with a delay of 10 us.
class Dumbbell {
 public:
  explicit Dumbbell(const DumbbellOptions& options);
  ~Dumbbell();

  ns3::NodeContainer senders, receivers;
  ns3::NodeContainer routers;  // left and right of path 0, left and right of path 1, ...
  ns3::NodeContainer nodes;    // senders, routers and receivers

  // Returns the address of the flow's receiver on the first path.
  ns3::Ipv4Address ReceiverAddress(uint32_t flow) const;
  // Returns all devices except loopback devices.
  std::vector<ns3::Ptr<ns3::NetDevice>> Devices() const;
  // Return the devices at which the data of path 0, and its acknowledgements, arrive after the
  // bottleneck.
  ns3::Ptr<ns3::NetDevice> data_end() const { return bottleneck_.Get(1); }
  ns3::Ptr<ns3::NetDevice> acknowledgement_end() const { return bottleneck_.Get(0); }
  // Returns the kernel's release, e.g. "6.12.117"; empty with ns-3's own stack.
  std::string KernelRelease() const;
  // Returns the output of "tc -s qdisc" for the kernel router's device at the end of the run; empty
  // if it was not requested.
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
  // The devices at the left and the right end of path 0's bottleneck.
  ns3::NetDeviceContainer bottleneck_;
  ns3::Ptr<ns3::KernelApplication> statistics_;
};

}  // namespace viaduct::bench
