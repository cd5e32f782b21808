#include "base/units.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include "base/error.h"

namespace viaduct {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

// The units of time. This table and the tables of rates begin with the largest unit: if two texts
// are equally short, FormatShortest() returns the text with the larger unit.
constexpr Unit kTimeUnits[] = {{"h", 3600000000000}, {"min", 60000000000}, {"s", 1000000000},
                               {"ms", 1000000},      {"us", 1000},         {"ns", 1}};
constexpr Unit kRatePrefixes[] = {
    {"T", 1000000000000}, {"G", 1000000000}, {"M", 1000000}, {"k", 1000}, {"", 1}};
// The lower-case prefixes of rates that tc(8) uses, as in 10mbit.
constexpr Unit kLowerRatePrefixes[] = {{"t", 1000000000000}, {"g", 1000000000}, {"m", 1000000}};
constexpr Unit kByteUnits[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20},   {"KiB", 1 << 10},
                               {"G", 1 << 30},   {"M", 1 << 20},     {"K", 1 << 10},
                               {"k", 1 << 10},   {"GB", 1000000000}, {"MB", 1000000},
                               {"kB", 1000},     {"B", 1},           {"", 1}};

[[noreturn]] void Fail(std::string_view text, std::string_view wrong, std::string_view accepted) {
  throw UsageError(fmt::format("\"{}\": {}; expected {}", text, wrong, accepted));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A number as written: the digits before the decimal point (`whole`) and after it (`fraction`).
struct Decimal {
  std::string_view whole, fraction;
  std::string_view unit;  // the text after the number
};

Decimal SplitNumber(std::string_view text, std::string_view accepted) {
  size_t i = 0;
  while (i < text.size() && IsDigit(text[i])) ++i;
  Decimal decimal{text.substr(0, i), {}, {}};
  const bool begins_with_point = text.size() > 1 && text[0] == '.' && IsDigit(text[1]);
  if (decimal.whole.empty() && !begins_with_point) {
    const bool is_negative = text.size() > 1 && text[0] == '-' && IsDigit(text[1]);
    Fail(text, is_negative ? "negative" : "no number at the start", accepted);
  }
  if (i < text.size() && text[i] == '.') {
    const size_t start = ++i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    decimal.fraction = text.substr(start, i - start);
    if (decimal.fraction.empty()) Fail(text, "no digit after the point", accepted);
  }
  decimal.unit = text.substr(i);
  return decimal;
}

// A number times a factor, exactly; nullopt if the product is not a whole number or exceeds int64.
struct Scaled {
  std::optional<int64_t> value;
  bool too_large = false;
};

Scaled Scale(const Decimal& decimal, int64_t factor) {
  constexpr auto kMax = static_cast<unsigned __int128>(std::numeric_limits<int64_t>::max());
  unsigned __int128 sum = 0;
  for (char c : decimal.whole) {
    sum = sum * 10 + static_cast<unsigned>(c - '0') * static_cast<unsigned __int128>(factor);
    if (sum > kMax) return {std::nullopt, true};
  }
  // Sums the fraction's digits over a common power of ten. Converting each digit separately would
  // be inexact: a digit is worth a tenth of the digit before, and its value may leave a remainder
  // that later digits cancel ("0.5min" is exact although 60 s / 10 / 10... is not always).
  unsigned __int128 numerator = 0;
  unsigned __int128 denominator = 1;
  std::string_view fraction = decimal.fraction;
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  if (fraction.size() > 18) return {std::nullopt, false};  // more digits than any unit can divide
  for (char c : fraction) {
    numerator = numerator * 10 + static_cast<unsigned>(c - '0');
    denominator *= 10;
  }
  numerator *= static_cast<unsigned __int128>(factor);
  if (numerator % denominator != 0) return {std::nullopt, false};
  sum += numerator / denominator;
  if (sum > kMax) return {std::nullopt, true};
  return {static_cast<int64_t>(sum), false};
}

int64_t ScaleOrFail(std::string_view text, const Decimal& decimal, int64_t factor,
                    std::string_view finest, std::string_view accepted) {
  const Scaled scaled = Scale(decimal, factor);
  if (scaled.too_large) Fail(text, "too large", accepted);
  if (!scaled.value) Fail(text, fmt::format("not a whole number of {}", finest), accepted);
  return *scaled.value;
}

std::optional<int64_t> FindFactor(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return std::nullopt;
}

// Returns value/factor as a decimal number if at most `digits` digits after the point express it
// exactly.
std::optional<std::string> AsDecimal(int64_t value, int64_t factor, int digits) {
  std::string text = std::to_string(value / factor);
  int64_t rest = value % factor;
  if (rest != 0) text += '.';
  for (; rest != 0 && digits > 0; --digits) {
    const auto scaled = static_cast<__int128>(rest) * 10;
    text += static_cast<char>('0' + static_cast<int>(scaled / factor));
    rest = static_cast<int64_t>(scaled % factor);
  }
  if (rest != 0) return std::nullopt;
  return text;
}

// Returns the shortest text for a value in one of the units; if two texts are equally short,
// returns the text with the larger unit.
std::string FormatShortest(int64_t value, std::span<const Unit> units) {
  std::string best;
  for (const Unit& unit : units) {
    if (unit.factor > value && unit.factor != 1) continue;
    if (const auto number = AsDecimal(value, unit.factor, 12)) {
      std::string text = *number + std::string(unit.name);
      if (best.empty() || text.size() < best.size()) best = std::move(text);
    }
  }
  return best;
}

}  // namespace

Duration ParseDuration(std::string_view text) {
  constexpr std::string_view kAccepted =
      "a number and one of ns, us, ms, s, min, h, as in \"20ms\"";
  const Decimal decimal = SplitNumber(text, kAccepted);
  if (text == "0") return Duration();
  if (decimal.unit.empty()) Fail(text, "a duration needs its unit", kAccepted);
  const auto factor = FindFactor(kTimeUnits, decimal.unit);
  if (!factor) Fail(text, fmt::format("unknown unit \"{}\"", decimal.unit), kAccepted);
  return Duration::Nanoseconds(ScaleOrFail(text, decimal, *factor, "nanoseconds", kAccepted));
}

int64_t ParseRate(std::string_view text) {
  constexpr std::string_view kAccepted =
      "a number and one of bit, kbit, Mbit, Gbit, Tbit (or bit/s, bps), as in \"10Mbit\"";
  const Decimal decimal = SplitNumber(text, kAccepted);
  std::string_view prefix = decimal.unit;
  bool known = false;
  for (std::string_view ending : {"bit/s", "bit", "bps"}) {
    if (!prefix.ends_with(ending)) continue;
    prefix.remove_suffix(ending.size());
    known = true;
    break;
  }
  if (decimal.unit.empty()) Fail(text, "a rate needs its unit", kAccepted);
  auto factor = FindFactor(kRatePrefixes, prefix);
  if (!factor && decimal.unit.ends_with("bit")) factor = FindFactor(kLowerRatePrefixes, prefix);
  if (!known || !factor) Fail(text, fmt::format("unknown unit \"{}\"", decimal.unit), kAccepted);
  const int64_t rate = ScaleOrFail(text, decimal, *factor, "bits per second", kAccepted);
  if (rate == 0) Fail(text, "a rate must be greater than 0", kAccepted);
  return rate;
}

int64_t ParseBytes(std::string_view text) {
  constexpr std::string_view kAccepted =
      "a number of bytes, or with B, kB, MB, GB (powers of 1000) or KiB, MiB, GiB, K, M, G "
      "(powers of 1024), as in \"64KiB\"";
  const Decimal decimal = SplitNumber(text, kAccepted);
  const auto factor = FindFactor(kByteUnits, decimal.unit);
  if (!factor) Fail(text, fmt::format("unknown unit \"{}\"", decimal.unit), kAccepted);
  return ScaleOrFail(text, decimal, *factor, "bytes", kAccepted);
}

double ParseProbability(std::string_view text) {
  constexpr std::string_view kAccepted = "a number from 0 to 1 or a percentage, as in \"1%\"";
  const Decimal decimal = SplitNumber(text, kAccepted);
  // Refuses "1", because it may mean 1%, as it does in tc(8).
  if (text == "1") Fail(text, "ambiguous (1% or 100%)", "a percent sign, or \"1.0\" for 100%");
  std::string_view rest = decimal.unit;
  int exponent = 0;
  if (rest.starts_with("e") || rest.starts_with("E")) {
    rest.remove_prefix(1);
    const bool plus = rest.starts_with("+");
    if (plus) rest.remove_prefix(1);
    const auto end = std::from_chars(rest.data(), rest.data() + rest.size(), exponent);
    if (end.ec != std::errc() || (plus && rest.starts_with("-")) || exponent < -400 ||
        exponent > 400) {
      Fail(text, "the exponent is not a whole number from -400 to 400", kAccepted);
    }
    rest.remove_prefix(static_cast<size_t>(end.ptr - rest.data()));
  }
  const bool percent = rest == "%";
  if (!percent && !rest.empty()) Fail(text, fmt::format("unknown unit \"{}\"", rest), kAccepted);
  // Subtracts 2 from the exponent for a percent sign, so that "0.1%" is the double nearest to
  // 0.001.
  const std::string number =
      fmt::format("0{}.{}e{}", decimal.whole, decimal.fraction.empty() ? "0" : decimal.fraction,
                  exponent - (percent ? 2 : 0));
  double value = 0;
  const auto end = std::from_chars(number.data(), number.data() + number.size(), value);
  if (end.ec != std::errc())
    Fail(text, "too small or too large for a floating-point number", kAccepted);
  if (value > 1) Fail(text, "greater than 1", kAccepted);
  return value;
}

int64_t ParseInteger(std::string_view text, int64_t low, int64_t high) {
  int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || value < low ||
      value > high) {
    Fail(text, "not accepted here", fmt::format("a whole number from {} to {}", low, high));
  }
  return value;
}

std::string FormatDuration(Duration duration) {
  const int64_t ns = duration.nanoseconds();
  if (ns < 0) return "-" + FormatDuration(-duration);
  // Below an hour, fractions of minutes are not used: "90s", not "1.5min".
  const std::span<const Unit> units(kTimeUnits);
  if (ns == 0) return "0ns";
  if (ns % kTimeUnits[0].factor == 0) return FormatShortest(ns, units.first(1));
  if (ns % kTimeUnits[1].factor == 0) return FormatShortest(ns, units.subspan(1, 1));
  return FormatShortest(ns, units.subspan(2));
}

std::string FormatRate(int64_t bits_per_second) {
  return FormatShortest(bits_per_second, kRatePrefixes) + "bit";
}

std::string FormatBytes(int64_t bytes) {
  constexpr Unit kUnits[] = {{"GiB", 1 << 30},   {"MiB", 1 << 20}, {"KiB", 1 << 10},
                             {"GB", 1000000000}, {"MB", 1000000},  {"kB", 1000}};
  for (const Unit& unit : kUnits) {
    if (bytes >= unit.factor && bytes % unit.factor == 0)
      return std::to_string(bytes / unit.factor) + std::string(unit.name);
  }
  return std::to_string(bytes) + "B";
}

std::string FormatProbability(double probability) {
  // The format "{}" of fmt gives the shortest text that parses to the same double.
  std::string plain = fmt::format("{}", probability);
  if (probability < 1e-6) return plain;
  for (int digits = 0; digits <= 15; ++digits) {
    std::string percent = fmt::format("{:.{}f}%", probability * 100, digits);
    if (ParseProbability(percent) == probability) return percent;
  }
  return plain;
}

}  // namespace viaduct
