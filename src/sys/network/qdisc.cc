#include "sys/network/qdisc.h"

#include <glob.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/wire/ethernet.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

using FillOptions = std::function<void(NetlinkMessage&)>;

tcmsg TrafficHeader(const QdiscPlace& place) {
  tcmsg header{};
  header.tcm_family = AF_UNSPEC;
  header.tcm_ifindex = place.ifindex;
  header.tcm_handle = place.handle;
  header.tcm_parent = place.parent;
  return header;
}

NetlinkMessage NewQdisc(const QdiscPlace& place, const std::string& kind, const FillOptions& fill) {
  NetlinkMessage message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
  message.AppendHeader(TrafficHeader(place));
  message.Put(TCA_KIND, kind);
  if (fill) message.Nest(TCA_OPTIONS, [&] { fill(message); });
  return message;
}

// Adds a qdisc. The kernel returns ENOENT ("Specified qdisc kind is unknown") for a qdisc that it
// neither has nor can load.
void Add(Netlink& session, const QdiscPlace& place, const std::string& kind,
         const FillOptions& fill) {
  NetlinkMessage message = NewQdisc(place, kind, fill);
  try {
    session.socket().Request(
        message, "add qdisc " + kind + " to interface " + std::to_string(place.ifindex));
  } catch (const SystemError& error) {
    if (error.error_number() != ENOENT) throw;
    throw EnvironmentError("the " + kind + " qdisc is not available in this kernel (module sch_" +
                           kind + "; see `viaduct doctor`)");
  }
}

uint32_t Probability(double value) {
  return static_cast<uint32_t>(std::llround(std::clamp(value, 0.0, 1.0) * 4294967295.0));
}

uint32_t Clamp32(int64_t value) {
  return static_cast<uint32_t>(std::clamp<int64_t>(value, 0, 0xFFFFFFFFLL));
}

void FillNetem(NetlinkMessage& message, const Netem& netem) {
  // Appends the fixed part first in TCA_OPTIONS, without an attribute header.
  tc_netem_qopt options{};
  options.limit = netem.limit;
  options.loss = Probability(netem.loss);
  options.duplicate = Probability(netem.duplicate);
  // Sets `gap` to 1 so that netem may reorder every frame: netem sends a frame at once with the
  // probability of reordering, and otherwise delays the frame.
  options.gap = netem.reorder > 0 ? 1 : 0;
  message.AppendHeader(options);
  message.PutU64(TCA_NETEM_LATENCY64, static_cast<uint64_t>(netem.delay.nanoseconds()));
  message.PutU64(TCA_NETEM_JITTER64, static_cast<uint64_t>(netem.jitter.nanoseconds()));
  if (netem.reorder > 0) {
    const tc_netem_reorder reorder{Probability(netem.reorder), 0};
    message.Put(TCA_NETEM_REORDER, &reorder, sizeof reorder);
  }
  if (netem.corrupt > 0) {
    const tc_netem_corrupt corrupt{Probability(netem.corrupt), 0};
    message.Put(TCA_NETEM_CORRUPT, &corrupt, sizeof corrupt);
  }
  if (!netem.distribution.empty()) {
    message.Put(TCA_NETEM_DELAY_DIST, netem.distribution.data(),
                netem.distribution.size() * sizeof netem.distribution[0]);
  }
}

void FillTokenBucket(NetlinkMessage& message, const TokenBucket& bucket) {
  const auto bytes_per_second = static_cast<uint64_t>(std::max<int64_t>(bucket.rate / 8, 1));
  tc_tbf_qopt options{};
  options.rate.linklayer = TC_LINKLAYER_ETHERNET;
  options.rate.rate = Clamp32(static_cast<int64_t>(bytes_per_second));
  options.limit = Clamp32(bucket.limit);
  message.Put(TCA_TBF_PARMS, &options, sizeof options);
  if (bytes_per_second >= 0xFFFFFFFFULL) message.PutU64(TCA_TBF_RATE64, bytes_per_second);
  message.PutU32(TCA_TBF_BURST, Clamp32(bucket.burst));
}

}  // namespace

int64_t SensibleBurst(int64_t rate, int mtu) {
  return std::max(2 * (mtu + static_cast<int64_t>(wire::EthernetHeader::kSize)), rate / 8 / 4000);
}

void AddTokenBucket(Netlink& session, const QdiscPlace& place, const TokenBucket& parameters) {
  if (parameters.rate < 8) throw UsageError("rate: must be at least 8bit (one byte per second)");
  Add(session, place, "tbf", [&](NetlinkMessage& m) { FillTokenBucket(m, parameters); });
}

void AddNetem(Netlink& session, const QdiscPlace& place, const Netem& parameters) {
  Add(session, place, "netem", [&](NetlinkMessage& m) { FillNetem(m, parameters); });
}

void AddPacketFifo(Netlink& session, const QdiscPlace& place, uint32_t packets) {
  Add(session, place, "pfifo", [&](NetlinkMessage& m) { m.AppendHeader(tc_fifo_qopt{packets}); });
}

void AddDefaultQdisc(Netlink& session, const QdiscPlace& place, const std::string& kind) {
  Add(session, place, kind, nullptr);
}

void RemoveRootQdisc(Netlink& session, int ifindex) {
  NetlinkMessage message(RTM_DELQDISC, 0);
  message.AppendHeader(TrafficHeader({ifindex, kRootQdisc, 0}));
  try {
    session.socket().Request(message, "remove the qdisc of interface " + std::to_string(ifindex));
  } catch (const SystemError& error) {
    if (error.error_number() != ENOENT && error.error_number() != EINVAL) throw;
  }
}

namespace {

// Calls `each` with every qdisc of the interface.
void ForEachQdisc(Netlink& session, int ifindex,
                  const std::function<void(const nlmsghdr*, const tcmsg&)>& each) {
  NetlinkMessage message(RTM_GETQDISC, NLM_F_DUMP);
  message.AppendHeader(TrafficHeader({ifindex, 0, 0}));
  session.socket().Query(message, "list qdiscs", [&](const nlmsghdr* answer) {
    const auto* header = static_cast<const tcmsg*>(nlmsg_data(answer));
    if (header->tcm_ifindex == ifindex) each(answer, *header);
  });
}

}  // namespace

std::vector<PresentQdisc> Qdiscs(Netlink& session, int ifindex) {
  std::vector<PresentQdisc> present;
  ForEachQdisc(session, ifindex, [&](const nlmsghdr* answer, const tcmsg& header) {
    const nlattr* attribute =
        nlmsg_find_attr(const_cast<nlmsghdr*>(answer), sizeof header, TCA_KIND);
    if (attribute == nullptr) return;
    present.push_back({header.tcm_parent, header.tcm_handle, nla_get_string(attribute)});
  });
  return present;
}

std::string RootQdisc(Netlink& session, int ifindex) {
  const auto present = Qdiscs(session, ifindex);
  const auto root = std::ranges::find(present, kRootQdisc, &PresentQdisc::parent);
  return root == present.end() ? "" : root->kind;
}

std::string QdiscOfDepartureTimes(const std::vector<PresentQdisc>& present) {
  const auto keeps_times = [](const PresentQdisc& qdisc) {
    return qdisc.kind == "fq" || qdisc.kind == "etf";
  };
  const auto root = std::ranges::find(present, kRootQdisc, &PresentQdisc::parent);
  if (root == present.end()) return "";
  if (keeps_times(*root)) return root->kind;
  if (root->kind != "mq" && root->kind != "mqprio" && root->kind != "taprio") return "";
  std::string kind;
  for (const PresentQdisc& qdisc : present) {
    if (&qdisc == &*root || TC_H_MAJ(qdisc.parent) != TC_H_MAJ(root->handle)) continue;
    // This qdisc may pass on a frame without its departure time.
    if (!keeps_times(qdisc)) return "";
    kind = qdisc.kind;
  }
  return kind;
}

bool HasIngressQdisc(Netlink& session, int ifindex) {
  bool found = false;
  ForEachQdisc(session, ifindex, [&](const nlmsghdr*, const tcmsg& header) {
    found = found || header.tcm_parent == TC_H_INGRESS;
  });
  return found;
}

int TryQdisc(const std::string& kind) {
  Netlink session;
  // Tries to add the qdisc without options. Most qdiscs refuse that (EINVAL); if the kernel does
  // not know the qdisc, it returns ENOENT before it checks the options.
  NetlinkMessage message = NewQdisc({session.IfIndex("lo"), kRootQdisc, QdiscHandle(1)}, kind, {});
  const int error_number = session.socket().TryRequest(message);
  return error_number == ENOENT || error_number == EPERM ? error_number : 0;
}

bool HasQdisc(const std::string& kind) {
  int error_number = 0;
  InScratchNamespace([&] { error_number = TryQdisc(kind); });
  return error_number == 0;
}

std::vector<int16_t> ParseDistribution(std::string_view text) {
  std::vector<int16_t> table;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) {
      int16_t value = 0;
      const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
      if (result.ec != std::errc() || result.ptr != word.data() + word.size()) {
        throw UsageError("delay distribution table: \"" + word + "\" is not a 16-bit integer");
      }
      table.push_back(value);
    }
  }
  return table;
}

std::vector<int16_t> LoadDistribution(const std::string& name) {
  // Searches all architectures' directories, because Debian keeps iproute2's tables in the
  // directory of its architecture.
  glob_t found{};
  const std::string file_name = "/tc/" + name + ".dist";
  glob(("/usr/lib" + file_name).c_str(), 0, nullptr, &found);
  for (const char* directory : {"/usr/lib64", "/usr/share", "/usr/lib/*"}) {
    glob((directory + file_name).c_str(), GLOB_APPEND, nullptr, &found);
  }
  const std::string path = found.gl_pathc == 0 ? "" : found.gl_pathv[0];
  globfree(&found);
  const std::string table = path.empty() ? "" : ReadFileIfAny(path);
  if (table.empty()) {
    throw EnvironmentError("delay distribution \"" + name + "\": iproute2's table " + name +
                           ".dist is not installed; install iproute2");
  }
  return ParseDistribution(table);
}

}  // namespace viaduct::sys
