// viaduct-mpi PROGRAM ARGUMENT...: the process that mpirun starts on each machine of a lab. It
// starts the program, which does not know MPI, and carries messages between it and the other ranks'
// programs.
//
// The program's standard input is a socket to this process, for both directions; descriptor 3 is
// this process's own standard input. On the socket are frames: "RANK LENGTH\n", and LENGTH bytes.
//   from the program:  RANK     a message for this rank (or for itself)
//                      -1       (rank 0) measure the clocks
//   to the program:    -3       the rank of these bytes has sent nothing for kMaxSilence
//                      -2       first: "RANK SIZE", the program's rank and the number of ranks
//                      RANK     a message from this rank; without bytes: that rank's program ended
//                      -1       a line for each rank: the lead of its monotonic clock over rank
//                               0's, and the maximum error of it, in ns
#include <fcntl.h>
#define OMPI_SKIP_MPICXX 1  // the deprecated C++ bindings, which no code here uses
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "run/machines/mpi_frame.h"

namespace viaduct {
namespace {

enum Tag : int { kMessage = 1, kEnded = 2, kProbe = 3, kReply = 4, kAlive = 5 };
constexpr int kRoundTrips = 200;
constexpr Duration kBeat = Duration::Seconds(1);
constexpr int kIdleWait = 1, kQuietWait = 5;  // time in ms between two polls of the other ranks

struct Sending {
  int to = 0;
  std::string bytes;
  MPI_Request request{};
};

class Bridge {
 public:
  explicit Bridge(char** words) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    ended_.resize(size_);
    silence_.resize(size_);
    Start(words);
    ToProgram(machines::kIdentityFrame, std::to_string(rank_) + " " + std::to_string(size_));
  }

  void Run() {
    while (!Over()) {
      const bool busy = Receive();
      Beat();
      Wait(busy ? 0 : quiet_turns_ < 1000 ? kIdleWait : kQuietWait);
      quiet_turns_ = busy ? 0 : quiet_turns_ + 1;
      sendings_.remove_if([](Sending& sending) {
        int done = 0;
        MPI_Test(&sending.request, &done, MPI_STATUS_IGNORE);
        return done != 0;
      });
    }
  }

  // Whether some rank has ended or is silent, and so will never call MPI_Finalize().
  bool misses_some() const { return misses_some_; }

 private:
  void Start(char** words) {
    int pair[2];
    SystemCall("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    program_ = SystemCall("fork", fork());
    if (program_ == 0) {
      // Starts a session for the program, so that a signal to this process's group cannot prevent
      // the program from cleaning up.
      setsid();
      dup2(STDIN_FILENO, 3);
      dup2(pair[1], STDIN_FILENO);
      close(pair[0]);
      if (pair[1] > 3) close(pair[1]);
      execv(words[0], words);
      std::fprintf(stderr, "viaduct: %s: %s\n", words[0], std::strerror(errno));
      _exit(127);
    }
    close(pair[1]);
    socket_ = pair[0];
    fcntl(socket_, F_SETFL, O_NONBLOCK);
    fcntl(socket_, F_SETFD, FD_CLOEXEC);
  }

  bool Over() const {
    if (socket_ >= 0 || !sendings_.empty()) return false;
    for (int i = 0; i < size_; ++i) {
      if (i != rank_ && !ended_[i]) return false;
    }
    return true;
  }

  // Receives messages of the other ranks; returns whether there was any, other than the signs of
  // life.
  bool Receive() {
    bool any = false;
    for (;;) {
      int there = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
      if (there == 0) return any;
      silence_[status.MPI_SOURCE] = 0;
      any = any || status.MPI_TAG != kAlive;
      int length = 0;
      MPI_Get_count(&status, MPI_BYTE, &length);
      std::string bytes(length, '\0');
      MPI_Recv(bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      if (status.MPI_TAG == kProbe) ServeClock();
      if (status.MPI_TAG == kMessage) ToProgram(status.MPI_SOURCE, bytes);
      if (status.MPI_TAG == kEnded) {
        ended_[status.MPI_SOURCE] = true;
        ToProgram(status.MPI_SOURCE, "");
      }
    }
  }

  // Sends a sign of life from rank 0 to every rank, and from every rank to rank 0, each second. A
  // time in which this process itself did not run counts as one second.
  void Beat() {
    const Instant now = MonotonicClock::Now();
    if (now < next_beat_) return;
    next_beat_ = now + kBeat;
    const bool is_alive = socket_ < 0 || !IsStopped();
    for (int other = 0; other < size_; ++other) {
      if (other == rank_ || ended_[other] || (rank_ != 0 && other != 0)) continue;
      if (is_alive) Send(other, kAlive, "");
      if (++silence_[other] > machines::kMaxSilence) Miss(other);
    }
  }

  void Miss(int other) {
    ended_[other] = misses_some_ = true;
    // Keeps messages that no process will receive, because MPI still uses their memory.
    for (auto each = sendings_.begin(); each != sendings_.end();) {
      const auto next = std::next(each);
      if (each->to == other) abandoned_.splice(abandoned_.end(), sendings_, each);
      each = next;
    }
    ToProgram(machines::kSilentFrame, std::to_string(other));
  }

  // Whether the program has been stopped by a signal or a debugger, by the state after "(NAME)" in
  // /proc/PID/stat (proc(5)).
  bool IsStopped() const {
    std::ifstream file("/proc/" + std::to_string(program_) + "/stat");
    std::string text;
    std::getline(file, text);
    const size_t name = text.rfind(") ");
    const char state = name == std::string::npos ? '\0' : text[name + 2];
    return state == 'T' || state == 't';
  }

  // Returns whether a message arrives before the rank counts as gone. Polls without sleeping,
  // because the function is used to measure clocks.
  static bool Await(int source, Tag tag) {
    const Instant end = MonotonicClock::Now() + kBeat * machines::kMaxSilence;
    int there = 0;
    do {
      MPI_Iprobe(source, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    } while (there == 0 && MonotonicClock::Now() < end);
    return there != 0;
  }

  void ToProgram(int from, const std::string& bytes) {
    if (socket_ < 0) return;
    to_program_ += machines::WriteFrame(from, bytes);
  }

  void Wait(int milliseconds) {
    pollfd wait{socket_, static_cast<short>(POLLIN | (to_program_.empty() ? 0 : POLLOUT)), 0};
    if (poll(&wait, 1, milliseconds) <= 0) return;
    if ((wait.revents & POLLOUT) != 0) {
      const ssize_t sent =
          send(socket_, to_program_.data(), to_program_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) to_program_.erase(0, sent);
    }
    if ((wait.revents & (POLLIN | POLLHUP | POLLERR)) == 0) return;
    char buffer[65536];
    const ssize_t got = read(socket_, buffer, sizeof buffer);
    if (got > 0) {
      from_program_.append(buffer, got);
      quiet_turns_ = 0;
      while (auto frame = machines::TakeFrame(from_program_)) Obey(std::move(*frame));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      Ended();
    }
  }

  void Obey(machines::MpiFrame frame) {
    if (frame.number == machines::kClockFrame) {
      ToProgram(machines::kClockFrame, MeasureClocks());
    } else if (frame.number == rank_) {
      ToProgram(rank_, frame.bytes);
    } else {
      Send(frame.number, kMessage, std::move(frame.bytes));
    }
  }

  // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): Run() tests the requests.
  void Send(int to, Tag tag, std::string bytes) {
    if (ended_[to]) return;
    Sending& sending = sendings_.emplace_back();
    sending.to = to;
    sending.bytes = std::move(bytes);
    MPI_Isend(sending.bytes.data(), static_cast<int>(sending.bytes.size()), MPI_BYTE, to, tag,
              MPI_COMM_WORLD, &sending.request);
  }
  // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

  void Ended() {
    close(socket_);
    socket_ = -1;
    waitpid(program_, nullptr, 0);
    for (int i = 0; i < size_; ++i) {
      if (i != rank_) Send(i, kEnded, "");
    }
  }

  static int64_t Now() { return MonotonicClock::Now().nanoseconds(); }

  // Measures the clocks. Each round trip yields an upper and a lower bound of the remote clock's
  // reading; the shortest round trip yields the best bounds.
  std::string MeasureClocks() {
    std::string table = "0 0\n";
    for (int other = 1; other < size_; ++other) {
      int64_t ahead = 0, best = INT64_MAX;
      for (int i = 0; i <= kRoundTrips && !ended_[other]; ++i) {
        const char more = i < kRoundTrips ? 1 : 0;
        const int64_t sent = Now();
        MPI_Send(&more, 1, MPI_BYTE, other, kProbe, MPI_COMM_WORLD);
        if (more == 0) break;
        int64_t theirs = 0;
        if (!Await(other, kReply)) {
          Miss(other);
          break;
        }
        MPI_Recv(&theirs, sizeof theirs, MPI_BYTE, other, kReply, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        const int64_t took = Now() - sent;
        if (took >= best) continue;
        best = took;
        ahead = theirs - (sent + took / 2);
      }
      table += std::to_string(ahead) + " " + std::to_string(best / 2) + "\n";
    }
    return table;
  }

  // Sends this rank's clock as the answer to each probe of rank 0, the first of which has arrived,
  // until rank 0 marks a probe as the last.
  void ServeClock() {
    for (char more = 1; more != 0;) {
      const int64_t now = Now();
      MPI_Send(&now, sizeof now, MPI_BYTE, 0, kReply, MPI_COMM_WORLD);
      if (!Await(0, kProbe)) return Miss(0);
      MPI_Recv(&more, 1, MPI_BYTE, 0, kProbe, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }

  int rank_ = 0, size_ = 0, socket_ = -1, quiet_turns_ = 0;
  pid_t program_ = -1;
  std::vector<bool> ended_;   // whether a rank has ended, or counts as gone
  std::vector<int> silence_;  // seconds since the last message of each rank
  bool misses_some_ = false;
  Instant next_beat_ = MonotonicClock::Now() + kBeat;
  std::string to_program_, from_program_;
  std::list<Sending> sendings_, abandoned_;
};

}  // namespace
}  // namespace viaduct

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs(
        "viaduct-mpi cannot be run by hand; `viaduct run` starts viaduct-mpi through mpirun\n",
        stderr);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  MPI_Init(&argc, &argv);
  viaduct::Bridge bridge(argv + 1);
  bridge.Run();
  // Exits without MPI_Finalize(), which would wait for all ranks, if any rank is gone.
  if (bridge.misses_some()) _exit(1);
  MPI_Finalize();
  return 0;
}
