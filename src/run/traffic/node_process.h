// A program in a node, and its output.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "base/text/kept_text.h"
#include "lab/broker/client.h"
#include "sys/event_loop.h"

namespace viaduct::run {

// A program of a flow, in a node of this host or of another host.
class Process {
 public:
  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  virtual ~Process() = default;

  // Returns the program's wait status (waitpid(2)), once the program has ended.
  const std::optional<int>& wait_status() const { return wait_status_; }
  bool Succeeded(int expected = 0) const;
  // Returns the end of the program as text, such as "ended with status 2", "was killed by signal 9
  // (Killed)".
  std::string DescribeEnd() const;
  virtual std::string standard_output() const = 0;
  virtual std::string standard_error() const = 0;
  virtual void Kill(int signal) = 0;

 protected:
  std::optional<int> wait_status_;
};

// A program on another host. The other host reports when the program has ended.
class RemoteProcess : public Process {
 public:
  void End(int wait_status, std::string output, std::string error) {
    wait_status_ = wait_status;
    output_ = std::move(output);
    error_ = std::move(error);
  }
  std::string standard_output() const override { return output_; }
  std::string standard_error() const override { return error_; }
  void Kill(int) override {}  // the program's host kills the program

 private:
  std::string output_, error_;
};

class NodeProcess : public Process {
 public:
  struct Callbacks {
    // Called with each line of standard output or error, without its newline. May be empty.
    std::function<void(const std::string& line)> line;
    // Called when the program has ended and all its output was read. The NodeProcess must outlive
    // the call.
    std::function<void()> ended;
  };

  // The constructor starts the program with /dev/null as standard input. Throws Error.
  NodeProcess(sys::EventLoop& loop, broker::Client& client, broker::ProgramOptions options,
              Callbacks callbacks);
  // The destructor kills the program if the program still runs.
  ~NodeProcess() override;

  // Returns the program's output; of more than kKept bytes only the beginning and the end.
  std::string standard_output() const override { return outputs_[0].text.Text(); }
  std::string standard_error() const override { return outputs_[1].text.Text(); }
  void Kill(int signal) override;

 private:
  // The maximum number of bytes that are kept of each output stream.
  static constexpr size_t kKept = 16 << 20;
  struct Output {
    UniqueFd pipe;
    KeptText text{kKept};
    std::string line;
  };
  void Read(Output& output);
  void Emit(Output& output, std::string_view text);
  void End();

  sys::EventLoop& loop_;
  broker::Client& client_;
  Callbacks callbacks_;
  broker::Program program_;
  std::array<Output, 2> outputs_;
};

}  // namespace viaduct::run
