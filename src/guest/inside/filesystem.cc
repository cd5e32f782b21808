#include "guest/inside/filesystem.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace viaduct::guest::inside {
namespace {

// Where the layers are mounted, in namespaces that live as long as their node.
constexpr const char* kWorkshop = "/run/viaduct-node";

void Mount(const char* type, const std::string& where, const char* options = nullptr) {
  mkdir(where.c_str(), 0755);
  SystemCall("mount " + where, mount(type, where.c_str(), type, 0, options));
}

void WriteFile(const std::string& path, const std::string& text) {
  const UniqueFd file(
      SystemCall("create " + path, open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)));
  SystemCall("write " + path, write(file.get(), text.data(), text.size()));
}

// A node has its own names: this machine's name servers cannot be reached from it, and programs
// that query them would wait for seconds. Without a server, resolv.conf(5) means the node itself.
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

struct Outcome {
  int error_number;
  char attempted[124];
};

// Runs in the child: reports, then keeps the namespaces alive until it is told to end.
[[noreturn]] void BuildAndReport(const std::string& node, int network, int report, int go) {
  Outcome outcome{};
  try {
    Build(node, network);
  } catch (const SystemError& error) {
    outcome.error_number = error.error_number();
    std::string_view(error.what()).copy(outcome.attempted, sizeof outcome.attempted - 1);
  }
  char byte;
  const bool told = write(report, &outcome, sizeof outcome) == sizeof outcome;
  _exit(told && read(go, &byte, 1) == 0 ? 0 : 1);
}

std::pair<UniqueFd, UniqueFd> Pipe() {
  int ends[2];
  SystemCall("pipe2", pipe2(ends, O_CLOEXEC));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

UniqueFd OpenNamespace(int pid, const char* kind) {
  const std::string path = fmt::format("/proc/{}/ns/{}", pid, kind);
  return UniqueFd(SystemCall("open " + path, open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

}  // namespace

NodeFilesystem MakeNodeFilesystem(const std::string& node, int network) {
  mkdir(kWorkshop, 0755);
  auto [report_read, report_write] = Pipe();
  auto [go_read, go_write] = Pipe();
  const pid_t child = SystemCall("fork", fork());
  if (child == 0) {
    go_write.reset();
    BuildAndReport(node, network, report_write.get(), go_read.get());
  }
  report_write.reset();
  Outcome outcome{};
  const bool complete = read(report_read.get(), &outcome, sizeof outcome) == sizeof outcome;
  NodeFilesystem result;
  if (complete && outcome.error_number == 0) {
    result.mounts = OpenNamespace(child, "mnt");
    result.host_name = OpenNamespace(child, "uts");
  }
  go_write.reset();
  waitpid(child, nullptr, 0);
  if (!complete) throw SystemError("make the files of " + node, EIO);
  if (outcome.error_number != 0) {
    const std::string_view words = outcome.attempted;
    throw SystemError(
        fmt::format("make the files of {}: {}", node, words.substr(0, words.find(": "))),
        outcome.error_number);
  }
  return result;
}

}  // namespace viaduct::guest::inside
