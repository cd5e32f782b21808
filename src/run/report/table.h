// Results in the form of text, which `viaduct run` prints at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result/run.h"

namespace viaduct::run {

// Returns the table of one run's results (Execute()).
std::string ResultTable(const result::RunResult& run);
// Returns the part of the table about flows and programs; empty if there are no flows and programs.
std::string TrafficTable(const std::vector<result::FlowResult>& flows,
                         const std::vector<result::ProgramResult>& programs);
// Returns the lines that are printed below the results of flows: the places outside of the links
// where packets were lost, and the packets that were never offered, arrived more than once, or were
// cut off.
std::string FlowRemarks(const std::vector<result::FlowResult>& flows);
// Returns the part of the table about written files: a line for each capture and each kernel's
// state.
std::string FileLines(const std::vector<result::Capture>& captures,
                      const std::vector<result::StateFiles>& states);
// Returns one table for several runs of one scenario, with a column for each mode; below it, for
// each mode, the fates of packets on links and the places where packets were lost.
std::string ComparisonTable(const std::vector<result::RunResult>& runs);
// A number below 1000 and its SI prefix ("k", "M", "G", "T").
struct Scaled {
  double value = 0;
  const char* prefix = "";
};
Scaled Scale(double value);
// Returns a rate as text: "1.57 Gbit/s".
std::string HumanRate(double bits_per_second);
// Returns a number as text: "97.9k", "950".
std::string HumanCount(double count);
// Returns a share as text: "0%", "0.012%", "12.3%".
std::string HumanPercent(double fraction);

// Returns losses by cause as text: "12 overload, 3 spoofed"; "0" if no packet was lost.
std::string CausesText(const std::map<std::string, uint64_t>& drops);

}  // namespace viaduct::run
