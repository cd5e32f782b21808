// The grammar of quantities with units: the same on the command line, in scenario files, in path
// SPECs and in C++.
//
// A number is decimal digits with an optional fraction, without sign, and without exponent except
// in probabilities ("1e-9"). The unit follows the number without a space. Every Parse function
// throws UsageError with the text and an example of an accepted text; it never guesses a unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace viaduct {

// Parses a duration: "10ns", "3.5us", "20ms", "1s", "2min", "1h". The value is exact: a fraction of
// a nanosecond is an error. A bare "0" is accepted; any other number needs its unit.
Duration ParseDuration(std::string_view text);
// Parses a rate, and returns bits per second: "9600bit", "64kbit", "1.5Mbit", "10Gbit" (also with
// "/s" or "ps": "10Mbps"). Prefixes are decimal. The rate must be greater than zero.
int64_t ParseRate(std::string_view text);
// Parses a number of bytes: "1500", "1500B", "64kB" (1000), "64KiB" (1024), "512M" = "512MiB",
// "2G".
int64_t ParseBytes(std::string_view text);
// Parses a probability in [0, 1]: "1%", "0.01", "1e-9".
double ParseProbability(std::string_view text);
// Parses a whole number in [low, high].
int64_t ParseInteger(std::string_view text, int64_t low, int64_t high);

// The Format functions are the inverse of the Parse functions, and return the shortest exact form:
// "20ms", "1.5Mbit", "64KiB", "0.1%". Parse*(Format*(x)) == x for every x that Parse* can return.
std::string FormatDuration(Duration duration);
std::string FormatRate(int64_t bits_per_second);
std::string FormatBytes(int64_t bytes);
std::string FormatProbability(double probability);

}  // namespace viaduct
