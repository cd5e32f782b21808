// Statistics for tests of random models. Each check is made at kConfidence: with a correct model, a
// check fails for one seed in a million. The seeds are fixed, so a test that passes continues to
// pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

namespace viaduct::path::test {

inline constexpr double kConfidence = 1 - 1e-6;
inline constexpr double kSigmas = 4.892;  // for a two-sided check at kConfidence

// Returns the maximum deviation from n * probability, at kConfidence, of a count of `n` independent
// trials.
inline double BinomialBound(double n, double probability) {
  return kSigmas * std::sqrt(n * probability * (1 - probability)) + 1;
}

// Returns the maximum distance between the samples' distribution and `cdf` (Kolmogorov-Smirnov).
inline double KsDistance(std::vector<double> samples, const std::function<double(double)>& cdf) {
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  double distance = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double expected = cdf(samples[i]);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, expected - rank / n, (rank + 1) / n - expected});
  }
  return distance;
}

// Returns the maximum KsDistance() at kConfidence, from the first term of Kolmogorov's
// distribution.
inline double KsBound(size_t n) {
  return std::sqrt(-std::log((1 - kConfidence) / 2) / (2 * static_cast<double>(n)));
}

// Pearson's chi-squared statistic; a bin with fewer than 10 expected samples is joined with the
// next bin.
struct ChiSquare {
  double value = 0;
  int degrees = -1;
  // Returns the quantile at kConfidence, by Wilson and Hilferty's approximation (1931).
  double Bound() const {
    const double z = 4.753;  // for a one-sided check at kConfidence
    const double k = degrees;
    return k * std::pow(1 - 2 / (9 * k) + z * std::sqrt(2 / (9 * k)), 3);
  }
};
inline ChiSquare CompareBins(const std::vector<uint64_t>& counts,
                             const std::vector<double>& probabilities) {
  const auto n = static_cast<double>(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
  ChiSquare result;
  double count = 0, expected = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    count += static_cast<double>(counts[i]);
    expected += n * probabilities[i];
    if (expected < 10 && i + 1 < counts.size()) continue;
    result.value += (count - expected) * (count - expected) / std::max(expected, 1e-9);
    ++result.degrees;
    count = expected = 0;
  }
  return result;
}

// Returns the lengths of the runs of `value`: result[i] counts runs of length i + 1, the last bin
// also all longer runs. The first and the last run are left out because they may be truncated.
inline std::vector<uint64_t> RunLengths(const std::vector<bool>& sequence, bool value,
                                        size_t bins) {
  std::vector<uint64_t> lengths(bins);
  size_t start = 0;
  for (size_t i = 1; i <= sequence.size(); ++i) {
    if (i < sequence.size() && sequence[i] == sequence[i - 1]) continue;
    if (start > 0 && i < sequence.size() && sequence[start] == value) {
      ++lengths[std::min(i - start, bins) - 1];
    }
    start = i;
  }
  return lengths;
}

// Returns the probabilities of RunLengths()' bins when a run continues with probability `stay`.
inline std::vector<double> GeometricBins(double stay, size_t bins) {
  std::vector<double> probabilities(bins);
  for (size_t i = 0; i + 1 < bins; ++i) {
    probabilities[i] = std::pow(stay, static_cast<double>(i)) * (1 - stay);
  }
  probabilities[bins - 1] = std::pow(stay, static_cast<double>(bins - 1));
  return probabilities;
}

// Returns the autocorrelation of a sequence at this lag.
inline double Autocorrelation(const std::vector<double>& samples, size_t lag) {
  const auto n = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / n;
  double variance = 0, covariance = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    variance += (samples[i] - mean) * (samples[i] - mean);
    if (i + lag < samples.size()) covariance += (samples[i] - mean) * (samples[i + lag] - mean);
  }
  return covariance / variance;
}

}  // namespace viaduct::path::test
