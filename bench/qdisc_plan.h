// The plan of frames that are sent both through Linux's qdiscs and through Viaduct's path pipeline,
// in JSON: an array of cases,
//
//   {"name": NAME, "spec": SPEC, "tc": [WORDS, ...], "packets": 20000, "batch": 1,
//    "interval": 1000000, "tos": 0, "frames": [[FLOW, BYTES], ...]}
//
// `tc`: the words that follow "tc qdisc add dev left" in each call. `batch` packets are sent
// together every `interval` nanoseconds; `frames` are sent in rotation; BYTES is the length of a
// frame, counted from its destination MAC.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/wire/test/packet_builder.h"

namespace viaduct::bench {

struct PlannedFrame {
  uint16_t flow = 0;
  uint32_t bytes = 0;
};

struct PlannedCase {
  std::string name, spec;
  std::vector<std::string> tc;
  uint64_t packets = 0, batch = 1;
  int64_t interval = 0;
  uint8_t tos = 0;
  std::vector<PlannedFrame> frames;

  int64_t SentAt(uint64_t i) const { return static_cast<int64_t>(i / batch) * interval; }
  // Returns frame number `i`, whose payload begins with `i` (4 bytes).
  std::vector<std::byte> Frame(uint64_t i) const {
    namespace p = wire::packet;
    constexpr size_t kHeaders = 14 + 20 + 8;
    const PlannedFrame& planned = frames[i % frames.size()];
    auto frame = p::Build(p::Ethernet{} / p::Ipv4{.tos = tos} /
                          p::Udp{.source = planned.flow, .destination = 9} /
                          p::Payload{std::string(planned.bytes - kHeaders, '\0')});
    wire::Store32(frame.data() + kHeaders, static_cast<uint32_t>(i));
    return frame;
  }
  static uint32_t NumberOf(wire::ConstBytes frame) { return wire::Load32(frame.data() + 42); }
};

// Returns the cases of the plan in the file `path`. Throws nlohmann::json::exception.
inline std::vector<PlannedCase> ReadPlan(const std::string& path) {
  std::vector<PlannedCase> plan;
  for (const auto& planned : nlohmann::json::parse(ReadFile(path))) {
    PlannedCase& added = plan.emplace_back();
    planned.at("name").get_to(added.name);
    planned.at("spec").get_to(added.spec);
    planned.at("tc").get_to(added.tc);
    planned.at("packets").get_to(added.packets);
    planned.at("interval").get_to(added.interval);
    added.batch = planned.value("batch", added.batch);
    added.tos = planned.value("tos", added.tos);
    for (const auto& frame : planned.at("frames")) added.frames.push_back({frame[0], frame[1]});
  }
  return plan;
}

}  // namespace viaduct::bench
