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

// The standard normal distribution: P(Z <= z), and its inverse for 0 < p < 1.
double NormalProbability(double z);
double NormalQuantile(double p);

inline constexpr const char* kDefaultDistribution = "uniform";
// Whether `distribution` is a file and not one of the named distributions.
bool IsDistributionFile(std::string_view distribution);
// Throws UsageError if it is neither a file nor a name.
void CheckDistribution(std::string_view distribution);

// Cheap to copy: tables are shared.
class Distribution {
 public:
  using Formula = double (*)(double p);  // a quantile, 0 < p < 1

  // Uniform, -1 to 1.
  Distribution() = default;
  // The distribution with this quantile function, which is tabulated; exact in the tails.
  explicit Distribution(Formula quantile);
  // A row of the table in distribution.cc; throws UsageError.
  static Distribution Named(std::string_view name);
  static std::vector<std::string_view> Names();
  static const Distribution& Normal();
  // The text of a file in the format of iproute2's netem tables: whole numbers, each 1/8192 of the
  // jitter; # starts a comment. Every entry is as likely as every other, so their order does not
  // matter. Throws UsageError naming `file` and the line.
  static Distribution FromTable(std::string_view text, const std::string& file);
  // The distribution that a SPEC gives: by name, or by a file that `read_file` reads. Throws
  // UsageError.
  static Distribution Of(const std::string& name, const FileReader& read_file);

  // The value that a share u of all values lies below; 0 <= u < 1.
  double Quantile(double u) const;
  bool IsNormal() const { return formula_ == NormalQuantile; }

 private:
  Formula formula_ = nullptr;
  // With a formula: its values at i/size, to interpolate between; without one: the entries of a
  // file; null: uniform.
  std::shared_ptr<const std::vector<double>> table_;
};

}  // namespace viaduct::path
