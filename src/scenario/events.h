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

// Returns whether an event changes this link's SPEC.
bool ChangesSpec(const Scenario& scenario, const std::string& link);
// Returns the change of the event: "down", "delay=50ms", "up rate=1Mbit down loss=2%", "capture
// start".
std::string DescribeEvent(const LinkEvent& event);
// The links that are captured at some time, in the order of `captures`, then of the events.
std::vector<std::string> CapturedLinks(const Scenario& scenario);

// Makes the changes of SPECs with pipelines that carry nothing, as the links will with theirs, and
// reads the files that they name. Throws UsageError naming the link, or the event's place in the
// file.
void TryEvents(const Scenario& scenario);

}  // namespace viaduct::scenario
