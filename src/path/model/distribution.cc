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
constexpr size_t kTailKnots = 16;     // knots at either end between which a quantile bends too much
constexpr size_t kMaxTable = 16384;   // iproute2 tc/q_netem.c MAX_DIST
constexpr double kTableScale = 8192;  // NETEM_DIST_SCALE, include/uapi/linux/pkt_sched.h

template <size_t n>
double Polynomial(const std::array<double, n>& coefficients, double x) {
  double sum = 0;
  for (double coefficient : coefficients) sum = sum * x + coefficient;
  return sum;
}

// P. J. Acklam's rational approximation (2003), relative error 1.15e-9, for p <= 1/2.
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
  // One step of Halley's method takes it to the precision of a double.
  const double error = NormalProbability(z) - p;
  const double step = error * std::sqrt(2 * std::numbers::pi) * std::exp(z * z / 2);
  return z - step / (1 + z * step / 2);
}

double Distribution::Exact(Kind kind, double u) {
  const double p = std::clamp(u, 0x1.0p-54, 1 - 0x1.0p-53);
  if (kind == Kind::kNormal) return NormalQuantile(p);
  const double pareto = (std::pow(1 - p, -1.0 / 3) - 1.5) * 4 / 3;
  if (kind == Kind::kPareto) return pareto;
  return 0.25 * NormalQuantile(p) + 0.75 * pareto;
}

Distribution::Distribution(Kind kind) : kind_(kind) {
  if (kind == Kind::kUniform || kind == Kind::kTable) return;
  std::vector<double> knots(kKnots + 1);
  for (size_t i = 0; i <= kKnots; ++i) knots[i] = Exact(kind, static_cast<double>(i) / kKnots);
  table_ = std::make_shared<const std::vector<double>>(std::move(knots));
}

Distribution Distribution::Uniform() { return Distribution(Kind::kUniform); }

Distribution Distribution::Normal() {
  static const Distribution normal(Kind::kNormal);
  return normal;
}

Distribution Distribution::Pareto() {
  static const Distribution pareto(Kind::kPareto);
  return pareto;
}

Distribution Distribution::ParetoNormal() {
  static const Distribution pareto_normal(Kind::kParetoNormal);
  return pareto_normal;
}

Distribution Distribution::Named(std::string_view name) {
  if (name == "normal") return Normal();
  if (name == "pareto") return Pareto();
  if (name == "paretonormal") return ParetoNormal();
  if (name == "uniform") return Uniform();
  throw UsageError(
      fmt::format("dist: \"{}\": unknown; give one of uniform, normal, pareto, "
                  "paretonormal, or a file",
                  name));
}

Distribution Distribution::FromTable(std::string_view text, const std::string& file) {
  std::vector<double> entries;
  ForEachLine(text, file, [&](std::string_view line) {
    ForEachField(line, [&](std::string_view field) {
      int64_t value = 0;
      const auto end = std::from_chars(field.data(), field.data() + field.size(), value);
      if (end.ec != std::errc() || end.ptr != field.data() + field.size() || value < INT16_MIN ||
          value > INT16_MAX) {
        throw UsageError(fmt::format("\"{}\": give whole numbers from -32768 to 32767", field));
      }
      if (entries.size() == kMaxTable) {
        throw UsageError(fmt::format("more than {} numbers", kMaxTable));
      }
      entries.push_back(static_cast<double>(value) / kTableScale);
    });
  });
  if (entries.empty()) throw UsageError(file + ": no numbers in it; give a table as netem's");
  std::sort(entries.begin(), entries.end());
  Distribution distribution(Kind::kTable);
  distribution.table_ = std::make_shared<const std::vector<double>>(std::move(entries));
  return distribution;
}

double Distribution::Quantile(double u) const {
  if (kind_ == Kind::kUniform) return 2 * u - 1;
  if (kind_ == Kind::kTable) {
    const double place = u * static_cast<double>(table_->size());
    return (*table_)[std::min(static_cast<size_t>(place), table_->size() - 1)];
  }
  const double place = u * kKnots;
  const auto knot = static_cast<size_t>(place);
  if (knot < kTailKnots || knot >= kKnots - kTailKnots) return Exact(kind_, u);
  const double below = (*table_)[knot];
  return below + ((*table_)[knot + 1] - below) * (place - static_cast<double>(knot));
}

}  // namespace viaduct::path
