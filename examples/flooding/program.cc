// The forwarding program of controlled flooding. In simulation it runs in the simulator, and in
// mode offload in a process of its own, without privileges.
#include "plane/forward/program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>

#include "format.h"

namespace flooding {

using viaduct::Instant;
using viaduct::forward::Frame;
using viaduct::forward::Node;
using viaduct::forward::Outbox;
using viaduct::wire::Bytes;
using viaduct::wire::ConstBytes;
using viaduct::wire::Load16;
using viaduct::wire::Load32;
using viaduct::wire::Store16;
using viaduct::wire::Store32;
using viaduct::wire::Store8;

constexpr size_t kEthernet = 14;  // bytes of its header

// Which numbers of an origin have come: the highest, and of the 64 below it each one.
class Window {
 public:
  // False: it has come before, or is too old to tell.
  bool Take(uint64_t number) {
    if (number > highest_) {
      const uint64_t by = number - highest_;
      before_ = by > 64 ? 0 : (by == 64 ? 0 : before_ << by) | uint64_t{1} << (by - 1);
      highest_ = number;
      return true;
    }
    if (number == highest_ || highest_ - number > 64) return false;
    const uint64_t bit = uint64_t{1} << (highest_ - number - 1);
    return (std::exchange(before_, before_ | bit) & bit) == 0;
  }

 private:
  uint64_t highest_ = 0, before_ = 0;
};

class Program {
 public:
  enum Outcome : size_t { kForwarded, kDuplicate, kHopLimit, kNotReady, kForeign, kMalformed };
  static constexpr std::array<std::string_view, 6> kOutcomes = {
      "forwarded", "duplicate", "hop-limit", "not-ready", "foreign", "malformed"};
  static constexpr std::array<std::string_view, 3> kLosses = {"hop-limit", "not-ready",
                                                              "malformed"};
  static constexpr std::string_view kFilter = "";  // all frames
  static constexpr bool kPromiscuous = true;
  static constexpr uint16_t kControlType = kHelloType;
  static constexpr size_t kTableWords = flooding::kTableWords;
  static constexpr size_t kOverhead = kEthernet + Header::kSize;

  explicit Program(const Node& node) : table_(node.table), ports_(node.ports) {}

  size_t Take(const Frame& frame, Outbox& outbox) {
    if (frame.bytes.size() < kEthernet || frame.port >= kMostPorts) return kMalformed;
    const bool is_data = Load16(&frame.bytes[12]) == kDataType;
    if (IsPort(frame.port, kHosts)) {
      // A neighbour's data may come before its first hello.
      return is_data ? kNotReady : TakeFromHost(frame, outbox);
    }
    return is_data ? TakeFromNeighbour(frame, outbox) : kForeign;
  }

 private:
  bool IsPort(size_t port, PortWord word) const {
    const uint64_t is = port < kMostPorts ? table_[port].load(std::memory_order_acquire) : kHosts;
    return is == word;
  }

  size_t TakeFromHost(const Frame& frame, Outbox& outbox) {
    const uint64_t hops = table_[kHopsWord].load(std::memory_order_acquire);
    if (hops == 0) return kNotReady;
    // The first one is greater than all of a process before this one, which may have died.
    number_ = number_ == 0 ? static_cast<uint64_t>(frame.now.nanoseconds()) : number_ + 1;
    for (size_t port = 0; port < ports_.size(); ++port) {
      if (port == frame.port || IsPort(port, kGone)) continue;
      if (IsPort(port, kHosts)) {
        outbox.Send(port, frame.bytes);
        continue;
      }
      const Bytes made = outbox.Make(kOverhead + frame.bytes.size());
      WriteEthernet(made, port);
      const Bytes header = made.subspan(kEthernet);
      std::memcpy(header.data(), ports_[0].mac.bytes.data(), 6);
      Store32(&header[Header::kNumber], static_cast<uint32_t>(number_ >> 32));
      Store32(&header[Header::kNumber + 4], static_cast<uint32_t>(number_));
      Store8(&header[Header::kHops], static_cast<uint8_t>(std::min<uint64_t>(hops, 255)));
      Store8(&header[Header::kHops + 1], 0);
      std::ranges::copy(frame.bytes, header.begin() + Header::kSize);
      outbox.Send(port, made);
    }
    return kForwarded;
  }

  size_t TakeFromNeighbour(const Frame& frame, Outbox& outbox) {
    const Bytes header = frame.bytes.subspan(kEthernet);
    if (header.size() < Header::kSize + kEthernet) return kMalformed;
    viaduct::wire::MacAddress origin;
    std::memcpy(origin.bytes.data(), header.data(), 6);
    const uint64_t number =
        uint64_t{Load32(&header[Header::kNumber])} << 32 | Load32(&header[Header::kNumber + 4]);
    if (origin == ports_[0].mac || !seen_[origin].Take(number)) return kDuplicate;
    const auto hops = viaduct::wire::Load8(&header[Header::kHops]);
    bool is_stopped = false;
    for (size_t port = 0; port < ports_.size(); ++port) {
      if (port == frame.port || IsPort(port, kGone)) continue;
      if (IsPort(port, kHosts)) {
        outbox.Send(port, header.subspan(Header::kSize));
      } else if (hops <= 1) {
        is_stopped = true;
      } else {
        const Bytes made = outbox.Make(frame.bytes.size());
        std::ranges::copy(frame.bytes, made.begin());
        WriteEthernet(made, port);
        Store8(&made[kEthernet + Header::kHops], static_cast<uint8_t>(hops - 1));
        outbox.Send(port, made);
      }
    }
    return is_stopped ? kHopLimit : kForwarded;
  }

  void WriteEthernet(Bytes frame, size_t port) const {
    std::fill_n(frame.begin(), 6, std::byte{0xff});
    std::memcpy(&frame[6], ports_[port].mac.bytes.data(), 6);
    Store16(&frame[12], kDataType);
  }

  std::span<const viaduct::forward::Word> table_;
  std::vector<viaduct::forward::PortInfo> ports_;
  std::map<viaduct::wire::MacAddress, Window> seen_;  // by origin
  uint64_t number_ = 0;                               // of this node's last frame
};

}  // namespace flooding

VIADUCT_FORWARDING_PROGRAM(flooding::Program);
