// Replaces program.cc in a build without libxdp, libbpf or clang.
#include "base/error.h"
#include "port/xdp/program.h"

namespace viaduct::xdp {

std::string Unavailable() {
  return "this build of Viaduct does not support AF_XDP: Viaduct was compiled without libxdp-dev, "
         "libbpf-dev or clang";
}

struct Program::State {};

Program::Program(const std::string& interface, int ifindex, uint32_t, const std::string&, Mode)
    : interface_(interface), ifindex_(ifindex) {
  throw EnvironmentError(Unavailable() + "; use AF_PACKET");
}
Program::~Program() = default;

UniqueFd Program::Map() const { return {}; }
std::string Program::Placement() const { return ""; }
uint32_t Program::Left() const { return 0; }
uint32_t Program::Id() const { return 0; }
int Program::Descriptor() const { return -1; }
void DetachLeft(int, uint32_t) {}
void AwaitUnloaded(uint32_t, Duration) {}
std::string DescribePrograms(int) { return ""; }

}  // namespace viaduct::xdp
