// How a delay strays from its mean, in units of the jitter: uniform, normal, pareto, paretonormal
// (as iproute2 defines them, but continuous and with their tails), or any table in netem's format.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace viaduct::path {

// The standard normal distribution: P(Z <= z), and its inverse for 0 < p < 1.
double NormalProbability(double z);
double NormalQuantile(double p);

// Cheap to copy: tables are shared.
class Distribution {
 public:
  // -1 to 1.
  static Distribution Uniform();
  // Mean 0, standard deviation 1.
  static Distribution Normal();
  // Heavy tail to the right: Pareto with shape 3, ((1-u)^(-1/3) - 3/2) 4/3.
  static Distribution Pareto();
  // A quarter normal, three quarters Pareto, quantile by quantile.
  static Distribution ParetoNormal();
  // "uniform", "normal", "pareto", "paretonormal".
  static Distribution Named(std::string_view name);
  // The text of a file in the format of iproute2's netem tables: whole numbers, each 1/8192 of the
  // jitter; # starts a comment. Every entry is as likely as every other, so their order does not
  // matter. Throws UsageError naming `file` and the line.
  static Distribution FromTable(std::string_view text, const std::string& file);

  // The value that a share u of all values lies below; 0 <= u < 1.
  double Quantile(double u) const;
  bool IsNormal() const { return kind_ == Kind::kNormal; }

 private:
  enum class Kind : uint8_t { kUniform, kNormal, kPareto, kParetoNormal, kTable };
  explicit Distribution(Kind kind);
  static double Exact(Kind kind, double u);

  Kind kind_;
  // kTable: the entries; else: the quantiles of i/size, between which is interpolated.
  std::shared_ptr<const std::vector<double>> table_;
};

}  // namespace viaduct::path
