#include "path/trial.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace viaduct::path {
namespace {

using ::testing::HasSubstr;

std::string ReadNothing(const std::string& path) { throw UsageError(path + ": cannot be read"); }

template <class Work>
std::string RefusalOf(const Work& work) {
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(TrialTest, RefusesWhatOnePipelineWouldRefuse) {
  Trial trial(ReadNothing);
  EXPECT_THAT(RefusalOf([&] { trial.Add(ParseSpec("delay=trace:/nowhere"), {}); }),
              HasSubstr("/nowhere: cannot be read"));
  const size_t plain = trial.Add(Spec(), {});
  EXPECT_THAT(RefusalOf([&] { trial.Change(plain, ParseSpec("link=air rate=1Mbit")); }),
              HasSubstr("link: cannot be changed"));
  EXPECT_EQ(RefusalOf([&] { trial.Change(plain, ParseSpec("rate=1Mbit queue=3p")); }), "");
}

TEST(TrialTest, RefusesWhatPipelinesThatShareALinkWouldRefuse) {
  Trial trial(ReadNothing);
  const size_t one = trial.Add(ParseSpec("link=air"), {});
  EXPECT_THAT(RefusalOf([&] { trial.CheckLinks(); }), HasSubstr("link=air: the link has no rate"));
  const size_t two = trial.Add(ParseSpec("link=air rate=1Mbit"), {});
  EXPECT_EQ(RefusalOf([&] { trial.CheckLinks(); }), "");
  EXPECT_THAT(RefusalOf([&] { trial.Change(one, ParseSpec("link=air rate=2Mbit")); }),
              HasSubstr("another SPEC also sets the rate of this link"));
  // The definition of the shared link moves from one pipeline to the other.
  trial.Change(two, ParseSpec("link=air"));
  EXPECT_THAT(RefusalOf([&] { trial.CheckLinks(); }), HasSubstr("link=air: the link has no rate"));
  trial.Change(one, ParseSpec("link=air rate=2Mbit"));
  trial.Change(one, ParseSpec("link=air rate=3Mbit"));
  EXPECT_EQ(RefusalOf([&] { trial.CheckLinks(); }), "");
}

}  // namespace
}  // namespace viaduct::path
