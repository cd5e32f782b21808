// The output of viaduct-load: JSON for programs (base/result/load.h), and a few lines of text for
// people.
#pragma once

#include <string>

#include "base/result/load.h"
#include "run/load/pinger.h"
#include "run/load/receiver.h"
#include "run/load/sender.h"

namespace viaduct::load {

result::LoadSent Report(const SendOptions& options, const SendResult& result);
result::LoadReceived Report(const ReceiveOptions& options, const ReceiveResult& result);
result::LoadPinged Report(const PingOptions& options, const PingResult& result);

std::string ToText(const result::LoadSent& report);
std::string ToText(const result::LoadReceived& report);
std::string ToText(const result::LoadPinged& report);

}  // namespace viaduct::load
