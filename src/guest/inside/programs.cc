#include "guest/inside/programs.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "guest/agent/program_protocol.h"
#include "sys/descriptors.h"
#include "sys/process/launch.h"
#include "sys/signals.h"

namespace viaduct::guest::inside {

using agent::BytesOf;
using agent::Operation;

namespace {

// Reads the zero-terminated texts of a request, one after the other.
class Texts {
 public:
  explicit Texts(std::string_view text) : text_(text) {}
  std::string Next() {
    const size_t end = text_.find('\0');
    if (end == std::string_view::npos) throw agent::ProtocolError("too short spawn request");
    std::string text(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return text;
  }
  std::vector<std::string> Next(uint32_t count) {
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < count; ++i) texts.push_back(Next());
    return texts;
  }

 private:
  std::string_view text_;
};

UniqueFd Duplicate(int fd) { return UniqueFd(SystemCall("dup", fcntl(fd, F_DUPFD_CLOEXEC, 0))); }

// Opens the master side of a new terminal of the node whose mount namespace is `mounts`; the node
// has a separate /dev.
UniqueFd OpenTerminal(int mounts) {
  const UniqueFd here(SystemCall("open the mounts of this process",
                                 open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC)));
  SystemCall("enter the node's mount namespace", setns(mounts, CLONE_NEWNS));
  const UniqueFd terminal(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
  const int error_number = errno;
  SystemCall("leave the node's mount namespace", setns(here.get(), CLONE_NEWNS));
  if (!terminal) throw SystemError("open a terminal", error_number);
  return Duplicate(terminal.get());
}

// Sets the size of a terminal; the terminal's program receives SIGWINCH if the size changes.
void SetSize(int terminal, agent::TerminalSize size) {
  const winsize value{size.rows, size.columns, 0, 0};
  ioctl(terminal, TIOCSWINSZ, &value);
}

// Returns whether `group` is the terminal's foreground process group and the terminal is not in
// canonical mode. In that case, a program of the group edits its input line itself, as shells do at
// their prompt until they start a command.
bool EditsLine(int terminal, int group) {
  termios settings{};
  int foreground = 0;
  return tcgetattr(terminal, &settings) == 0 && (settings.c_lflag & ICANON) == 0 &&
         ioctl(terminal, TIOCGPGRP, &foreground) == 0 && foreground == group;
}

// Reads the fields and texts of a spawn request that describe the program itself.
sys::LaunchOptions ReadOptions(const agent::Spawn& request, std::string_view text) {
  Texts texts(text);
  sys::LaunchOptions options;
  options.folder = texts.Next();
  options.words = texts.Next(request.words);
  options.environment = texts.Next(request.variables);
  options.group = sys::LaunchOptions::Group::kOwnSession;
  options.terminal = (request.flags & agent::kSpawnTerminal) != 0;
  options.default_signals = true;
  return options;
}

// Starts a program; returns its process ID once the program runs.
int Start(const sys::LaunchOptions& options) {
  try {
    return sys::Launch(options);
  } catch (const SystemError& error) {  // a failed start, or a process that cannot be created
    throw SystemError("start " + options.words[0], error.error_number());
  }
}

}  // namespace

Programs::Programs(service::Agent& agent, Nodes& nodes)
    : agent_(agent), nodes_(nodes), buffer_(service::kPiece) {
  // Stops sharing the root directory with the kernel's threads: otherwise the first process could
  // not enter another mount namespace.
  SystemCall("unshare", unshare(CLONE_FS));
  child_ended_ = sys::CatchSignals({SIGCHLD});
  agent_.Watch(child_ended_.get(), EPOLLIN, [this](uint32_t) { Reap(); });
  agent_.Handle(agent::kSpawn, [this](const Operation& operation) { Spawn(operation); });
  agent_.Handle(agent::kInput, [this](const Operation& operation) { Input(operation); });
  agent_.Handle(agent::kSignal, [this](const Operation& operation) { Signal(operation); });
  agent_.Handle(agent::kResize, [this](const Operation& operation) { Resize(operation); });
  agent_.Handle(agent::kAtPrompt, [this](const Operation& operation) { AtPrompt(operation); });
}

Programs::~Programs() {
  agent_.Unwatch(child_ended_.get());
  for (auto& [number, program] : programs_) {
    for (int which : {0, 1}) CloseOutput(program, which);
  }
}

const NodeFilesystem& Programs::FilesystemOf(uint32_t node) {
  const auto found = filesystems_.find(node);
  if (found != filesystems_.end()) return found->second;
  const Node& entry = nodes_.Get(node);
  return filesystems_.emplace(node, MakeNodeFilesystem(entry.name, entry.fd.get())).first->second;
}

// Creates a terminal for a program. Returns the child's ends of the standard descriptors; stores
// the agent's ends in `program`.
Programs::ChildEnds Programs::MakeTerminal(const NodeFilesystem& filesystem,
                                           agent::TerminalSize size, Program& program) {
  const UniqueFd master = OpenTerminal(filesystem.mounts.get());
  constexpr int kFlags = O_RDWR | O_NOCTTY | O_CLOEXEC;
  SystemCall("unlock the terminal", unlockpt(master.get()));
  if (size.rows > 0) SetSize(master.get(), size);
  program.terminal = true;
  ChildEnds ends;
  ends.fd[0] = UniqueFd(SystemCall("open the terminal", ioctl(master.get(), TIOCGPTPEER, kFlags)));
  for (int fd : {1, 2}) ends.fd[fd] = Duplicate(ends.fd[0].get());
  program.input = Duplicate(master.get());
  program.output[0] = Duplicate(master.get());
  return ends;
}

Programs::ChildEnds Programs::MakePipes(bool input, Program& program) {
  ChildEnds ends;
  const auto connect = [](UniqueFd& read, UniqueFd& write) {
    sys::Pipe pipe = sys::MakePipe();
    read = std::move(pipe.read);
    write = std::move(pipe.write);
  };
  if (input) connect(ends.fd[0], program.input);
  for (int which : {0, 1}) connect(program.output[which], ends.fd[which + 1]);
  return ends;
}

void Programs::Spawn(const Operation& operation) {
  const auto request = operation.As<agent::Spawn>();
  sys::LaunchOptions options = ReadOptions(request, operation.Text(sizeof request));
  if (options.words.empty() || programs_.contains(operation.subject)) {
    throw SystemError("start a program", EINVAL);
  }
  const NodeFilesystem& filesystem = FilesystemOf(request.node);
  const int network = nodes_.Get(request.node).fd.get();
  options.prepare = [&filesystem, network] {
    SystemCall("enter the node's network namespace", setns(network, CLONE_NEWNET));
    SystemCall("enter the node's UTS namespace", setns(filesystem.host_name.get(), CLONE_NEWUTS));
    SystemCall("enter the node's mount namespace", setns(filesystem.mounts.get(), CLONE_NEWNS));
  };
  Program program;
  {
    const ChildEnds ends = options.terminal
                               ? MakeTerminal(filesystem, request.size, program)
                               : MakePipes((request.flags & agent::kSpawnInput) != 0, program);
    for (int fd : {0, 1, 2}) options.standard[fd] = ends.fd[fd].get();
    program.pid = Start(options);
  }
  const auto pid = static_cast<uint32_t>(program.pid);
  programs_[operation.subject] = std::move(program);
  for (int which : {0, 1}) WatchOutput(operation.subject, which);
  agent_.Done(operation, BytesOf(pid));
}

void Programs::WatchOutput(uint32_t number, int which) {
  const int fd = programs_[number].output[which].get();
  if (fd < 0) return;
  agent_.Watch(fd, EPOLLIN, [this, number, which](uint32_t) {
    Program& program = programs_[number];
    if (ReadOutput(number, program, which)) return;
    CloseOutput(program, which);
    if (program.exited && !program.output[0] && !program.output[1]) programs_.erase(number);
  });
}

bool Programs::ReadOutput(uint32_t number, Program& program, int which) {
  // The read fails with EIO if the terminal's program has ended, which means end of file.
  const ssize_t size = read(program.output[which].get(), buffer_.data(), buffer_.size());
  if (size <= 0) return false;
  const auto descriptor = static_cast<uint32_t>(which + 1);
  agent_.Post(agent::kOutput, number, 0,
              {BytesOf(descriptor), std::span(buffer_).first(static_cast<size_t>(size))});
  return true;
}

void Programs::CloseOutput(Program& program, int which) {
  if (!program.output[which]) return;
  agent_.Unwatch(program.output[which].get());
  program.output[which].reset();
}

void Programs::Input(const Operation& operation) {
  const auto found = programs_.find(operation.subject);
  if (found == programs_.end() || !found->second.input) return;  // the program has already ended
  if (operation.payload.empty()) return found->second.input.reset();
  // Drops input of a program that has 64 KiB of unread input, so that the agent does not block.
  int waiting = 0;
  ioctl(found->second.input.get(), FIONREAD, &waiting);
  if (waiting + operation.payload.size() > service::kPiece) return;
  const ssize_t written =
      write(found->second.input.get(), operation.payload.data(), operation.payload.size());
  if (written < 0) found->second.input.reset();
}

void Programs::Signal(const Operation& operation) {
  const auto signal = static_cast<int>(operation.As<uint32_t>());
  const auto found = programs_.find(operation.subject);
  if (found != programs_.end() && !found->second.exited) {
    SystemCall("kill", kill(-found->second.pid, signal));
  }
  agent_.Done(operation);
}

void Programs::Resize(const Operation& operation) {
  const auto found = programs_.find(operation.subject);
  if (found == programs_.end() || !found->second.terminal || !found->second.input) return;
  SetSize(found->second.input.get(), operation.As<agent::TerminalSize>());
}

void Programs::AtPrompt(const Operation& operation) {
  const auto found = programs_.find(operation.subject);
  const uint32_t is = found != programs_.end() && found->second.terminal && found->second.input &&
                      EditsLine(found->second.input.get(), found->second.pid);
  agent_.Done(operation, BytesOf(is));
}

void Programs::Reap() {
  sys::TakeSignal(child_ended_.get());
  int status = 0;
  for (int pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (auto& [number, program] : programs_) {
      if (program.pid != pid || program.exited) continue;
      OnExit(number, program, status);
      break;
    }
  }
}

// Reports the last output of a program, and then its exit.
void Programs::OnExit(uint32_t number, Program& program, int status) {
  program.exited = true;
  program.input.reset();
  for (int which : {0, 1}) {
    for (int waiting = 0; program.output[which] &&
                          ioctl(program.output[which].get(), FIONREAD, &waiting) == 0 &&
                          waiting > 0;) {
      if (!ReadOutput(number, program, which)) break;
    }
  }
  const int32_t value = status;
  agent_.Post(agent::kExited, number, 0, {BytesOf(value)});
  if (!program.output[0] && !program.output[1]) programs_.erase(number);
}

}  // namespace viaduct::guest::inside
