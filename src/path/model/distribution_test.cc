#include "path/model/distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "path/test_statistics.h"

namespace viaduct::path {
namespace {

using testing::HasSubstr;

double ParetoQuantile(double u) { return (std::pow(1 - u, -1.0 / 3) - 1.5) * 4 / 3; }

TEST(DistributionTest, TheNormalQuantileInvertsTheProbability) {
  for (const double p : {1e-15, 1e-9, 1e-4, 0.02, 0.025, 0.3, 0.5, 0.7, 0.999, 1 - 1e-9}) {
    EXPECT_NEAR(NormalProbability(NormalQuantile(p)) / p, 1, 1e-12) << p;
  }
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-14);  // value from tables of quantiles
  EXPECT_NEAR(NormalProbability(-6), 9.865876450376981e-10, 1e-22);
}

TEST(DistributionTest, TheQuantilesAreThoseOfTheirFormulas) {
  EXPECT_EQ(Distribution().Quantile(0), -1);
  EXPECT_EQ(Distribution().Quantile(0.75), 0.5);
  for (int i = 1; i < 10000; ++i) {
    const double u = i / 10000.0;
    const double normal = NormalQuantile(u), pareto = ParetoQuantile(u);
    // Quantiles are interpolated between 4096 knots, and are exact in the tails.
    EXPECT_NEAR(Distribution::Normal().Quantile(u), normal, 2e-4) << u;
    EXPECT_NEAR(Distribution::Named("pareto").Quantile(u), pareto, 2e-3 * (1 + pareto * pareto))
        << u;
    EXPECT_NEAR(Distribution::Named("paretonormal").Quantile(u), 0.25 * normal + 0.75 * pareto,
                2e-3 * (1 + pareto * pareto))
        << u;
  }
}

TEST(DistributionTest, HasItsTails) {
  for (const double u : {1e-6, 1e-12}) {
    EXPECT_NEAR(Distribution::Normal().Quantile(u), NormalQuantile(u), 1e-9);
    EXPECT_NEAR(Distribution::Named("pareto").Quantile(1 - u) / ParetoQuantile(1 - u), 1, 1e-9);
  }
  for (const char* name : {"uniform", "normal", "pareto", "paretonormal"}) {
    for (const double u : {0.0, 1 - 0x1.0p-53}) {
      EXPECT_TRUE(std::isfinite(Distribution::Named(name).Quantile(u))) << name;
    }
  }
  EXPECT_THROW(Distribution::Named("gamma"), UsageError);
}

TEST(DistributionTest, NeverDecreases) {
  for (const char* name : {"uniform", "normal", "pareto", "paretonormal"}) {
    const Distribution distribution = Distribution::Named(name);
    double before = distribution.Quantile(0);
    for (int i = 1; i < 200000; ++i) {
      const double value = distribution.Quantile(i / 200000.0);
      ASSERT_GE(value, before) << name << " at " << i;
      before = value;
    }
  }
}

TEST(DistributionTest, ReadsATableOfNetem) {
  const Distribution table =
      Distribution::FromTable("# made by hand\n 0 -8192\n\n4096\t8192 # the end\n", "t.dist");
  EXPECT_EQ(table.Quantile(0), -1);
  EXPECT_EQ(table.Quantile(0.2499), -1);
  EXPECT_EQ(table.Quantile(0.25), 0);
  EXPECT_EQ(table.Quantile(0.5), 0.5);
  EXPECT_EQ(table.Quantile(1 - 0x1.0p-53), 1);
}

std::string TableError(std::string_view text) {
  try {
    Distribution::FromTable(text, "t.dist");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(DistributionTest, NamesWhatIsWrongWithATable) {
  EXPECT_THAT(TableError(""), HasSubstr("t.dist: contains no numbers"));
  EXPECT_THAT(TableError("# nothing\n"), HasSubstr("t.dist: contains no numbers"));
  EXPECT_THAT(TableError("1 2\n3 x"), HasSubstr("t.dist:2: \"x\""));
  EXPECT_THAT(TableError("1.5"), HasSubstr("t.dist:1: \"1.5\": expected a whole number"));
  EXPECT_THAT(TableError("32768"), HasSubstr("from -32768 to 32767"));
  std::string many;
  for (int i = 0; i < 16385; ++i) many += "0 ";
  EXPECT_THAT(TableError(many), HasSubstr("more than 16384"));
}

}  // namespace
}  // namespace viaduct::path
