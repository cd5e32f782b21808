// Folders in which only root and this user create files.
//
// A folder is checked by its descriptor: no symbolic link is followed on the way, and no process
// can exchange a folder between the check and the use.
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
    mode_t mode = 0755;  // mode of a new folder, whatever the umask is
    bool stays = true;   // true: kept when it is empty
  };

  std::filesystem::path base;        // trusted without a check: /run, /tmp
  std::vector<Folder> folders;       // each inside the previous one, the first in `base`
  std::string remedy = "remove it";  // advice about another user's folder

  std::filesystem::path path() const;
};

// The folder of root's files that end with the machine's run; and a folder in it.
inline constexpr char kRunFolder[] = "/run/viaduct";
TrustedPlace RunPlace();
TrustedPlace RunPlace(TrustedPlace::Folder folder);

// Returns a folder for files that end with processes of this user. For root it is in RunPlace(), a
// dot before its name; else it is in viaduct in XDG_RUNTIME_DIR, or in /tmp/viaduct-UID, or, if
// that is another user's, in /tmp/viaduct-UID-RANDOM.
TrustedPlace UserPlace(const std::string& folder);
// Returns all such folders that this user's processes may have used, whatever their environment was
// (sudo removes XDG_RUNTIME_DIR), UserPlace() first; and root's, which only root can open.
std::vector<TrustedPlace> UserPlaces(const std::string& folder);
// Returns root's folder, which other users may see.
TrustedPlace RootsPlace(const std::string& folder);

// Opens the last of the folders; returns nothing if it does not exist, or this user may not read
// it. Throws EnvironmentError if one of the folders is another user's, may be written to by others,
// or is no folder.
UniqueFd OpenTrusted(const TrustedPlace& place);
// Opens the last of the folders, and makes the missing ones. Throws SystemError if it cannot.
UniqueFd MakeTrusted(const TrustedPlace& place);
// Removes the folders that are empty and not `stays`.
void RemoveIfEmpty(TrustedPlace place);

// Whether the file belongs to root or to the effective user. Throws SystemError.
bool IsOwn(int fd);
// Whether the file belongs to root or to the effective user, and no other user may write to it.
// Throws SystemError.
bool IsTrusted(int fd);

// Opens a folder in another, but no symbolic link; returns nothing if it cannot, with the reason in
// errno.
UniqueFd OpenFolderAt(int parent, const std::string& name);
// Opens a folder in another like OpenFolderAt(), and makes it if it does not exist.
UniqueFd MakeFolderAt(int parent, const TrustedPlace::Folder& folder);
// Whether the open file still has that name in the folder.
bool IsStill(int fd, int folder, const std::string& name);
// Returns the sorted names of the entries of an open folder; none if it is not open (below 0).
// Throws SystemError.
std::vector<std::string> NamesIn(int folder);
// Returns the path of an open folder, or of a file in it, for calls that take no descriptor.
std::string PathIn(int folder, const std::string& name = "");

}  // namespace viaduct::sys
