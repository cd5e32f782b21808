// The connection of a machine's run to the runs of the other machines, through viaduct-mpi
// (mpi_main.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace viaduct::machines {

// The lead of the monotonic clock of a rank over the clock of rank 0, and the maximum error of that
// lead, in nanoseconds.
struct ClockReading {
  int64_t ahead = 0, error = 0;
};

class MpiLink {
 public:
  // Uses this process's standard input as the connection. Throws UsageError if that is not a socket
  // of viaduct-mpi.
  MpiLink();
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  // Returns a descriptor that is readable when Receive() has a frame.
  int fd() const;

  // Sends a message to a rank; blocks while the message does not fit into the socket. Throws Error
  // if viaduct-mpi has ended.
  void Send(int to, const std::string& message);
  // Requests the clocks of all ranks, which arrive as a frame; for rank 0.
  void MeasureClocks();

  struct Frame {
    int from = 0;
    std::string message;  // empty: the program of rank `from` has ended, or is silent
    // Whether rank `from` counts as gone because it has sent nothing for kMaxSilence.
    bool silent = false;
    std::vector<ClockReading> clocks;  // not empty: the answer to MeasureClocks()
  };
  // Returns the next frame that has arrived; waits at most `wait_milliseconds` for the frame.
  // Throws Error if viaduct-mpi has ended.
  std::optional<Frame> Receive(int wait_milliseconds = 0);

 private:
  int rank_ = 0, size_ = 0;
  std::string received_;
};

}  // namespace viaduct::machines
