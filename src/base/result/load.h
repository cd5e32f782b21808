// The output of viaduct-load: what the sender, the receiver or a ping measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/histogram.h"
#include "base/result/gaps.h"

namespace viaduct::result {

struct LoadTimes {
  double min = 0, mean = 0, p50 = 0, p99 = 0, max = 0;  // us

  // Computes the times from a histogram of nanoseconds; returns nothing for an empty histogram.
  static std::optional<LoadTimes> Of(const Histogram& nanoseconds);

  static fields::KeysOf<LoadTimes> Keys();
};

struct LoadSent {
  std::string role = "send";
  uint32_t flow = 0;
  int size = 0;
  double started = 0;                          // s, CLOCK_MONOTONIC
  uint64_t offered = 0, sent = 0, errors = 0;  // packets: offered = sent + errors
  std::map<std::string, uint64_t> refused;     // number of errors by the name of the errno value
  uint64_t interface_drops = 0;
  double seconds = 0;
  std::optional<double> target_pps;
  double offered_pps = 0, offered_rate = 0;
  std::optional<LoadTimes> late;
  double slip_seconds = 0;

  static fields::KeysOf<LoadSent> Keys();
};

struct LoadPinged {
  std::string role = "ping";
  int size = 0;
  double started = 0;                          // s, CLOCK_MONOTONIC
  uint64_t offered = 0, sent = 0, errors = 0;  // echo requests: offered = sent + errors
  std::map<std::string, uint64_t> refused;     // number of errors by the name of the errno value
  uint64_t received = 0, lost = 0, duplicates = 0, foreign = 0, dropped_here = 0;
  double loss = 0;
  double seconds = 0;
  std::optional<LoadTimes> rtt, late;
  double slip_seconds = 0;
  // The samples of the round-trip time: s since the start, and ms.
  std::vector<std::pair<double, double>> samples;
  uint64_t samples_merged = 1;
  std::vector<Gap> gaps;  // the times of a gap are in s since the start
  uint64_t gaps_omitted = 0;

  static fields::KeysOf<LoadPinged> Keys();
};

struct LoadSeries {
  double interval = 0;  // length of an interval, s
  std::vector<uint64_t> packets;

  static fields::KeysOf<LoadSeries> Keys();
};

struct LoadReceived {
  std::string role = "receive", ended_by;
  bool cut = false;
  std::optional<double> first;  // arrival of the first packet: s, CLOCK_MONOTONIC
  std::optional<uint64_t> sent;
  uint64_t received = 0, lost = 0;
  double loss = 0;
  uint64_t duplicates = 0, reordered = 0, dropped_here = 0, foreign = 0;
  double size = 0, seconds = 0, packet_rate = 0, rate = 0;
  std::optional<LoadTimes> delay;
  uint32_t sample = 1;
  LoadSeries series;
  std::vector<Gap> gaps;  // the times of a gap are in s of the sender's CLOCK_MONOTONIC
  uint64_t gaps_omitted = 0;

  static fields::KeysOf<LoadReceived> Keys();
};

}  // namespace viaduct::result
