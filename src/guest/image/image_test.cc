#include "guest/image/image.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace viaduct::guest {
namespace {

namespace fs = std::filesystem;

// A fixture with a separate store of images, which are never run.
class ImageTest : public testing::Test {
 protected:
  void SetUp() override {
    cache_ = fs::path(testing::TempDir()) / ("viaduct-images-" + std::to_string(getpid()));
    fs::create_directories(cache_ / "kernels");
    setenv("VIADUCT_CACHE", cache_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("VIADUCT_CACHE");
    fs::remove_all(cache_);
  }
  void Add(const std::string& release, const std::string& key) {
    Image image;
    image.release = release;
    image.source = "linux-source";
    image.devices = 2036;
    image.absent = {"CONFIG_IP_DCCP"};
    const fs::path folder = cache_ / "kernels" / (release + "-" + key);
    fs::create_directory(folder);
    std::ofstream(folder / "image.json") << nlohmann::json(image);
    std::ofstream(folder / "linux") << "";
  }
  fs::path Write(const std::string& name, const std::string& text) {
    std::ofstream(cache_ / name) << text;
    return cache_ / name;
  }
  static std::string Refusal(const std::string& wanted) {
    try {
      FindImage(wanted);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return error.what();
    }
    return "not refused";
  }
  fs::path cache_;
};

TEST_F(ImageTest, AnEmptyVariableIsNone) {
  setenv("VIADUCT_CACHE", "", 1);
  setenv("XDG_CACHE_HOME", "", 1);
  EXPECT_TRUE(ImageStore().is_absolute()) << ImageStore();
  setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
  EXPECT_EQ(ImageStore(), cache_ / "viaduct" / "kernels");
  unsetenv("XDG_CACHE_HOME");
}

TEST_F(ImageTest, ReleasesCompareByNumber) {
  EXPECT_TRUE(OlderRelease("6.9.1", "6.12.0"));
  EXPECT_FALSE(OlderRelease("6.12.0", "6.9.1"));
  EXPECT_TRUE(OlderRelease("6.1", "6.1.1"));
  EXPECT_FALSE(OlderRelease("6.1", "6.1"));
}

TEST_F(ImageTest, ListIsNewestFirst) {
  Add("6.1.192", "a");
  Add("6.12.117", "b");
  Add("6.9.3", "c");
  const auto images = ListImages();
  ASSERT_EQ(images.size(), 3u);
  EXPECT_EQ(images[0].release, "6.12.117");
  EXPECT_EQ(images[1].release, "6.9.3");
  EXPECT_EQ(images[2].release, "6.1.192");
  EXPECT_EQ(images[0].devices, 2036u);
  EXPECT_THAT(images[0].absent, testing::ElementsAre("CONFIG_IP_DCCP"));
}

TEST_F(ImageTest, AskedForByReleaseOrNot) {
  Add("6.1.192", "a");
  Add("6.12.117", "b");
  EXPECT_EQ(FindImage("").release, "6.12.117");
  EXPECT_EQ(FindImage("6.1").release, "6.1.192");
  EXPECT_EQ(FindImage("6.12.117").release, "6.12.117");
}

TEST_F(ImageTest, OfOneReleaseTheOneBuiltLast) {
  const auto built = [&](const std::string& key, int seconds) {
    Add("6.12.117", key);
    fs::last_write_time(
        cache_ / "kernels" / ("6.12.117-" + key) / "image.json",
        fs::file_time_type::clock::now() - std::chrono::hours(1) + std::chrono::seconds(seconds));
  };
  built("a", 1);
  built("b", 3);
  built("c", 2);
  for (const char* wanted : {"", "6.12", "6.12.117"}) {
    EXPECT_EQ(FindImage(wanted).file, cache_ / "kernels" / "6.12.117-b" / "linux") << wanted;
  }
  const fs::path oldest = cache_ / "kernels" / "6.12.117-a" / "linux";
  for (const Image& image : ListImages()) {
    if (image.file == oldest) MarkAsWanted(image);
  }
  EXPECT_EQ(FindImage("").file, oldest);
}

TEST_F(ImageTest, WhatWasNotBuiltIsSaid) {
  EXPECT_THAT(Refusal(""), testing::HasSubstr("viaduct kernel build"));
  Add("6.12.117", "b");
  EXPECT_THAT(Refusal("6.5"),
              testing::AllOf(testing::HasSubstr("no kernel 6.5"), testing::HasSubstr("6.12.117"),
                             testing::HasSubstr("debian:6.5")));
  EXPECT_THAT(Refusal("6.12.11"), testing::HasSubstr("no kernel 6.12.11"));
}

TEST_F(ImageTest, UnfinishedImagesArePassedOver) {
  fs::create_directories(cache_ / "kernels" / ".build" / "image");
  fs::create_directory(cache_ / "kernels" / "6.12.1-x");
  std::ofstream(cache_ / "kernels" / "6.12.1-x" / "linux") << "";
  EXPECT_TRUE(ListImages().empty());
}

TEST_F(ImageTest, MalformedDescriptionIsAnErrorThatNamesIt) {
  Add("6.12.117", "b");
  std::ofstream(cache_ / "kernels" / "6.12.117-b" / "image.json") << "{\"release\": 6}";
  EXPECT_THAT(Refusal(""), testing::HasSubstr("6.12.117-b/image.json"));
}

TEST_F(ImageTest, FilesThatAreNoKernelForGuestsAreRefused) {
  EXPECT_THAT(Refusal("/no/such/linux"), testing::HasSubstr("does not exist"));
  EXPECT_THAT(Refusal(Write("text", "#!/bin/sh\n")), testing::HasSubstr("not an executable"));
  EXPECT_THAT(Refusal(Write("short",
                            "\x7f"
                            "ELF")),
              testing::HasSubstr("not an executable"));
  EXPECT_THAT(Refusal("/bin/true"), testing::HasSubstr("not a User Mode Linux kernel"));
  std::string arm(64, '\0');
  arm.replace(0, 5,
              "\x7f"
              "ELF\x02");
  arm[18] = '\xb7';  // the machine in the ELF header: EM_AARCH64
  EXPECT_THAT(Refusal(Write("arm", arm)), testing::HasSubstr("x86-64"));
}

}  // namespace
}  // namespace viaduct::guest
