// Finds the pair, direction and class of a received frame and replaces the frame's link tag.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/wire/link_tag.h"
#include "path/engine/config.h"
#include "path/engine/engine.h"
#include "sys/network/filter.h"

namespace viaduct::engine {

// Returns the attachment as text: "eth0", "eth0:vlan=10" or "eth0:mpls=100". `ports`: the names in
// Config::ports.
std::string FormatAttachment(const Attachment& attachment, const std::vector<std::string>& ports);

class Classifier {
 public:
  // Throws UsageError if `config` has no pairs, gives a name or an attachment twice, has a port,
  // VLAN or label out of range, or has a filter that cannot be compiled.
  explicit Classifier(const Config& config);

  struct Match {
    uint32_t pair = 0;         // index into Config::pairs
    uint32_t class_index = 0;  // 0: the pair's own SPEC; i: Pair::classes[i - 1]
    Direction direction = Direction::kUp;
    size_t out = 0;     // index of the port at the far end
    wire::LinkTag tag;  // pushed (wire::PushTag) before the frame leaves through port `out`
  };
  // Removes the link's tag from `frame` (a single frame from `port`, not a super-frame; see
  // port/super_frame.h); the frame then begins later in the same memory. Returns nothing when the
  // frame belongs to no pair, or cannot carry the far end's tag (an ARP frame cannot carry a
  // label); the caller must then drop the frame. An untagged attachment receives all frames that no
  // tagged attachment on its port receives, with their tags, if any. Does not allocate.
  std::optional<Match> Classify(size_t port, wire::Bytes& frame) const;

 private:
  // The pair and direction of the frames that arrive at one end of a pair, and the port and tag of
  // the far end.
  struct End {
    uint32_t pair = 0;
    Direction direction = Direction::kUp;
    size_t out = 0;
    wire::LinkTag far_tag;
  };
  static constexpr size_t kVlans = 4096;
  static constexpr int32_t kNone = -1;
  // The attachments of one port, as indices into ends_, by the tag that their frames have.
  struct PortTable {
    std::array<int32_t, kVlans> by_vlan;
    std::unordered_map<uint32_t, int32_t> by_label;
    int32_t untagged = kNone;
  };

  void AddEnd(const Config& config, uint32_t pair, Direction direction);
  int32_t Find(size_t port, const wire::LinkTag& tag) const;

  std::vector<PortTable> ports_;
  std::vector<End> ends_;
  // Indexed by pair; one filter per class, in order.
  std::vector<std::vector<sys::PacketFilter>> filters_;
};

}  // namespace viaduct::engine
