#include "sys/network/offload.h"

#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

constexpr size_t kNameLength = ETH_GSTRING_LEN;

// The ethtool requests about one network interface, in its namespace.
class Ethtool {
 public:
  Ethtool(int namespace_fd, const std::string& interface) : interface_(interface) {
    NamespaceScope scope(namespace_fd);
    socket_ = UniqueFd(
        SystemCall("open a socket for ethtool", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  }

  void Call(void* command, const char* name) {
    ifreq request{};
    interface_.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_data = static_cast<char*>(command);
    SystemCall(std::string("ethtool ") + name + " of " + interface_,
               ioctl(socket_.get(), SIOCETHTOOL, &request));
  }

  // Returns the names of all features that the kernel knows; the index of a name is the number of
  // the feature's bit.
  std::vector<std::string> FeatureNames() {
    // Allocates the query, which has a header and one count, in units of 8 bytes for the alignment
    // of its mask.
    const auto query_memory = std::make_unique<uint64_t[]>(sizeof(ethtool_sset_info) / 8 + 1);
    auto* query = reinterpret_cast<ethtool_sset_info*>(query_memory.get());
    query->cmd = ETHTOOL_GSSET_INFO;
    query->sset_mask = uint64_t{1} << ETH_SS_FEATURES;
    Call(query, "GSSET_INFO");
    const uint32_t count = query->data[0];
    const auto memory =
        std::make_unique<uint64_t[]>((sizeof(ethtool_gstrings) + count * kNameLength) / 8 + 1);
    auto* strings = reinterpret_cast<ethtool_gstrings*>(memory.get());
    strings->cmd = ETHTOOL_GSTRINGS;
    strings->string_set = ETH_SS_FEATURES;
    strings->len = count;
    Call(strings, "GSTRINGS");
    std::vector<std::string> names;
    for (uint32_t i = 0; i < count; ++i) {
      const char* text = reinterpret_cast<const char*>(strings->data) + i * kNameLength;
      names.emplace_back(text, strnlen(text, kNameLength));
    }
    return names;
  }

  std::vector<ethtool_get_features_block> Features(size_t blocks) {
    const auto memory = std::make_unique<uint32_t[]>(2 + blocks * 4);
    auto* features = reinterpret_cast<ethtool_gfeatures*>(memory.get());
    features->cmd = ETHTOOL_GFEATURES;
    features->size = static_cast<uint32_t>(blocks);
    Call(features, "GFEATURES");
    return {features->features, features->features + blocks};
  }

  // Switches the features with these bits off or on, as far as the device permits.
  void Switch(const std::vector<uint32_t>& bits, bool on) {
    const auto memory = std::make_unique<uint32_t[]>(2 + bits.size() * 2);
    auto* request = reinterpret_cast<ethtool_sfeatures*>(memory.get());
    request->cmd = ETHTOOL_SFEATURES;
    request->size = static_cast<uint32_t>(bits.size());
    for (size_t i = 0; i < bits.size(); ++i) request->features[i] = {bits[i], on ? bits[i] : 0};
    Call(request, "SFEATURES");
  }

 private:
  std::string interface_;
  UniqueFd socket_;
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whether the name of a feature is one of these offloads; compares names, because the bits differ
// between kernels (net/ethtool/common.c, netdev_features_strings).
bool Concerns(std::string_view feature, Offloads which) {
  if (which == Offloads::kTags) {
    return feature == "rx-vlan-hw-parse" || feature == "rx-vlan-stag-hw-parse" ||
           feature == "tx-vlan-hw-insert" || feature == "tx-vlan-stag-hw-insert";
  }
  if (Contains(feature, "segmentation") && feature.rfind("tx-", 0) == 0) return true;
  if (feature == "rx-gro" || feature == "rx-gro-hw" || feature == "rx-gro-list" ||
      feature == "rx-lro" || feature == "rx-udp-gro-forwarding") {
    return true;
  }
  if (which == Offloads::kSegmentation) return false;
  return feature == "rx-checksum" || feature.rfind("tx-checksum-", 0) == 0;
}

size_t BlocksFor(size_t features) { return (features + 31) / 32; }

std::vector<std::string> Active(Ethtool& ethtool, const std::vector<std::string>& names,
                                Offloads which) {
  const auto blocks = ethtool.Features(BlocksFor(names.size()));
  std::vector<std::string> active;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool on = (blocks[i / 32].active >> (i % 32) & 1) != 0;
    if (on && Concerns(names[i], which)) active.push_back(names[i]);
  }
  return active;
}

}  // namespace

void DisableOffloads(int namespace_fd, const std::string& interface, Offloads which) {
  Ethtool ethtool(namespace_fd, interface);
  const std::vector<std::string> names = ethtool.FeatureNames();
  const auto blocks = ethtool.Features(BlocksFor(names.size()));
  std::vector<uint32_t> bits(blocks.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const ethtool_get_features_block& block = blocks[i / 32];
    const uint32_t bit = uint32_t{1} << (i % 32);
    const bool changeable = (block.available & ~block.never_changed & bit) != 0;
    if (changeable && Concerns(names[i], which)) bits[i / 32] |= bit;
  }
  ethtool.Switch(bits, false);
  std::string remaining;
  for (const std::string& name : Active(ethtool, names, which)) remaining += " " + name;
  if (!remaining.empty()) {
    throw EnvironmentError("interface " + interface +
                           ": the driver does not allow these offloads to be " +
                           "switched off:" + remaining + "; use another interface");
  }
}

void EnableOffloads(int namespace_fd, const std::string& interface,
                    const std::vector<std::string>& names) {
  Ethtool ethtool(namespace_fd, interface);
  const std::vector<std::string> known = ethtool.FeatureNames();
  std::vector<uint32_t> bits(BlocksFor(known.size()));
  for (size_t i = 0; i < known.size(); ++i) {
    if (std::find(names.begin(), names.end(), known[i]) == names.end()) continue;
    bits[i / 32] |= uint32_t{1} << (i % 32);
  }
  ethtool.Switch(bits, true);
}

std::vector<std::string> ActiveOffloads(int namespace_fd, const std::string& interface,
                                        Offloads which) {
  Ethtool ethtool(namespace_fd, interface);
  return Active(ethtool, ethtool.FeatureNames(), which);
}

uint32_t ReceiveQueues(int namespace_fd, const std::string& interface) {
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  try {
    Ethtool(namespace_fd, interface).Call(&channels, "GCHANNELS");
  } catch (const SystemError&) {
    return 1;
  }
  return std::max<uint32_t>(channels.rx_count + channels.combined_count, 1);
}

std::string DriverOf(int namespace_fd, const std::string& interface) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  try {
    Ethtool(namespace_fd, interface).Call(&info, "GDRVINFO");
  } catch (const SystemError&) {
    return "";
  }
  return {info.driver, strnlen(info.driver, sizeof info.driver)};
}

void DisableTransmitInterrupts(int namespace_fd, const std::string& interface) {
  Ethtool ethtool(namespace_fd, interface);
  ethtool_coalesce coalesce{};
  coalesce.cmd = ETHTOOL_GCOALESCE;
  ethtool.Call(&coalesce, "GCOALESCE");
  coalesce.cmd = ETHTOOL_SCOALESCE;
  coalesce.tx_max_coalesced_frames = 0;
  ethtool.Call(&coalesce, "SCOALESCE");
}

}  // namespace viaduct::sys
