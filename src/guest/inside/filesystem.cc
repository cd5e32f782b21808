#include "guest/inside/filesystem.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "sys/network/netns.h"

namespace viaduct::guest::inside {
namespace {

// The mount point of the overlay's layers, in mount namespaces that exist as long as their node.
constexpr const char* kWorkshop = "/run/viaduct-node";

void Mount(const char* type, const std::string& where, const char* options = nullptr) {
  mkdir(where.c_str(), 0755);
  SystemCall("mount " + where, mount(type, where.c_str(), type, 0, options));
}

// Writes the files with names of hosts (resolv.conf, hostname, hosts) for a node. The host's name
// servers cannot be reached from the node, and programs that query them would wait for seconds. The
// node's resolv.conf(5) lists no server, so programs query the node itself.
void WriteNames(const std::string& folder, const std::string& node) {
  mkdir(folder.c_str(), 0755);
  WriteFile(folder + "/resolv.conf", "# no name server\n");
  WriteFile(folder + "/hostname", node + "\n");
  WriteFile(folder + "/hosts", fmt::format("127.0.0.1 localhost\n127.0.1.1 {}\n"
                                           "::1 localhost ip6-localhost ip6-loopback\n",
                                           node));
}

void MountLayers(const std::string& node) {
  const std::string base = kWorkshop;
  Mount("tmpfs", base, "mode=755");
  for (const char* folder : {"/upper", "/work", "/root"}) mkdir((base + folder).c_str(), 0755);
  WriteNames(base + "/upper/etc", node);
  const std::string options = fmt::format("lowerdir=/,upperdir={0}/upper,workdir={0}/work", base);
  Mount("overlay", base + "/root", options.c_str());
}

void MountSystem(const std::string& root) {
  Mount("proc", root + "/proc");
  Mount("sysfs", root + "/sys");
  Mount("tmpfs", root + "/run", "mode=755");
  Mount("devtmpfs", root + "/dev");
  Mount("devpts", root + "/dev/pts", "newinstance,ptmxmode=0666,mode=0620");
  Mount("tmpfs", root + "/dev/shm");
  mkdir((root + "/run/lock").c_str(), 01777);
}

void EnterRoot(const std::string& root) {
  SystemCall("chdir " + root, chdir(root.c_str()));
  SystemCall("pivot_root", static_cast<int>(syscall(SYS_pivot_root, ".", ".")));
  SystemCall("umount the old root", umount2(".", MNT_DETACH));
  SystemCall("chdir /", chdir("/"));
}

void Build(const std::string& node, int network) {
  SystemCall("setns", setns(network, CLONE_NEWNET));
  SystemCall("unshare", unshare(CLONE_NEWNS | CLONE_NEWUTS));
  SystemCall("make mounts private", mount("", "/", "", MS_REC | MS_PRIVATE, nullptr));
  SystemCall("sethostname", sethostname(node.data(), node.size()));
  MountLayers(node);
  const std::string root = std::string(kWorkshop) + "/root";
  MountSystem(root);
  EnterRoot(root);
}

UniqueFd OpenOwnNamespace(const char* kind) {
  const std::string path = fmt::format("/proc/thread-self/ns/{}", kind);
  return UniqueFd(SystemCall("open " + path, open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

}  // namespace

NodeFilesystem MakeNodeFilesystem(const std::string& node, int network) {
  mkdir(kWorkshop, 0755);
  NodeFilesystem made;
  try {
    sys::OnOwnThread([&] {
      Build(node, network);
      made.mounts = OpenOwnNamespace("mnt");
      made.host_name = OpenOwnNamespace("uts");
    });
  } catch (const SystemError& error) {
    const std::string_view words = error.what();
    throw SystemError(
        fmt::format("create the files of {}: {}", node, words.substr(0, words.find(": "))),
        error.error_number());
  }
  return made;
}

}  // namespace viaduct::guest::inside
