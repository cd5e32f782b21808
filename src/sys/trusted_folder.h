// Folders in which only root and this user can create files.
//
// A folder is checked by its descriptor: no symbolic link in its path is followed, and no process
// can replace the folder between the check and the use.
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
    mode_t mode = 0755;  // mode of a new folder, independent of the umask
    bool stays = true;   // whether the folder is kept when it is empty
  };

  std::filesystem::path base;   // the folder that is trusted without a check: /run, /tmp
  std::vector<Folder> folders;  // folders inside each other; the first is in `base`
  std::string remedy = "remove this directory";  // advice if a folder belongs to another user

  std::filesystem::path path() const;
};

// The folder of root's files that the machine deletes when it shuts down; RunPlace() returns this
// folder, or a folder in it.
inline constexpr char kRunFolder[] = "/run/viaduct";
TrustedPlace RunPlace();
TrustedPlace RunPlace(TrustedPlace::Folder folder);

// Returns a folder for files that are needed only while processes of this user run. For root it is
// in RunPlace(), with a dot before its name. For other users it is in viaduct in XDG_RUNTIME_DIR;
// without that variable in /tmp/viaduct-UID, or, if that folder is another user's, in
// /tmp/viaduct-UID-RANDOM.
TrustedPlace UserPlace(const std::string& folder);
// Returns all folders that UserPlace() may have returned to processes of this user, in any
// environment (sudo removes XDG_RUNTIME_DIR): the folder of UserPlace() first, and also root's
// folder, which only root can open.
std::vector<TrustedPlace> UserPlaces(const std::string& folder);
// Returns the folder that UserPlace() returns to root; other users may see that it exists.
TrustedPlace RootsPlace(const std::string& folder);

// Opens the last of the folders; returns nothing if the folder does not exist, or this user may not
// read it. Throws EnvironmentError if one of the folders belongs to another user, is writable by
// other users, or is not a folder.
UniqueFd OpenTrusted(const TrustedPlace& place);
// Opens the last of the folders, and makes missing folders. Throws SystemError if that is
// impossible.
UniqueFd MakeTrusted(const TrustedPlace& place);
// Removes those of the folders of a place that are empty and whose `stays` is false.
void RemoveIfEmpty(TrustedPlace place);

// Whether the file belongs to root or to the effective user. Throws SystemError.
bool IsOwn(int fd);
// Whether the file belongs to root or to the effective user, and no other user may write to it.
// Throws SystemError.
bool IsTrusted(int fd);

// Opens a folder in another folder; does not follow a symbolic link. Returns nothing, with the
// reason in errno, if the folder cannot be opened.
UniqueFd OpenFolderAt(int parent, const std::string& name);
// Opens a folder in another folder like OpenFolderAt(), and makes the folder if it does not exist.
UniqueFd MakeFolderAt(int parent, const TrustedPlace::Folder& folder);
// Whether the entry `name` of the folder is still the file whose descriptor is `fd`.
bool IsStill(int fd, int folder, const std::string& name);
// Returns the sorted names of the entries of an open folder; none if the descriptor is not open
// (below 0). Throws SystemError.
std::vector<std::string> NamesIn(int folder);
// Returns the path of an open folder, or of a file in it, for calls that take no descriptor.
std::string PathIn(int folder, const std::string& name = "");

}  // namespace viaduct::sys
