// The distribution of a delay's deviation from its mean, in units of the jitter: uniform, normal,
// pareto, paretonormal (as iproute2 defines them, but continuous and with their tails), or any
// table in netem's format.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "path/packet/pipeline_options.h"

namespace viaduct::path {

// The standard normal distribution: the probability P(Z <= z), and its inverse for 0 < p < 1.
double NormalProbability(double z);
double NormalQuantile(double p);

inline constexpr const char* kDefaultDistribution = "uniform";
// Returns whether `distribution` is the name of a file and not of one of the known distributions.
bool IsDistributionFile(std::string_view distribution);
// Throws UsageError if `distribution` is neither a file nor a known name.
void CheckDistribution(std::string_view distribution);

// A distribution, which is cheap to copy because copies share the table.
class Distribution {
 public:
  using Formula = double (*)(double p);  // quantile function, 0 < p < 1

  // Constructs the uniform distribution from -1 to 1.
  Distribution() = default;
  // Constructs the distribution with this quantile function, which is tabulated except in the
  // tails.
  explicit Distribution(Formula quantile);
  // Returns the distribution of a row of the table in distribution.cc; throws UsageError for an
  // unknown name.
  static Distribution Named(std::string_view name);
  static std::vector<std::string_view> Names();
  static const Distribution& Normal();
  // Returns the distribution of the text of a file in the format of iproute2's netem tables: whole
  // numbers, each 1/8192 of the jitter; # starts a comment. All entries are equally likely, so
  // their order does not matter. Throws UsageError naming `file` and the line.
  static Distribution FromTable(std::string_view text, const std::string& file);
  // Returns the distribution that a SPEC gives: by name, or by a file that `read_file` reads.
  // Throws UsageError if the name or the file is not valid.
  static Distribution Of(const std::string& name, const FileReader& read_file);

  // Returns the value below which a share u of all values lies; 0 <= u < 1.
  double Quantile(double u) const;
  bool IsNormal() const { return formula_ == NormalQuantile; }

 private:
  Formula formula_ = nullptr;
  // The table; null for the uniform distribution. With a formula, the table has the formula's
  // values at i/size, for interpolation; without a formula, it has the entries of a file.
  std::shared_ptr<const std::vector<double>> table_;
};

}  // namespace viaduct::path
