// Fuzz test of control requests and schedules: any text sent to a path's control socket, and any
// content of a schedule file, is either accepted or refused with a UsageError. Accepted input has
// the same meaning when it is written and read again.
#include <cstdint>

#include "base/error.h"
#include "base/text/json_text.h"
#include "path/engine/control_protocol.h"
#include "path/live/schedule.h"
#include "sys/ipc/lines.h"

using namespace viaduct;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ipc::LineBuffer lines(256);
  // The input arrives in two parts, as a socket may deliver it.
  if (lines.Add(text.substr(0, size / 2)) && lines.Add(text.substr(size / 2))) {
    while (const auto line = lines.Next()) {
      try {
        const auto request = engine::ParseRequest(*line);
        const auto encoded = engine::EncodeRequest(request);
        if (engine::EncodeRequest(engine::ParseRequest(JsonText(encoded))) != encoded)
          __builtin_trap();
      } catch (const UsageError&) {
      }
    }
  }
  try {
    const path::Schedule schedule = path::ParseSchedule(text, "fuzz");
    path::SchedulePlayer player(schedule);
    Duration last;
    for (int i = 0; i < 50 && player.NextAt(); ++i) {
      if (*player.NextAt() < last) __builtin_trap();
      last = *player.NextAt();
      player.Take();
    }
  } catch (const UsageError&) {
  }
  return 0;
}
