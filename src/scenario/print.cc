#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/error.h"
#include "scenario/binding.h"

namespace viaduct::scenario {

std::string Print(const Scenario& scenario) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  PrintMembers(out, "", scenario);
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

std::string Hash(const Scenario& scenario) {
  const std::string text = Print(scenario);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &length, EVP_sha256(), nullptr) != 1) {
    throw Error("SHA-256 is not available in this machine's libcrypto");
  }
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace viaduct::scenario
