// The connection of a machine's run to the runs of the other machines, through viaduct-mpi
// (mpi_main.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace viaduct::machines {

// The lead of a rank's monotonic clock over rank 0's, and the maximum error of it, in nanoseconds.
struct ClockReading {
  int64_t ahead = 0, error = 0;
};

class MpiLink {
 public:
  // Uses this process's standard input. Throws UsageError if that is not viaduct-mpi's socket.
  MpiLink();
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  // A descriptor that is readable when Receive() has a frame.
  int fd() const;

  // Blocks while the message does not fit in the socket. Throws Error if viaduct-mpi has ended.
  void Send(int to, const std::string& message);
  // Rank 0: requests the clocks, which arrive as a frame.
  void MeasureClocks();

  struct Frame {
    int from = 0;
    std::string message;               // empty: that rank's program has ended, or is silent
    bool silent = false;               // the rank sent nothing for kMaxSilence and counts as gone
    std::vector<ClockReading> clocks;  // not empty: the answer to MeasureClocks()
  };
  // Returns the next frame that has arrived; waits for it up to `wait_milliseconds`. Throws Error
  // if viaduct-mpi has ended.
  std::optional<Frame> Receive(int wait_milliseconds = 0);

 private:
  int rank_ = 0, size_ = 0;
  std::string received_;
};

}  // namespace viaduct::machines
