// In place of forwarder.cc in a build without clang or libbpf.
#include "base/error.h"
#include "bpf/forwarder.h"

namespace viaduct::bpf {

struct Forwarder::State {};

std::string WhyNot() {
  return "this build has no eBPF: clang or libbpf-dev was missing (run setup/packages build, then "
         "build again)";
}

Forwarder::Forwarder(int, const std::vector<Port>&) { throw EnvironmentError(WhyNot()); }
Forwarder::~Forwarder() = default;
void Forwarder::SetOwnAddresses(const std::vector<wire::IpAddress>&) {}
viaduct_port Forwarder::CountersOf(int) const { return {}; }
Verdict Forwarder::Try(int, wire::ConstBytes) const { return {}; }

}  // namespace viaduct::bpf
