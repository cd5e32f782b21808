// The command line of ns3-dumbbell.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ns3/nstime.h"

namespace viaduct::bench {

struct DumbbellOptions {
  std::string stack = "kernel";  // the hosts' stack: ns3, kernel or kernel:VERSION
  std::string kernel;            // VERSION; empty: the newest kernel
  std::string routers = "same";  // the routers' stack: same (as the hosts') or ns3
  std::string transport = "tcp";
  // Congestion controls of flows 0, 1, ...; repeated if there are more flows.
  std::vector<std::string> congestion = {"cubic"};
  uint32_t flows = 2;
  uint32_t paths = 1;  // disjoint paths from each sender to its receiver
  std::string rate_app = "1Mbps";
  uint32_t write = 512;     // bytes that the application writes in one call
  uint32_t segment = 1448;  // bytes of payload in a segment; 0: ns-3's default, 536
  std::string link = "path";
  std::string bottleneck = "2Mbps";
  ns3::Time delay = ns3::MilliSeconds(100);
  double loss = 0.05;
  std::string queue = "100p";
  ns3::Time duration = ns3::Seconds(60);
  ns3::Time start = ns3::MilliSeconds(100);
  ns3::Time interval = ns3::Seconds(0);  // interval of the goodput series; 0: none
  uint32_t run = 1;
  uint32_t guests = 1;
  std::vector<std::pair<std::string, std::string>> sysctls;
  bool checksum = true;
  bool hash = false;
  std::string pcap;

  bool is_kernel() const { return stack != "ns3"; }
  bool has_kernel_routers() const { return is_kernel() && routers == "same"; }
  bool bulk() const { return rate_app == "0"; }
};

// Parses the command line. Throws UsageError with the name of the invalid option.
DumbbellOptions ParseDumbbellOptions(int argc, char** argv);

}  // namespace viaduct::bench
