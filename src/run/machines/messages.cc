#include "run/machines/messages.h"

#include "base/text/json_text.h"
#include "run/simulator/environment.h"
#include "sys/ipc/tagged.h"

namespace viaduct {

fields::KeysOf<run::RemoteSender> run::RemoteSender::Keys() {
  using S = RemoteSender;
  static constexpr fields::Key<S> kKeys[] = {
      fields::Always<&S::flow>("flow", "a number", "the index of the flow in the scenario"),
      fields::Always<&S::status>("status", "a number", "the sender's wait status"),
      fields::Always<&S::output>("output", "text", "the sender's standard output"),
      fields::Always<&S::error>("error", "text", "the sender's standard error")};
  return kKeys;
}

namespace machines {
namespace {

using fields::Always;
using fields::Among;
using fields::Key;
using fields::KeysOf;
using fields::WhenSet;

constexpr ipc::Dialogue kRanks{"type", "another machine",
                               "install the same viaduct on all machines"};

}  // namespace

KeysOf<Given> Given::Keys() {
  static constexpr Key<Given> kKeys[] = {
      Always<&Given::version>("version", "text", "the version of the launching command"),
      Always<&Given::text>("text", "text", "the scenario, as the command prints it"),
      Always<&Given::file>("file", "a path", "the file from which the scenario was read"),
      Always<&Given::hash>("hash", "text", "the hash of the scenario"),
      Always<&Given::quiet>("quiet", "true or false", "whether progress is shown"),
      Always<&Given::directory>("directory", "a path", "the directory for results"),
      Always<&Given::command>("command", "words", "the command line")};
  return kKeys;
}

KeysOf<Meet> Meet::Keys() {
  static constexpr Key<Meet> kKeys[] = {
      Always<&Meet::stage>("stage", "text", "the name of the stage"),
      WhenSet<&Meet::machine>("machine", "text", "this machine")};
  return kKeys;
}

KeysOf<Met> Met::Keys() {
  static constexpr Key<Met> kKeys[] = {
      Always<&Met::stage>("stage", "text", "the name of the stage"),
      Always<&Met::start>("start", "ns", "the time at which the next stage begins"),
      WhenSet<&Met::clocks>(
          "clocks", "ns, by machine",
          "the time by which each machine's clock is ahead of the clock of the machine of rank 0"),
      WhenSet<&Met::ranks>("ranks", "numbers, by machine", "the MPI rank of each machine")};
  return kKeys;
}

KeysOf<Routes> Routes::Keys() {
  static constexpr Key<Routes> kKeys[] = {
      Always<&Routes::passages>("passages", "a map", "the nodes that packets reach")};
  return kKeys;
}

KeysOf<RoutesConverged> RoutesConverged::Keys() {
  static constexpr Key<RoutesConverged> kKeys[] = {Among<&RoutesConverged::go>()};
  return kKeys;
}

KeysOf<SenderEnded> SenderEnded::Keys() {
  static constexpr Key<SenderEnded> kKeys[] = {Among<&SenderEnded::sender>()};
  return kKeys;
}

KeysOf<PartDone> PartDone::Keys() {
  static constexpr Key<PartDone> kKeys[] = {
      Always<&PartDone::result>("result", "a map", "the results of this machine's part")};
  return kKeys;
}

KeysOf<Failed> Failed::Keys() {
  static constexpr Key<Failed> kKeys[] = {
      Always<&Failed::error>("error", "text", "the error message"),
      Always<&Failed::status>("status", "a number", "the exit status")};
  return kKeys;
}

KeysOf<Bye> Bye::Keys() { return {}; }

KeysOf<End> End::Keys() { return {}; }

std::string Encode(const RankMessage& message) { return JsonText(ipc::ToTagged(kRanks, message)); }

RankMessage Decode(std::string_view text) {
  const nlohmann::json message = nlohmann::json::parse(text, nullptr, false);
  const std::string type = ipc::TagOf(kRanks, message);
  if (type == Given::kName) {
    const std::string version = message.value("version", "");
    if (version != run::Version()) {
      throw EnvironmentError(
          fmt::format("this machine has viaduct {}, but the launching machine has viaduct {}; "
                      "install the same version on all machines",
                      run::Version(), version));
    }
  }
  return ipc::FromTagged<RankMessage>(kRanks, message);
}

}  // namespace machines
}  // namespace viaduct
