// Fuzz target: the content of a VXLAN datagram, as the hub parses it. Two bytes of the input are
// the size that the kernel reports with the message; the other bytes are the message.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/wire/vxlan.h"
#include "port/super_frame.h"
#include "remote/tunnel/inner_frame.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace viaduct;
  constexpr size_t kMaxFrame = 1518;
  if (size < 2) return 0;
  const size_t segment = size_t{data[0]} << 8 | data[1];
  std::vector<std::byte> message(size - 2);
  if (!message.empty()) std::memcpy(message.data(), data + 2, message.size());
  if (const auto header = wire::VxlanHeader::Parse(message)) {
    std::vector<std::byte> again(wire::VxlanHeader::kSize);
    header->Write(again);
    if (wire::VxlanHeader::Parse(again) != header) abort();
  }
  static io::SuperFrameSplitter splitter;
  const auto is_super = segment > 0 && tunnel::IsSuperFrame(message, segment);
  size_t cut = is_super ? segment : 0;
  if (cut == 0 && message.size() > kMaxFrame) cut = tunnel::SegmentOfTcp(message, kMaxFrame);
  size_t frames = 0;
  splitter.Split(tunnel::DescribeInnerFrame(message, cut, {}), [&](std::span<std::byte> frame) {
    ++frames;
    if (cut > 0 && frame.size() > message.size()) abort();
  });
  if (cut == 0 && frames > 1) abort();
  return 0;
}
