// The table of forwarding programs.
#include <algorithm>
#include <array>

#include "forward/bridge.h"
#include "forward/hub.h"
#include "forward/program.h"
#include "forward/rbridge.h"
#include "forward/router.h"

namespace viaduct::forward {
namespace {

constexpr std::array kPrograms = {
    KindOf<Router>("router"),
    KindOf<Bridge>("bridge"),
    KindOf<Hub>("hub"),
    KindOf<RBridge>("rbridge"),
};

}  // namespace

const ProgramKind* FindProgram(std::string_view name) {
  const auto found = std::ranges::find(kPrograms, name, &ProgramKind::name);
  return found == kPrograms.end() ? nullptr : &*found;
}

}  // namespace viaduct::forward
