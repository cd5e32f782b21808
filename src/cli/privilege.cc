#include "cli/privilege.h"

#include <cstdlib>

#include "broker/broker_process.h"
#include "broker/protocol.h"
#include "emulate/hub_encryption.h"
#include "emulate/join_keeper.h"
#include "emulate/path_keeper.h"
#include "emulate/shell_keeper.h"

namespace viaduct::cli {
namespace {

const privilege::ServiceEntry kServices[] = {
    {&broker::kService, broker::RunBroker},
    {&emulate::kPathService, emulate::KeepPath},
    {&emulate::kShellService, emulate::KeepShell},
    {&emulate::kJoinService, emulate::KeepJoin},
    {&emulate::kHubService, emulate::KeepHubEncryption},
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
