// The messages between the runs on a lab's machines: JSON objects with a "type". Rank 0 conducts
// the run. A new message needs a struct, a table of its keys, and a place in the variant.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/result/run.h"
#include "run/machines/mpi_frame.h"
#include "run/simulator/machines.h"
#include "scenario/messages/simulator_messages.h"

namespace viaduct::machines {

// From rank 0 to all: the scenario to run.
struct Given {
  static constexpr char kName[] = "scenario";
  std::string version;  // version of the launching command
  std::string text, file, hash;
  bool quiet = false;
  std::string directory;             // RunOptions::directory
  std::vector<std::string> command;  // RunOptions::command_line
  static fields::KeysOf<Given> Keys();
};

// To rank 0: this machine has reached a stage. The message of the first stage also has the
// machine's name.
struct Meet {
  static constexpr char kName[] = "meet";
  std::string stage;
  std::string machine = {};
  static fields::KeysOf<Meet> Keys();
};

// From rank 0 to all: every machine has reached the stage.
struct Met {
  static constexpr char kName[] = "met";
  std::string stage;
  // The time at which the next stage starts, in ns by rank 0's clock.
  int64_t start = 0;
  // The lead of each machine's clock (ClockReading::ahead), in the first stage.
  std::map<std::string, int64_t> clocks = {};
  std::map<std::string, int> ranks = {};  // the rank of each machine, in the first stage
  static fields::KeysOf<Met> Keys();
};

// To rank 0: the argument of run::Machines::ReportRoutes().
struct Routes {
  static constexpr char kName[] = "routes";
  scenario::Passages passages;
  static fields::KeysOf<Routes> Keys();
};

// From rank 0 to all: the argument for the function of run::Machines::OnConverged().
struct RoutesConverged {
  static constexpr char kName[] = "converged";
  scenario::Go go;
  static fields::KeysOf<RoutesConverged> Keys();
};

// To the machine of a flow's receiver: the sender of the flow has ended.
struct SenderEnded {
  static constexpr char kName[] = "flow";
  run::RemoteSender sender;
  static fields::KeysOf<SenderEnded> Keys();
};

// To rank 0: the result of this machine's part of the run.
struct PartDone {
  static constexpr char kName[] = "result";
  result::RunResult result;
  static fields::KeysOf<PartDone> Keys();
};

// To rank 0, and from rank 0 to all: the run has failed.
struct Failed {
  static constexpr char kName[] = "failed";
  std::string error;
  int status = 1;
  static fields::KeysOf<Failed> Keys();
};

// To rank 0: this machine has removed its part of the lab.
struct Bye {
  static constexpr char kName[] = "bye";
  static fields::KeysOf<Bye> Keys();
};

// From rank 0 to all: all machines have removed their parts of the lab.
struct End {
  static constexpr char kName[] = "end";
  static fields::KeysOf<End> Keys();
};

using RankMessage = std::variant<Given, Meet, Met, Routes, RoutesConverged, SenderEnded, PartDone,
                                 Failed, Bye, End>;

// Returns the message as text without newlines.
std::string Encode(const RankMessage& message);
// Parses a message. Throws EnvironmentError if the message is a Given of another version, Error if
// the type of the message is not known.
RankMessage Decode(std::string_view text);

// The end of the error message if a machine's program has ended without a reason.
inline constexpr char kEnded[] = "the viaduct processes on this machine exited";

// The end of the error message if a machine has sent nothing for kMaxSilence.
inline constexpr char kSilent[] =
    "no message has arrived for 10 s (the machine hangs, or its network is down)";
static_assert(kMaxSilence == 10);

// The error of a program whose connection ended because mpirun ended.
inline constexpr char kConnectionEnded[] =
    "the connection to the other machines (mpirun) was closed";

// The line that rank 0 prints on standard error when all machines have connected.
inline constexpr char kAllThere[] = "viaduct rank: all machines have connected";

}  // namespace viaduct::machines
