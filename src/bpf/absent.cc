// In place of forwarder.cc, joiner.cc and object.cc in a build without clang or libbpf.
#include "base/error.h"
#include "bpf/forwarder.h"
#include "bpf/joiner.h"

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

struct Joiner::State {};

Joiner::Joiner(int, const std::vector<JoinWire>&) { throw EnvironmentError(WhyNot()); }
Joiner::~Joiner() = default;
int Joiner::Fd() const { return -1; }
std::vector<PathRequest> Joiner::TakeRequests() { return {}; }
bool Joiner::Set(const PathKey&, const JoinedPath&) { return false; }
void Joiner::Remove(const PathKey&) {}
void Joiner::SetAddresses(const std::map<wire::IpAddress, uint32_t>&) {}
void Joiner::SetFarMac(int, const wire::MacAddress&) {}
viaduct_joined_traffic Joiner::TrafficOf(uint32_t) const { return {}; }
void Joiner::ClearTraffic(uint32_t) {}
viaduct_join_port Joiner::CountersOf(int) const { return {}; }
Verdict Joiner::Try(int, wire::ConstBytes) const { return {}; }

}  // namespace viaduct::bpf
