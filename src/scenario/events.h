// The events of a scenario file.
#pragma once

#include <string>
#include <vector>

#include "scenario/links.h"
#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Reads `events` of the file in the order of time; `scenario` has everything else already. Throws
// UsageError, also for a change that makes no valid SPEC of the one that the link has then, and for
// captures that are started twice or stopped when there is none.
std::vector<LinkEvent> ReadEvents(const Section& file, const NameTable& links,
                                  const Scenario& scenario);

// Whether an event changes this link's SPEC.
bool ChangesSpec(const Scenario& scenario, const std::string& link);
// What the event does: "down", "delay=50ms", "up rate=1Mbit down loss=2%", "capture start".
std::string DescribeEvent(const LinkEvent& event);
// The links that are captured at some time, in the order of `captures`, then of the events.
std::vector<std::string> CapturedLinks(const Scenario& scenario);

// Reads the files that the changes of SPECs name, as each direction will. Throws UsageError naming
// the event's link.
void CheckEventFiles(const Scenario& scenario);

}  // namespace viaduct::scenario
