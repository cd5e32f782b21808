#include "guest/image/tool.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>

#include "base/error.h"
#include "base/fd.h"
#include "base/wait_status.h"
#include "sys/descriptors.h"
#include "sys/process/child.h"
#include "sys/process/launch.h"

namespace viaduct::guest {
namespace {

sys::Environment EnvironmentOf(const ToolOptions& options) {
  sys::Environment environment = sys::OwnEnvironment();
  sys::SetVariable(environment, "LC_ALL", "C");
  for (const std::string& variable : options.environment) {
    const size_t equals = variable.find('=');
    sys::UnsetVariable(environment, variable.substr(0, equals));
    if (equals != std::string::npos) environment.push_back(variable);
  }
  return environment;
}

// Starts a program. The program and its children are killed when the returned object is destroyed
// before the caller has waited for the program.
sys::Child Start(const std::vector<std::string>& words, const ToolOptions& options, int output) {
  sys::LaunchOptions launch;
  launch.words = words;
  launch.environment = EnvironmentOf(options);
  launch.folder = options.folder;
  launch.standard = {-1, output, output};
  launch.group = sys::LaunchOptions::Group::kOwn;
  launch.death_signal = SIGTERM;
  try {
    return sys::Child(sys::Launch(launch), true);
  } catch (const sys::LaunchError& error) {
    if (error.step() != sys::LaunchError::Step::kExecute || error.error_number() != ENOENT) throw;
    throw EnvironmentError(fmt::format("the program '{}' is missing on this machine", words[0]));
  }
}

// The output of a tool, which is passed on line by line and written to the log.
class Output {
 public:
  explicit Output(const ToolOptions& options) : options_(options) {
    if (!options.log.empty()) log_.open(options.log, std::ios::app);
  }
  void Take(std::string_view text) {
    if (log_.is_open()) log_ << text << std::flush;
    if (!options_.line) return;
    partial_ += text;
    size_t begin = 0;
    for (size_t end; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      options_.line(std::string_view(partial_).substr(begin, end - begin));
    }
    partial_.erase(0, begin);
  }
  void Finish() {
    if (options_.line && !partial_.empty()) options_.line(partial_);
  }

 private:
  const ToolOptions& options_;
  std::ofstream log_;
  std::string partial_;
};

// Reads the pipe until the last process that holds its write end has closed the write end.
void Drain(int pipe, int cancel_fd, Output& output) {
  std::array<char, 65536> buffer;
  for (;;) {
    pollfd polled[] = {{pipe, POLLIN, 0}, {cancel_fd, POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) {
      if (errno == EINTR) continue;
      throw SystemError("poll", errno);
    }
    if (polled[1].revents != 0) throw ToolCancelled();
    if (polled[0].revents == 0) continue;
    const ssize_t size = read(pipe, buffer.data(), buffer.size());
    if (size == 0) return;
    if (size > 0) output.Take({buffer.data(), static_cast<size_t>(size)});
  }
}

}  // namespace

int RunTool(const std::vector<std::string>& words, const ToolOptions& options) {
  sys::Pipe pipe = sys::MakePipe();
  sys::Child child = Start(words, options, pipe.write.get());
  pipe.write.reset();
  Output output(options);
  Drain(pipe.read.get(), options.cancel_fd, output);
  output.Finish();
  return ShellStatus(child.Wait());
}

std::string ToolOutput(const std::vector<std::string>& words, const ToolOptions& options) {
  std::string text, last;
  ToolOptions collecting = options;
  collecting.line = [&](std::string_view line) {
    text.append(line).push_back('\n');
    if (!line.empty()) last = line;
  };
  const int status = RunTool(words, collecting);
  if (status != 0) throw Error(fmt::format("{}: {} (status {})", words[0], last, status));
  return text;
}

}  // namespace viaduct::guest
