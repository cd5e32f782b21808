#include "cli/privilege.h"

#include <cstdlib>

#include "lab/broker/broker_process.h"
#include "lab/broker/protocol.h"
#include "path/live/path_keeper.h"
#include "path/shell/shell_keeper.h"
#include "remote/join/hub_encryption.h"
#include "remote/join/join_keeper.h"

namespace viaduct::cli {
namespace {

const privilege::ServiceEntry kServices[] = {
    {&broker::kService, broker::RunBroker},
    {&path::kPathService, path::KeepPath},
    {&path::kShellService, path::KeepShell},
    {&remote::kJoinService, remote::KeepJoin},
    {&remote::kHubService, remote::KeepHubEncryption},
    {&kCleanService, CleanAsRoot},
    {&kExamineService, ExamineAsRoot},
    {&kSwitchService, ConfigureAsRoot},
};

}  // namespace

privilege::ServiceEntries RootServices() { return kServices; }

void NeedRoot() {
  if (std::getenv("VIADUCT_BROKER_FD") == nullptr) privilege::NeedRootsHalf(kServices);
}

}  // namespace viaduct::cli
