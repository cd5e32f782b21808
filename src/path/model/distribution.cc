#include "path/model/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "path/trace/trace_lines.h"

namespace viaduct::path {
namespace {

constexpr size_t kKnots = 4096;
constexpr size_t kTailKnots = 16;     // knots at either end, where interpolation is too inaccurate
constexpr size_t kMaxTable = 16384;   // iproute2 tc/q_netem.c MAX_DIST
constexpr double kTableScale = 8192;  // NETEM_DIST_SCALE, include/uapi/linux/pkt_sched.h

template <size_t n>
double Polynomial(const std::array<double, n>& coefficients, double x) {
  double sum = 0;
  for (double coefficient : coefficients) sum = sum * x + coefficient;
  return sum;
}

// Computes the normal quantile for p <= 1/2 with P. J. Acklam's rational approximation (2003),
// relative error 1.15e-9.
double ApproximateQuantile(double p) {
  constexpr std::array a = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                            1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array b = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                            6.680131188771972e+01,  -1.328068155288572e+01, 1.0};
  constexpr std::array c = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                            -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array d = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                            3.754408661907416e+00, 1.0};
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    return Polynomial(c, q) / Polynomial(d, q);
  }
  const double q = p - 0.5;
  return Polynomial(a, q * q) * q / Polynomial(b, q * q);
}

}  // namespace

double NormalProbability(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double NormalQuantile(double p) {
  if (p > 0.5) return -NormalQuantile(1 - p);
  const double z = ApproximateQuantile(p);
  // One step of Halley's method improves the approximation to the precision of a double.
  const double error = NormalProbability(z) - p;
  const double step = error * std::sqrt(2 * std::numbers::pi) * std::exp(z * z / 2);
  return z - step / (1 + z * step / 2);
}

namespace {

// A distribution with a heavy right tail: Pareto with shape 3, scaled to mean 0 and standard
// deviation 1.
double ParetoQuantile(double p) { return (std::pow(1 - p, -1.0 / 3) - 1.5) * 4 / 3; }

// A mixture: each quantile is a quarter of the normal and three quarters of the Pareto quantile.
double ParetoNormalQuantile(double p) {
  return 0.25 * NormalQuantile(p) + 0.75 * ParetoQuantile(p);
}

double Exact(Distribution::Formula quantile, double u) {
  return quantile(std::clamp(u, 0x1.0p-54, 1 - 0x1.0p-53));
}

// The table of each formula is computed once.
template <Distribution::Formula quantile>
const Distribution& Tabulated() {
  static const Distribution distribution(quantile);
  return distribution;
}

const Distribution& Uniform() {
  static const Distribution uniform;
  return uniform;
}

struct DistributionRow {
  std::string_view name;
  const Distribution& (*get)();
};
constexpr DistributionRow kDistributions[] = {{kDefaultDistribution, Uniform},
                                              {"normal", Tabulated<NormalQuantile>},
                                              {"pareto", Tabulated<ParetoQuantile>},
                                              {"paretonormal", Tabulated<ParetoNormalQuantile>}};

const DistributionRow& FindDistribution(std::string_view name) {
  for (const DistributionRow& row : kDistributions) {
    if (row.name == name) return row;
  }
  throw UsageError(fmt::format("\"{}\": unknown; expected one of {}", name,
                               fmt::join(Distribution::Names(), ", ")));
}

}  // namespace

bool IsDistributionFile(std::string_view distribution) {
  return distribution.find_first_of("/.") != std::string_view::npos;
}

void CheckDistribution(std::string_view distribution) {
  if (!IsDistributionFile(distribution)) FindDistribution(distribution);
}

Distribution::Distribution(Formula quantile) : formula_(quantile) {
  std::vector<double> knots(kKnots + 1);
  for (size_t i = 0; i <= kKnots; ++i) knots[i] = Exact(quantile, static_cast<double>(i) / kKnots);
  table_ = std::make_shared<const std::vector<double>>(std::move(knots));
}

Distribution Distribution::Named(std::string_view name) { return FindDistribution(name).get(); }

std::vector<std::string_view> Distribution::Names() {
  std::vector<std::string_view> names;
  for (const DistributionRow& row : kDistributions) names.push_back(row.name);
  return names;
}

const Distribution& Distribution::Normal() { return Tabulated<NormalQuantile>(); }

Distribution Distribution::Of(const std::string& name, const FileReader& read_file) {
  return IsDistributionFile(name) ? FromTable(read_file(name), name) : Named(name);
}

Distribution Distribution::FromTable(std::string_view text, const std::string& file) {
  std::vector<double> entries;
  ForEachLine(text, file, [&](std::string_view line) {
    ForEachField(line, [&](std::string_view field) {
      int64_t value = 0;
      const auto end = std::from_chars(field.data(), field.data() + field.size(), value);
      if (end.ec != std::errc() || end.ptr != field.data() + field.size() || value < INT16_MIN ||
          value > INT16_MAX) {
        throw UsageError(
            fmt::format("\"{}\": expected a whole number from -32768 to 32767", field));
      }
      if (entries.size() == kMaxTable) {
        throw UsageError(fmt::format("the table has more than {} numbers", kMaxTable));
      }
      entries.push_back(static_cast<double>(value) / kTableScale);
    });
  });
  if (entries.empty())
    throw UsageError(file + ": contains no numbers; expected a table in netem's format");
  std::sort(entries.begin(), entries.end());
  Distribution distribution;
  distribution.table_ = std::make_shared<const std::vector<double>>(std::move(entries));
  return distribution;
}

double Distribution::Quantile(double u) const {
  if (!table_) return 2 * u - 1;
  if (formula_ == nullptr) {
    const double place = u * static_cast<double>(table_->size());
    return (*table_)[std::min(static_cast<size_t>(place), table_->size() - 1)];
  }
  const double place = u * kKnots;
  const auto knot = static_cast<size_t>(place);
  if (knot < kTailKnots || knot >= kKnots - kTailKnots) return Exact(formula_, u);
  const double below = (*table_)[knot];
  return below + ((*table_)[knot + 1] - below) * (place - static_cast<double>(knot));
}

}  // namespace viaduct::path
