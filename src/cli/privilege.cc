#include "cli/privilege.h"

#include <cstdlib>

#include "broker/broker_process.h"
#include "emulate/hub_encryption.h"
#include "emulate/join_keeper.h"
#include "emulate/path_keeper.h"
#include "emulate/shell_keeper.h"

namespace viaduct::cli {
namespace {

using privilege::Service;

constexpr privilege::Offer kOffers[] = {
    {Service::kBroker, broker::RunBroker}, {Service::kPath, emulate::KeepPath},
    {Service::kShell, emulate::KeepShell}, {Service::kCleaner, CleanAsRoot},
    {Service::kExaminer, ExamineAsRoot},   {Service::kSwitch, ConfigureAsRoot},
    {Service::kJoin, emulate::KeepJoin},   {Service::kHubEncryption, emulate::KeepHubEncryption},
};

}  // namespace

privilege::Offers RootsOffers() { return kOffers; }

void NeedRoot() {
  if (std::getenv("VIADUCT_BROKER_FD") == nullptr) privilege::NeedRootsHalf(kOffers);
}

}  // namespace viaduct::cli
