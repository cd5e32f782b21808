// The messages between the runs on a lab's machines: JSON objects with a "type". Rank 0 conducts. A
// further message needs a struct, a table of its keys, and a place in the variant.
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

// Rank 0 to all: the scenario to run.
struct Given {
  static constexpr char kName[] = "scenario";
  std::string version;  // the launching command's
  std::string text, file, hash;
  bool quiet = false;
  std::string directory;             // RunOptions::directory
  std::vector<std::string> command;  // RunOptions::command_line
  static fields::KeysOf<Given> Keys();
};

// To rank 0: this machine has reached a stage; for the first one with the machine's name.
struct Meet {
  static constexpr char kName[] = "meet";
  std::string stage;
  std::string machine = {};
  static fields::KeysOf<Meet> Keys();
};

// Rank 0 to all: every machine has reached the stage.
struct Met {
  static constexpr char kName[] = "met";
  std::string stage;
  int64_t start = 0;                           // time of the next stage's start: ns, rank 0's clock
  std::map<std::string, int64_t> clocks = {};  // first stage: by machine, see ClockReading
  std::map<std::string, int> ranks = {};       // first stage: by machine
  static fields::KeysOf<Met> Keys();
};

// To rank 0: run::Machines::ReportRoutes().
struct Routes {
  static constexpr char kName[] = "routes";
  scenario::Passages passages;
  static fields::KeysOf<Routes> Keys();
};

// Rank 0 to all: run::Machines::OnConverged().
struct RoutesConverged {
  static constexpr char kName[] = "converged";
  scenario::Go go;
  static fields::KeysOf<RoutesConverged> Keys();
};

// To the machine of a flow's receiver: its sender has ended.
struct SenderEnded {
  static constexpr char kName[] = "flow";
  run::RemoteSender sender;
  static fields::KeysOf<SenderEnded> Keys();
};

// To rank 0: the result of this machine's part.
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

// To rank 0: everything on this machine is removed.
struct Bye {
  static constexpr char kName[] = "bye";
  static fields::KeysOf<Bye> Keys();
};

// Rank 0 to all: everything on all machines is removed.
struct End {
  static constexpr char kName[] = "end";
  static fields::KeysOf<End> Keys();
};

using RankMessage = std::variant<Given, Meet, Met, Routes, RoutesConverged, SenderEnded, PartDone,
                                 Failed, Bye, End>;

// Returns the message as text without newlines.
std::string Encode(const RankMessage& message);
// Parses a message. Throws EnvironmentError if it is a Given of another version, Error if it is no
// known message.
RankMessage Decode(std::string_view text);

// The end of the error message if a machine's program has ended without a reason.
inline constexpr char kEnded[] = "viaduct's processes there have ended";

// The end of the error message if a machine has sent nothing for kMaxSilence.
inline constexpr char kSilent[] =
    "nothing was heard of it for 10 s (frozen, or its network is down)";
static_assert(kMaxSilence == 10);

// The error of a program that mpirun ended.
inline constexpr char kConnectionEnded[] =
    "the connection to the other machines (mpirun) has ended";

// Printed by rank 0 on standard error when all machines have connected.
inline constexpr char kAllThere[] = "viaduct rank: all machines are there";

}  // namespace viaduct::machines
