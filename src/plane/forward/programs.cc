// The table of built-in forwarding programs.
#include <algorithm>
#include <array>

#include "plane/forward/bridge.h"
#include "plane/forward/hub.h"
#include "plane/forward/program.h"
#include "plane/forward/rbridge.h"
#include "plane/forward/router.h"

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
