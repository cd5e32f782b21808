// What viaduct-load prints: JSON for machines, a few lines for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "load/receiver.h"
#include "load/sender.h"

namespace viaduct::load {

// {"role": "send", "flow", "size", "sent", "errors", "seconds", "target_pps" (null: max),
//  "offered_pps", "offered_bit_per_s" (of payload), "late_us": {"p50","p99","max"} (null: max),
//  "slip_s"}
nlohmann::json ToJson(const SendOptions& options, const SendResult& result);

// {"role": "receive", "ended_by": "sender"|"signal"|"duration", "sent" (null: no end marker came),
//  "received", "lost", "loss" (0..1), "duplicates", "reordered", "dropped_here", "foreign",
//  "size" (mean payload), "seconds", "pps", "bit_per_s" (of payload, first to last packet),
//  "delay_us": {"mean","p50","p99","max"} (null: nothing came), "sample",
//  "series": {"interval_s": 0.1, "packets": [...]}}
nlohmann::json ToJson(const ReceiveOptions& options, const ReceiveResult& result);

std::string ToText(const SendOptions& options, const SendResult& result);
std::string ToText(const ReceiveOptions& options, const ReceiveResult& result);

}  // namespace viaduct::load
