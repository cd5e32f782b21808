// Folders in which nobody but root and this user puts anything.
//
// What a folder is, is asked of its descriptor: no symbolic link is followed on the way, and nobody
// can exchange a folder between the look at it and its use.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/fd.h"

namespace viaduct::sys {

struct TrustedPlace {
  struct Folder {
    std::string name;
    mode_t mode = 0755;  // of one that is made, whatever the umask is
    bool stays = true;   // when it is empty
  };

  std::filesystem::path base;        // taken as it is: /run, /tmp
  std::vector<Folder> folders;       // each in the one before, the first one in `base`
  std::string remedy = "remove it";  // what to do about a folder that is somebody else's

  std::filesystem::path path() const;
};

// Where root's processes keep what ends with the machine's run; and a folder there.
inline constexpr char kRunFolder[] = "/run/viaduct";
TrustedPlace RunPlace();
TrustedPlace RunPlace(TrustedPlace::Folder folder);

// A folder where processes of this user keep what ends with them: for root that is in RunPlace(), a
// dot before its name; else it is in viaduct in XDG_RUNTIME_DIR, or in /tmp/viaduct-UID, or, where
// that is somebody else's, in /tmp/viaduct-UID-RANDOM.
TrustedPlace UserPlace(const std::string& folder);
// All such folders that this user's processes may have used, whatever their environment was (sudo
// takes XDG_RUNTIME_DIR away), UserPlace() first; and root's, which opens for root alone.
std::vector<TrustedPlace> UserPlaces(const std::string& folder);
// Root's, which others may see.
TrustedPlace RootsPlace(const std::string& folder);

// Opens the last of the folders; none where it is not there, or this user may not read it. Throws
// EnvironmentError where one of them is somebody else's, may be written to by others, or is no
// folder.
UniqueFd OpenTrusted(const TrustedPlace& place);
// The same, but makes the folders that are not there. Throws SystemError where it cannot.
UniqueFd MakeTrusted(const TrustedPlace& place);
// Removes those of the folders that are empty and do not stay.
void RemoveIfEmpty(TrustedPlace place);

// Whether the file belongs to root or to the effective user. Throws SystemError.
bool IsOwn(int fd);
// Whether, besides, nobody else may write to it. Throws SystemError.
bool IsTrusted(int fd);

// Opens a folder in another, but no symbolic link; none where it cannot, errno says why.
UniqueFd OpenFolderAt(int parent, const std::string& name);
// The same, but makes it if it is not there.
UniqueFd MakeFolderAt(int parent, const TrustedPlace::Folder& folder);
// Whether the open file is still the one of that name in the folder.
bool IsStill(int fd, int folder, const std::string& name);
// The names of what is in an open folder, in their order; none where it is not open (below 0).
// Throws SystemError.
std::vector<std::string> NamesIn(int folder);
// What an open folder, or a file in it, is called by calls that take no descriptor.
std::string PathIn(int folder, const std::string& name = "");

}  // namespace viaduct::sys
