// A kernel that guests run: a User Mode Linux executable and its properties.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/fields.h"

namespace viaduct::guest {

struct Image {
  // The way guests are scheduled: through shared memory (since 6.12), else by messages only.
  enum class Schedule { kMessages, kShared };

  std::filesystem::path file;             // the executable
  std::string release;                    // "6.12.117"
  std::filesystem::file_time_type built;  // the time, or that of the last request to build it
  std::string source;                     // a description of its source; "" if unknown
  Schedule schedule = Schedule::kMessages;
  // The limits of one guest. The defaults are those of an unpatched kernel.
  size_t devices = 52;         // virtual devices, without the console
  size_t command_line = 4096;  // bytes, including the terminating zero
  int hz = 100;                // jiffies per second
  // Options of kernel.config that this kernel does not have ("CONFIG_IP_DCCP").
  std::vector<std::string> absent;

  // The keys of image.json, the description that is stored next to the executable.
  static fields::KeysOf<Image> Keys();
};

// Returns the folder of the images: kernels/ in VIADUCT_CACHE, else XDG_CACHE_HOME/viaduct, else
// ~/.cache/viaduct.
std::filesystem::path ImageStore();

// Returns all images of the store (under sudo, also those of the invoking user), sorted by release,
// newest first, then by build time, newest first. Folders without a complete image are skipped.
std::vector<Image> ListImages();

// Returns the first image of the list that matches `wanted`: "" matches any; "6.12" or "6.12.117"
// one of that release; a word with a slash is the path of an executable, examined as below. Throws
// EnvironmentError if no such image was built, UsageError if the file is not a kernel for guests.
Image FindImage(const std::string& wanted);

// Marks the image as the last one built, because a build was requested that resulted in it. Does
// nothing if the store cannot be written.
void MarkAsWanted(const Image& image);

// Determines the properties of an executable by running it. Throws UsageError, with a one-line
// message, when it is missing, not for this machine, not User Mode Linux, or built without time
// travel or virtual devices.
Image ExamineExecutable(const std::filesystem::path& file);

// Returns "messages" or "shared".
const char* ScheduleName(Image::Schedule schedule);
// Reads image.json. Throws Error when malformed.
Image ReadDescription(const std::filesystem::path& folder);

// Compares releases numerically: 6.9 is older than 6.12.
bool OlderRelease(const std::string& a, const std::string& b);

}  // namespace viaduct::guest
