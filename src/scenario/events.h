// Reads and describes the events of a scenario file, and tests the changes of SPECs that the events
// make.
#pragma once

#include <string>
#include <vector>

#include "scenario/links.h"
#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Reads `events` of the file and returns them in the order of time; all other parts of `scenario`
// have been read already. Throws UsageError, also for a change that does not result in a valid SPEC
// for the link at that time, for a capture that is started twice, and for a capture that is stopped
// but not running.
std::vector<LinkEvent> ReadEvents(const Section& file, const NameTable& links,
                                  const Scenario& scenario);

// Returns whether an event changes this link's SPEC.
bool ChangesSpec(const Scenario& scenario, const std::string& link);
// Returns the change that the event makes, as text: "down", "delay=50ms", "up rate=1Mbit down
// loss=2%", "capture start".
std::string DescribeEvent(const LinkEvent& event);
// Returns the links that are captured at some time: first those of `captures`, in its order, then
// those of the events.
std::vector<std::string> CapturedLinks(const Scenario& scenario);

// Makes the changes of SPECs on pipelines that carry no packets, in the same way as on the links
// during the run, and reads the files that the SPECs name. Throws UsageError naming the link, or
// the place of the event in the file.
void TryEvents(const Scenario& scenario);

}  // namespace viaduct::scenario
