// Replaces port.cc and open.cc in a build without netmap's headers.
#include "base/error.h"
#include "port/netmap/open.h"

namespace viaduct::netmap {

std::string Unavailable() {
  return "this build of Viaduct does not support netmap: Viaduct was compiled without "
         "net/netmap_user.h";
}

void CheckUsable() { throw EnvironmentError(Unavailable() + "; use AF_PACKET"); }

std::unique_ptr<io::AnyPort> OpenPort(const std::string&, std::shared_ptr<void>) {
  CheckUsable();
  return nullptr;
}

}  // namespace viaduct::netmap
