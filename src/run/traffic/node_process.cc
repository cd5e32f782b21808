#include "run/traffic/node_process.h"

#include <cerrno>
#include <csignal>

#include "base/wait_status.h"
#include "sys/descriptors.h"

namespace viaduct::run {

NodeProcess::NodeProcess(sys::EventLoop& loop, broker::Client& client,
                         broker::ProgramOptions options, Callbacks callbacks)
    : loop_(loop), client_(client), callbacks_(std::move(callbacks)) {
  UniqueFd theirs[2];
  for (int i = 0; i < 2; ++i) {
    sys::Pipe pipe = sys::MakePipe();
    sys::SetNonBlocking(pipe.read.get());
    outputs_[i].pipe = std::move(pipe.read);
    theirs[i] = std::move(pipe.write);
  }
  options.standard_output = theirs[0].get();
  options.standard_error = theirs[1].get();
  program_ = client_.Spawn(options);
  for (Output& output : outputs_) {
    loop_.Watch(output.pipe.get(), [this, &output] { Read(output); });
  }
  loop_.Watch(program_.exit_status.get(), [this] { End(); });
}

NodeProcess::~NodeProcess() {
  for (Output& output : outputs_) {
    if (output.pipe) loop_.Forget(output.pipe.get());
  }
  if (wait_status_) return;
  loop_.Forget(program_.exit_status.get());
  NodeProcess::Kill(SIGKILL);
}

void NodeProcess::Kill(int signal) {
  if (wait_status_) return;
  try {
    client_.Kill(program_.pid, signal);
  } catch (const Error&) {
    // Ignores the error: the program has just ended, or the broker has, with every program of the
    // lab.
  }
}

void NodeProcess::Read(Output& output) {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = read(output.pipe.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) {
      loop_.Forget(output.pipe.get());
      output.pipe.reset();
      return;
    }
    Emit(output, std::string_view(buffer.data(), got));
  }
}

void NodeProcess::Emit(Output& output, std::string_view text) {
  output.text.Append(text);
  if (!callbacks_.line) return;
  for (const char c : text) {
    // Breaks lines of 4096 bytes: a program that never ends its line must not fill this process's
    // memory.
    if (c != '\n' && output.line.size() < 4096) {
      output.line += c;
      continue;
    }
    callbacks_.line(std::exchange(output.line, c == '\n' ? "" : std::string(1, c)));
  }
}

void NodeProcess::End() {
  int32_t status = 0;
  const ssize_t got = read(program_.exit_status.get(), &status, sizeof status);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  loop_.Forget(program_.exit_status.get());
  // If the pipe is closed without a status, the broker has ended, and with the broker the program.
  wait_status_ = got == sizeof status ? status : SIGKILL;
  for (Output& output : outputs_) {
    if (output.pipe) Read(output);
    if (callbacks_.line && !output.line.empty()) callbacks_.line(std::exchange(output.line, ""));
  }
  if (callbacks_.ended) callbacks_.ended();
}

bool Process::Succeeded(int expected) const {
  return wait_status_ && EndedWith(*wait_status_, expected);
}

std::string Process::DescribeEnd() const {
  return wait_status_ ? DescribeEnding(*wait_status_) : "is still running";
}

}  // namespace viaduct::run
