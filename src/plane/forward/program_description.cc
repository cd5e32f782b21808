#include "plane/forward/program_description.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/library_file.h"
#include "base/wire/ethernet.h"
#include "base/within.h"

namespace viaduct::forward {
namespace {

constexpr std::array<std::string_view, 2> kStandalone = {"bridge", "hub"};

constexpr size_t kMaxWord = 32;

bool IsWord(std::string_view text) {
  return !text.empty() && text.size() <= kMaxWord && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::string Replace(std::string text, std::string_view word, const std::string& by) {
  const size_t at = text.find(word);
  return at == std::string::npos ? text : text.replace(at, word.size(), by);
}

// Returns a program's name in a form that is valid in every process: the path of a library is made
// absolute.
std::string AbsoluteName(const std::string& name) {
  return IsProgramLibrary(name) ? std::filesystem::absolute(name).lexically_normal().string()
                                : name;
}

std::vector<std::string> Strings(std::span<const std::string_view> views) {
  return {views.begin(), views.end()};
}

// Returns the last error message of dlopen(3) or dlsym(3), which names the file.
std::string LastMessage() {
  const char* message = dlerror();
  return message != nullptr ? message : "unknown error";
}

const ProgramKind& LoadLibrary(const std::string& file) {
  const std::string path = AbsoluteName(file);
  Within("forwarding program", [&] { CheckIsWholeLibrary(path); });
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw UsageError("forwarding program: " + LastMessage());
  const auto* exported =
      static_cast<const ExportedProgram*>(dlsym(library, "viaduct_forwarding_program"));
  if (exported == nullptr) {
    throw UsageError(
        fmt::format("forwarding program: {}: the library does not export a forwarding program; add "
                    "VIADUCT_FORWARDING_PROGRAM(Class) to the source",
                    path));
  }
  const ExportedProgram mine{};
  if (exported->interface != mine.interface || exported->kind_size != mine.kind_size ||
      exported->node_size != mine.node_size || exported->outbox_size != mine.outbox_size) {
    throw UsageError(fmt::format(
        "forwarding program: {}: the library was compiled with the headers of another version of "
        "Viaduct; compile the program again",
        path));
  }
  DescribeProgram(exported->kind, path).Check();
  return exported->kind;
}

}  // namespace

std::string ProgramDescription::FilterOf(const wire::MacAddress& mac,
                                         const std::string& own) const {
  std::vector<std::string> terms;
  if (!filter.empty())
    terms.push_back(Replace(Replace(filter, "{mac}", mac.ToString()), "{own}", own));
  // The filter is needed because an interface may receive frames for other stations even if this
  // socket has not requested promiscuous mode.
  if (!is_promiscuous && filter.find("{mac}") == std::string::npos) {
    terms.push_back(fmt::format("ether dst {} or ether multicast", mac.ToString()));
  }
  if (control_type != 0) terms.push_back(fmt::format("not ether proto {:#06x}", control_type));
  return terms.size() == 1 ? terms.front()
         : terms.empty()   ? ""
                           : fmt::format("({})", fmt::join(terms, ") and ("));
}

void ProgramDescription::Check() const {
  const auto fail = [&](const std::string& what) {
    throw UsageError(fmt::format("forwarding program {}: {}", name, what));
  };
  if (outcomes.empty() || outcomes.front() != "forwarded") {
    fail("the first outcome must be \"forwarded\"");
  }
  if (outcomes.size() > kMaxOutcomes) {
    fail(fmt::format("the program has {} outcomes, but at most {} are supported", outcomes.size(),
                     kMaxOutcomes));
  }
  std::set<std::string> names = {"ring-full", "not-sent", "forwarded-bytes"};
  for (const std::string& outcome : outcomes) {
    if (!IsWord(outcome)) {
      fail(
          fmt::format("the name of an outcome must have at most {} characters (letters a to z, "
                      "digits, - and _), unlike \"{}\"",
                      kMaxWord, outcome.substr(0, kMaxWord)));
    }
    if (!names.insert(outcome).second) {
      fail(fmt::format(
          "the outcome \"{}\" is specified twice, or its name is reserved for the forwarder",
          outcome));
    }
  }
  for (const std::string& loss : losses) {
    if (loss == outcomes.front()) fail("the outcome \"forwarded\" cannot be a loss");
    if (std::ranges::find(outcomes, loss) == outcomes.end()) {
      fail(fmt::format("the loss \"{}\" is not one of the program's outcomes", loss));
    }
  }
  if (filter.size() > kMaxFilter) {
    fail(fmt::format("the filter has {} bytes, but at most {} are supported", filter.size(),
                     kMaxFilter));
  }
  if (table_words > kMaxTableWords) {
    fail(fmt::format("the table has {} words, but at most {} are supported", table_words,
                     kMaxTableWords));
  }
  if (overhead > kMaxOverhead) {
    fail(fmt::format("the overhead is {} bytes, but at most {} are supported", overhead,
                     kMaxOverhead));
  }
  namespace type = wire::ether_type;
  constexpr std::array kOfHosts = {type::kIpv4, type::kArp,         type::kIpv6,
                                   type::kVlan, type::kServiceVlan, type::kMpls};
  if (std::ranges::find(kOfHosts, control_type) != kOfHosts.end()) {
    fail(
        fmt::format("the EtherType {:#06x} is used by frames of hosts; a control protocol needs a "
                    "separate EtherType",
                    control_type));
  }
  if (control_type != 0 && control_type < 0x600) {
    fail(fmt::format("{:#06x} is not an EtherType: EtherTypes begin at 0x0600", control_type));
  }
}

ProgramDescription DescribeProgram(const ProgramKind& kind, const std::string& name) {
  return {.name = AbsoluteName(name),
          .outcomes = Strings(kind.outcomes),
          .losses = Strings(kind.losses),
          .filter = std::string(kind.filter),
          .is_promiscuous = kind.is_promiscuous,
          .control_type = kind.control_type,
          .table_words = kind.table_words,
          .overhead = kind.overhead};
}

ProgramDescription DescribeKnown(std::string_view name) {
  return DescribeProgram(*FindProgram(name), std::string(name));
}

std::string StandaloneNames() { return fmt::format("{}", fmt::join(kStandalone, ", ")); }

bool IsProgramLibrary(std::string_view name) { return name.ends_with(".so"); }

const ProgramKind& LoadProgram(const std::string& name) {
  if (IsProgramLibrary(name)) return LoadLibrary(name);
  if (std::ranges::find(kStandalone, name) == kStandalone.end()) {
    throw UsageError(
        fmt::format("forwarding program: '{}' is neither one of {} nor a shared library (FILE.so)",
                    name, StandaloneNames()));
  }
  return *FindProgram(name);
}

}  // namespace viaduct::forward
