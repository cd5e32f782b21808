#include "dumbbell_options.h"

#include <algorithm>
#include <initializer_list>
#include <sstream>

#include "base/error.h"
#include "ns3/command-line.h"

namespace viaduct::bench {
namespace {

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

void RequireOneOf(const std::string& option, const std::string& value,
                  std::initializer_list<const char*> known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  std::string names;
  for (const char* name : known) names += (names.empty() ? "" : ", ") + std::string(name);
  throw UsageError("--" + option + "=" + value + ": one of " + names);
}

// Returns a callback that stores the complete text of an option; CommandLine itself would store
// only the first word.
ns3::Callback<bool, const std::string&> Into(std::string& text) {
  return [&text](const std::string& value) {
    text = value;
    return true;
  };
}

void Require(bool holds, const std::string& text) {
  if (!holds) throw UsageError(text);
}

void Check(const DumbbellOptions& options) {
  RequireOneOf("transport", options.transport, {"tcp", "dccp", "sctp", "mptcp", "udp"});
  RequireOneOf("routers", options.routers, {"same", "ns3"});
  RequireOneOf("link", options.link, {"path", "p2p"});
  Require(options.stack == "ns3" || options.stack == "kernel" ||
              options.stack == "kernel:" + options.kernel,
          "--stack=" + options.stack + ": ns3, kernel or kernel:VERSION");
  Require(options.is_kernel() || options.transport == "tcp" || options.transport == "udp",
          "--transport=" + options.transport + ": ns-3 has none of its own; use --stack=kernel");
  Require(options.flows >= 1 && options.flows <= 16000, "--flows: 1 to 16000");
  Require(options.paths >= 1 && options.paths <= 8, "--paths: 1 to 8");
  Require(options.loss >= 0 && options.loss < 1, "--loss: a probability below 1");
  Require(!options.congestion.empty(), "--congestion: a name, or several with commas between");
  Require(options.duration.IsStrictlyPositive(), "--duration: more than 0");
  Require(!options.start.IsStrictlyNegative() && !options.interval.IsStrictlyNegative(),
          "--start, --interval: not below 0");
}

}  // namespace

DumbbellOptions ParseDumbbellOptions(int argc, char** argv) {
  DumbbellOptions options;
  std::string congestion = "cubic", sysctls;
  ns3::CommandLine line("ns3-dumbbell");
  line.AddValue("stack", "ns3, kernel or kernel:VERSION (viaduct kernel list)", options.stack);
  line.AddValue("routers", "the routers' stack: same (as the hosts') or ns3", options.routers);
  line.AddValue("transport", "tcp, dccp, sctp, mptcp or udp", options.transport);
  line.AddValue("congestion",
                "congestion control of TCP: cubic, bbr, reno...; a,b: alternating between flows",
                congestion);
  line.AddValue("flows", "number of senders, and of receivers", options.flows);
  line.AddValue("clients", "the same as flows", options.flows);
  line.AddValue("paths", "disjoint paths between each sender and its receiver", options.paths);
  line.AddValue("rate-app", "rate of an application; 0: as much as possible", options.rate_app);
  line.AddValue("write", "bytes of one write of an application", options.write);
  line.AddValue("segment", "MSS of ns-3's TCP; 0: its default", options.segment);
  line.AddValue(
      "link", "the routers' channel: path (PathChannel) or p2p (point-to-point and RateErrorModel)",
      options.link);
  line.AddValue("bottleneck", "rate of the link between the routers", options.bottleneck);
  line.AddValue("delay", "of that link", options.delay);
  line.AddValue("loss", "of that link's packets, in each direction", options.loss);
  line.AddValue("queue", "of that link: 100p, or a queueing discipline with its words, e.g. codel",
                Into(options.queue), options.queue);
  line.AddValue("duration", "of the traffic, virtual time", options.duration);
  line.AddValue("start", "of the traffic, virtual time", options.start);
  line.AddValue("interval", "print each flow's goodput in steps of this length; 0: do not print it",
                options.interval);
  line.AddValue("run", "number of the run (RngSeedManager::SetRun)", options.run);
  line.AddValue("guests", "number of kernels that the nodes are distributed over", options.guests);
  line.AddValue("sysctl", "of kernel nodes: NAME=VALUE;NAME=VALUE", Into(sysctls));
  line.AddValue("checksum", "ns-3's stack computes checksums, as a kernel does", options.checksum);
  line.AddValue("hash", "print a hash of all frames and the times they arrived", options.hash);
  line.AddValue("pcap", "prefix of capture files", options.pcap);
  line.Parse(argc, argv);
  options.congestion = Split(congestion, ',');
  for (const auto& setting : Split(sysctls, ';')) {
    const auto equals = setting.find('=');
    Require(equals != std::string::npos, "--sysctl: " + setting + " is not NAME=VALUE");
    options.sysctls.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  if (options.stack.rfind("kernel:", 0) == 0) options.kernel = options.stack.substr(7);
  Check(options);
  return options;
}

}  // namespace viaduct::bench
