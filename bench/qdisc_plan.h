// The plan that Linux's qdiscs and our pipeline are both given: cases of a line each,
//
//   NAME | SPEC | TC | packets=20000 batch=1 interval=1000000 tos=0 frames=1:1000,2:200
//
// TC: what follows "tc qdisc add dev left"; several of them are separated by ';'. `batch` packets
// leave together every `interval` nanoseconds; `frames` are FLOW:BYTES (from the destination MAC
// on), in turn.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "wire/test/packet_builder.h"

namespace viaduct::bench {

struct PlannedFrame {
  uint16_t flow = 0;
  uint32_t bytes = 0;
};

struct PlannedCase {
  std::string name, spec, tc;
  uint64_t packets = 0, batch = 1;
  int64_t interval = 0;
  uint8_t tos = 0;
  std::vector<PlannedFrame> frames;

  int64_t SentAt(uint64_t i) const { return static_cast<int64_t>(i / batch) * interval; }
  // Frame number i, whose payload begins with i (4 bytes).
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

inline std::vector<PlannedFrame> ParseFrames(const std::string& text) {
  std::vector<PlannedFrame> frames;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t colon = word.find(':');
    frames.push_back({static_cast<uint16_t>(std::stoi(word.substr(0, colon))),
                      static_cast<uint32_t>(std::stoul(word.substr(colon + 1)))});
  }
  return frames;
}

inline PlannedCase ParseCase(const std::string& line) {
  PlannedCase planned;
  std::string traffic;
  std::istringstream fields(line);
  for (std::string* field : {&planned.name, &planned.spec, &planned.tc, &traffic}) {
    std::getline(fields, *field, '|');
    field->erase(0, field->find_first_not_of(' '));
    field->erase(field->find_last_not_of(' ') + 1);
  }
  std::istringstream words(traffic);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key == "packets") planned.packets = std::stoull(value);
    if (key == "batch") planned.batch = std::stoull(value);
    if (key == "interval") planned.interval = std::stoll(value);
    if (key == "tos") planned.tos = static_cast<uint8_t>(std::stoi(value));
    if (key == "frames") planned.frames = ParseFrames(value);
  }
  return planned;
}

inline std::vector<PlannedCase> ReadPlan(const std::string& path) {
  std::vector<PlannedCase> plan;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') plan.push_back(ParseCase(line));
  }
  return plan;
}

}  // namespace viaduct::bench
