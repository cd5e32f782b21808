#include "dumbbell_network.h"

#include <cctype>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/error-model.h"
#include "ns3/global-value.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/kernel-application-helper.h"
#include "ns3/kernel-node.h"
#include "ns3/loopback-net-device.h"
#include "ns3/path-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/pointer.h"
#include "ns3/string.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"

namespace viaduct::bench {
namespace {

using ns3::StringValue;
using ns3::UintegerValue;

// The second bytes of addresses: network 100+p has the receivers of path p, network 200 the
// bottlenecks.
constexpr uint32_t kReceivers = 100;
constexpr uint32_t kBottlenecks = 200;

// Returns the addresses of the host and of the router on link `number` of a network; each link is a
// /30.
std::pair<ns3::Ipv4Address, ns3::Ipv4Address> Addresses(uint32_t network, uint32_t number) {
  const uint32_t base = (10U << 24) | (network << 16) | (number << 2);
  return {ns3::Ipv4Address(base | 1), ns3::Ipv4Address(base | 2)};
}

bool IsPacketLimit(const std::string& queue) {
  return !queue.empty() && std::isdigit(static_cast<unsigned char>(queue.front())) != 0;
}

void SetAddress(ns3::Ptr<ns3::NetDevice> device, ns3::Ipv4Address address) {
  auto ipv4 = device->GetNode()->GetObject<ns3::Ipv4>();
  const uint32_t interface = ipv4->AddInterface(device);
  ipv4->AddAddress(interface, ns3::Ipv4InterfaceAddress(address, ns3::Ipv4Mask("/30")));
  ipv4->SetMetric(interface, 1);
  ipv4->SetUp(interface);
}

void AddRoute(ns3::Ptr<ns3::NetDevice> device, const char* network, const char* mask,
              ns3::Ipv4Address gateway) {
  auto ipv4 = device->GetNode()->GetObject<ns3::Ipv4>();
  ns3::Ipv4StaticRoutingHelper().GetStaticRouting(ipv4)->AddNetworkRouteTo(
      ns3::Ipv4Address(network), ns3::Ipv4Mask(mask), gateway,
      static_cast<uint32_t>(ipv4->GetInterfaceForDevice(device)));
}

// Returns ns-3's TypeId of the congestion control that Linux calls `name`.
ns3::TypeId CongestionControl(const std::string& name) {
  const std::string type = name == "cubic"  ? "TcpCubic"
                           : name == "bbr"  ? "TcpBbr"
                           : name == "reno" ? "TcpLinuxReno"
                                            : name;
  ns3::TypeId found;
  if (!ns3::TypeId::LookupByNameFailSafe("ns3::" + type, &found)) {
    throw UsageError("--congestion=" + name + ": ns-3 has no ns3::" + type);
  }
  return found;
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

Dumbbell::Dumbbell(const DumbbellOptions& options) : options_(options) {
  senders.Create(options.flows);
  receivers.Create(options.flows);
  routers.Create(2 * options.paths);
  for (const auto* some : {&senders, &routers, &receivers}) nodes.Add(*some);
  InstallStacks();
  SetCongestionControl();
  for (uint32_t path = 0; path < options.paths; ++path) MakePath(path);
  SetQueue();
  if (options.transport == "mptcp") AnnounceMptcpAddresses();
}

Dumbbell::~Dumbbell() = default;

void Dumbbell::InstallStacks() {
  ns3::NodeContainer kernels, others;
  (options_.is_kernel() ? kernels : others).Add(ns3::NodeContainer(senders, receivers));
  (options_.has_kernel_routers() ? kernels : others).Add(routers);
  if (kernels.GetN() > 0) InstallKernel(kernels);
  if (others.GetN() > 0) InstallNs3(others);
}

void Dumbbell::InstallKernel(const ns3::NodeContainer& on) {
  kernel_ = std::make_unique<ns3::KernelStackHelper>();
  kernel_->SetAttribute("Kernel", StringValue(options_.kernel));
  kernel_->SetGuests(options_.guests);
  for (const auto& [name, value] : options_.sysctls) kernel_->SetSysctl(name, value);
  kernel_->Install(on);
  if (!options_.pcap.empty()) ns3::KernelStackHelper::EnablePcap(options_.pcap, on);
}

void Dumbbell::InstallNs3(const ns3::NodeContainer& on) {
  ns3::GlobalValue::Bind("ChecksumEnabled", ns3::BooleanValue(options_.checksum));
  if (options_.segment != 0) {
    ns3::Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(options_.segment));
  }
  ns3::InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(on);
}

void Dumbbell::SetCongestionControl() {
  for (uint32_t flow = 0; flow < options_.flows; ++flow) {
    const std::string& name = options_.congestion[flow % options_.congestion.size()];
    for (auto node : {senders.Get(flow), receivers.Get(flow)}) {
      if (options_.is_kernel()) {
        node->GetObject<ns3::KernelNode>()->SetSysctl("net.ipv4.tcp_congestion_control", name);
      } else {
        node->GetObject<ns3::TcpL4Protocol>()->SetAttribute(
            "SocketType", ns3::TypeIdValue(CongestionControl(name)));
      }
    }
  }
}

void Dumbbell::Join(ns3::Ptr<ns3::Node> host, ns3::Ptr<ns3::Node> router, uint32_t network,
                    uint32_t number) {
  ns3::PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
  link.SetChannelAttribute("Delay", StringValue("10us"));
  const auto devices = link.Install(host, router);
  const auto [host_address, router_address] = Addresses(network, number);
  SetAddress(devices.Get(0), host_address);
  SetAddress(devices.Get(1), router_address);
  // Adds the host's route to the network at the far end of the path. A host on several paths
  // reaches that network by this path only.
  const std::string far =
      "10." + std::to_string(network < kReceivers ? network + kReceivers : network - kReceivers) +
      ".0.0";
  AddRoute(devices.Get(0), far.c_str(), "/16", router_address);
}

ns3::NetDeviceContainer Dumbbell::MakeBottleneck(ns3::Ptr<ns3::Node> left,
                                                 ns3::Ptr<ns3::Node> right) {
  const ns3::DataRate rate(options_.bottleneck);
  if (options_.link == "path") {
    std::ostringstream spec;
    spec << "delay=" << options_.delay.GetNanoSeconds() << "ns rate=" << rate.GetBitRate() << "bit";
    if (options_.loss > 0) spec << " loss=" << options_.loss;
    if (IsPacketLimit(options_.queue)) {
      spec << " queue=" << options_.queue;
    } else {
      spec << " aqm=" << options_.queue;
    }
    ns3::PathHelper path;
    for (const char* direction : {"Up", "Down"}) {
      path.SetChannelAttribute(direction, StringValue(spec.str()));
    }
    return path.Install(left, right);
  }
  ns3::PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", ns3::DataRateValue(rate));
  link.SetChannelAttribute("Delay", ns3::TimeValue(options_.delay));
  // If `queue` is a queue discipline, the device itself holds only the frame that it is sending.
  link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize",
                StringValue(IsPacketLimit(options_.queue) ? options_.queue : "1p"));
  const auto devices = link.Install(left, right);
  for (uint32_t i = 0; options_.loss > 0 && i < devices.GetN(); ++i) {
    auto errors = ns3::CreateObject<ns3::RateErrorModel>();
    errors->SetUnit(ns3::RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(options_.loss);
    errors->AssignStreams(1000 + i);
    devices.Get(i)->SetAttribute("ReceiveErrorModel", ns3::PointerValue(errors));
  }
  return devices;
}

void Dumbbell::MakePath(uint32_t path) {
  const auto left = routers.Get(2 * path), right = routers.Get(2 * path + 1);
  for (uint32_t flow = 0; flow < options_.flows; ++flow) {
    Join(senders.Get(flow), left, path, flow);
    Join(receivers.Get(flow), right, kReceivers + path, flow);
  }
  const auto devices = MakeBottleneck(left, right);
  const auto [left_address, right_address] = Addresses(kBottlenecks, path);
  SetAddress(devices.Get(0), left_address);
  SetAddress(devices.Get(1), right_address);
  AddRoute(devices.Get(0), "10.0.0.0", "/8", right_address);
  AddRoute(devices.Get(1), "10.0.0.0", "/8", left_address);
  if (path == 0) bottleneck_ = devices;
}

// Sets the queue discipline on the left router of path 0, where the data is queued. No other device
// has a discipline, because Ipv4AddressHelper, which would install ns-3's default discipline, is
// not used.
void Dumbbell::SetQueue() {
  if (IsPacketLimit(options_.queue) || options_.link != "p2p") return;
  const auto words = Words(options_.queue);
  const auto left = routers.Get(0);
  const auto device = bottleneck_.Get(0);
  if (!options_.has_kernel_routers()) {
    const std::string type = words.front() == "codel"      ? "ns3::CoDelQueueDisc"
                             : words.front() == "fq_codel" ? "ns3::FqCoDelQueueDisc"
                                                           : "ns3::" + words.front();
    ns3::TrafficControlHelper control;
    control.SetRootQueueDisc(type);
    control.Install(device);
    return;
  }
  // A kernel node's interfaces are named eth0, eth1, ... in the order of the node's devices.
  uint32_t index = 0;
  while (left->GetDevice(index) != device) ++index;
  bool loopback = ns3::DynamicCast<ns3::LoopbackNetDevice>(left->GetDevice(0)) != nullptr;
  const std::string name = "eth" + std::to_string(index - (loopback ? 1 : 0));
  std::vector<std::string> replace = {"tc", "qdisc", "replace", "dev", name, "root"};
  replace.insert(replace.end(), words.begin(), words.end());
  RunTool(left, replace, ns3::MilliSeconds(1));
  statistics_ = RunTool(left, {"tc", "-s", "-j", "qdisc", "show", "dev", name},
                        options_.start + options_.duration - ns3::MilliSeconds(1));
}

// Makes the receivers announce their other addresses, and the senders open a subflow to each of
// them (RFC 8684, 3.4.1).
void Dumbbell::AnnounceMptcpAddresses() {
  for (uint32_t flow = 0; flow < options_.flows; ++flow) {
    const std::string others = std::to_string(options_.paths - 1);
    for (auto node : {senders.Get(flow), receivers.Get(flow)}) {
      RunTool(node,
              {"ip", "mptcp", "limits", "set", "subflows", others, "add_addr_accepted", others},
              ns3::MilliSeconds(1));
    }
    for (uint32_t path = 1; path < options_.paths; ++path) {
      std::ostringstream address;
      address << Addresses(kReceivers + path, flow).first;
      RunTool(receivers.Get(flow), {"ip", "mptcp", "endpoint", "add", address.str(), "signal"},
              ns3::MilliSeconds(2));
    }
  }
}

ns3::Ptr<ns3::KernelApplication> Dumbbell::RunTool(ns3::Ptr<ns3::Node> node,
                                                   const std::vector<std::string>& words,
                                                   ns3::Time at) {
  auto applications = ns3::KernelApplicationHelper(words).Install(node);
  applications.Start(at);
  auto application = applications.Get(0)->GetObject<ns3::KernelApplication>();
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + word;
  application->TraceConnectWithoutContext(
      "Exit",
      ns3::Callback<void, int>([application = ns3::PeekPointer(application), line](int status) {
        if (status != 0) throw Error(line + " on a node: " + application->GetErrors());
      }));
  return application;
}

ns3::Ipv4Address Dumbbell::ReceiverAddress(uint32_t flow) const {
  return Addresses(kReceivers, flow).first;
}

std::vector<ns3::Ptr<ns3::NetDevice>> Dumbbell::Devices() const {
  std::vector<ns3::Ptr<ns3::NetDevice>> devices;
  for (uint32_t i = 0; i < nodes.GetN(); ++i) {
    for (uint32_t j = 0; j < nodes.Get(i)->GetNDevices(); ++j) {
      auto device = nodes.Get(i)->GetDevice(j);
      if (!ns3::DynamicCast<ns3::LoopbackNetDevice>(device)) devices.push_back(device);
    }
  }
  return devices;
}

std::string Dumbbell::KernelRelease() const {
  return kernel_ ? kernel_->GetGuests().front()->GetRelease() : "";
}

std::string Dumbbell::QdiscStatistics() const {
  return statistics_ ? statistics_->GetOutput() : "";
}

}  // namespace viaduct::bench
