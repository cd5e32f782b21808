// A kernel that guests run: a User Mode Linux executable, and what is known of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace viaduct::guest {

struct Image {
  // How guests are scheduled: through shared memory (since 6.12), else by messages only.
  enum class Schedule { kMessages, kShared };

  std::filesystem::path file;             // the executable
  std::string release;                    // "6.12.117"
  std::filesystem::file_time_type built;  // or when a build of it was last asked for
  std::string source;                     // what it was built from, in words; "" where unknown
  Schedule schedule = Schedule::kMessages;
  // What one guest may have at most. An unknown kernel is taken to have what an unpatched one has.
  size_t devices = 52;         // virtual devices, the console not counted
  size_t command_line = 4096;  // bytes, the terminating zero included
  int hz = 100;                // jiffies in a second
  // Options of kernel.config that this kernel does not have ("CONFIG_IP_DCCP").
  std::vector<std::string> absent;
};

// The folder of the images: kernels/ in VIADUCT_CACHE, else XDG_CACHE_HOME/viaduct, else
// ~/.cache/viaduct.
std::filesystem::path ImageStore();

// All images of the store (under sudo, of the user's too), newest release first, and of one release
// the one built last. A folder that holds no complete image is passed over.
std::vector<Image> ListImages();

// The first of the list that `wanted` names: "" any; "6.12" or "6.12.117" one of that release; a
// word with a slash is the path of an executable, examined as below. Throws EnvironmentError where
// nothing of the kind was built, UsageError where the file is no kernel for guests.
Image FindImage(const std::string& wanted);

// Makes it count as the one built last, because somebody asked for a build and got this image.
// Where the store cannot be written, nothing happens.
void MarkAsWanted(const Image& image);

// Reads what a file is by asking it. Throws UsageError, in one line, when it is missing, not for
// this machine, no User Mode Linux, or built without time travel or virtual devices.
Image ExamineExecutable(const std::filesystem::path& file);

// The description kept beside the executable as image.json.
nlohmann::json Describe(const Image& image);
// Throws Error when malformed.
Image ReadDescription(const std::filesystem::path& folder);

// 6.9 before 6.12.
bool OlderRelease(const std::string& a, const std::string& b);

}  // namespace viaduct::guest
