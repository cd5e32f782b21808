// Fuzzes the parsers of packets: frames arrive from the network, so no bytes may make this library
// read or write out of bounds.
#include <algorithm>
#include <vector>

#include "base/wire/checksum.h"
#include "base/wire/link_tag.h"
#include "base/wire/port_fields.h"
#include "base/wire/segment.h"
#include "base/wire/test/packet_builder.h"

using namespace viaduct::wire;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 6) return 0;
  const auto input = std::as_bytes(std::span(data, size));
  const uint16_t gso_size = Load16(&input[0]);
  const uint16_t start = Load16(&input[2]);
  const uint16_t offset = Load16(&input[4]);
  const ConstBytes frame = input.subspan(6);

  if (packet::Describe(frame).empty()) __builtin_trap();
  packet::DescribePacket(frame);
  std::vector<std::byte> copy(frame.begin(), frame.end());
  CompletePartialChecksum(copy, start, offset);
  for (const auto& fields : {FindPorts(frame), FindQuotedPorts(frame)}) {
    if (!fields) continue;
    copy.assign(frame.begin(), frame.end());
    SetSourcePort(copy, *fields, start);
    SetDestinationPort(copy, *fields, offset);
  }

  // A frame is unchanged after its tag was removed and added again.
  std::vector<std::byte> tagged(frame.begin(), frame.end());
  if (const auto untagged = PopTag(tagged)) {
    const auto again = PushTag(*untagged, OuterTag(frame));
    if (!again || !std::equal(again->begin(), again->end(), frame.begin(), frame.end())) {
      __builtin_trap();
    }
  }

  auto segmenter = Segmenter::Begin(frame, std::max<uint16_t>(gso_size, 16), (start & 1) != 0,
                                    (start & 2) != 0 ? start : 0);
  std::vector<std::byte> memory(2048);
  while (segmenter && !segmenter->Finished()) {
    const Bytes cut = segmenter->Next(memory);
    if (cut.empty()) break;
    const auto layers = FindIpLayers(cut);
    if (!layers || layers->end != cut.size()) __builtin_trap();
  }
  return 0;
}
