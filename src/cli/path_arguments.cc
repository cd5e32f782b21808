#include "cli/path_arguments.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/units.h"
#include "base/within.h"
#include "path/engine/classifier.h"
#include "path/spec/spec.h"

namespace viaduct::cli {
namespace {

constexpr const char* kEnd = "IF, IF:vlan=1..4094 or IF:mpls=16..1048575";

size_t PortOf(const std::string& interface, std::vector<std::string>* ports) {
  if (interface.empty() || interface.size() >= IFNAMSIZ ||
      interface.find_first_of("/ \t") != std::string::npos) {
    throw UsageError(fmt::format("\"{}\" is not a valid interface name", interface));
  }
  const auto known = std::find(ports->begin(), ports->end(), interface);
  if (known != ports->end()) return static_cast<size_t>(known - ports->begin());
  ports->push_back(interface);
  return ports->size() - 1;
}

// Collects the pairs from the arguments in the order of the command line.
class Collector {
 public:
  explicit Collector(engine::Config config)
      : config_(std::move(config)), given_(config_.pairs.size()) {}

  void Take(const std::string& key, const std::string& value) {
    if (half_ && key != "between") throw UsageError("--between needs two interfaces");
    if (key == "between") {
      Between(value);
    } else if (key == "pair") {
      Within("--pair " + value, [&] { AddPair(value); });
    } else if (key == "class") {
      Within("--class " + value, [&] { AddClass(value); });
    } else {
      TakeSpec(key, value);
    }
  }

  engine::Config Finish() {
    if (half_) throw UsageError("--between needs two interfaces");
    if (config_.pairs.empty()) {
      throw UsageError(
          "no path: specify two interfaces, with --between A B or --pair A:vlan=10,B:vlan=20");
    }
    for (size_t i = 0; i < config_.pairs.size(); ++i) {
      if (!given_[i].up && default_.up) config_.pairs[i].up = *default_.up;
      if (!given_[i].down && default_.down) config_.pairs[i].down = *default_.down;
    }
    return std::move(config_);
  }

 private:
  struct Directions {
    std::optional<path::Spec> up, down;
  };

  void Between(const std::string& interface) {
    const std::string argument = "--between " + interface;
    if (!half_) {
      half_ = Within(argument, [&] { return ParseAttachment(interface, &config_.ports); });
      return;
    }
    Within(argument, [&] { Add("", *half_, ParseAttachment(interface, &config_.ports)); });
    half_.reset();
  }

  void AddPair(const std::string& value) {
    const size_t equals = value.find('=');
    const bool named = equals < value.find_first_of(":,");
    const std::string name = named ? value.substr(0, equals) : "";
    const std::string ends = named ? value.substr(equals + 1) : value;
    const size_t comma = ends.find(',');
    if (comma == std::string::npos || ends.find(',', comma + 1) != std::string::npos) {
      throw UsageError(
          fmt::format("a pair consists of two ends separated by a comma; each end is {}", kEnd));
    }
    if (named && name.empty()) throw UsageError("the name of the pair, before =, is empty");
    const auto a = ParseAttachment(ends.substr(0, comma), &config_.ports);
    Add(name, a, ParseAttachment(ends.substr(comma + 1), &config_.ports));
  }

  void Add(const std::string& name, const engine::Attachment& a, const engine::Attachment& b) {
    engine::Pair pair;
    pair.a = a;
    pair.b = b;
    pair.name = !name.empty() ? name
                              : engine::FormatAttachment(a, config_.ports) + "-" +
                                    engine::FormatAttachment(b, config_.ports);
    config_.pairs.push_back(std::move(pair));
    given_.emplace_back();
    in_class_.reset();
  }

  void AddClass(const std::string& value) {
    if (config_.pairs.empty())
      throw UsageError("a class belongs to a pair; specify --pair or --between before --class");
    const size_t equals = value.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == value.size()) {
      throw UsageError("expected NAME=FILTER, such as --class 'dns=udp port 53' --up loss=5%");
    }
    config_.pairs.back().classes.push_back(
        {value.substr(0, equals), value.substr(equals + 1), {}, {}});
    in_class_.emplace();
  }

  void TakeSpec(const std::string& key, const std::string& value) {
    const path::Spec spec =
        Within(fmt::format("--{} \"{}\"", key, value), [&] { return path::ParseSpec(value); });
    Directions& given = Target();
    std::optional<path::Spec>& slot = key == "up" ? given.up : given.down;
    if (slot) {
      throw UsageError(
          fmt::format("--{0} \"{1}\": --{0} was already specified; specify it once after each "
                      "--pair or --class",
                      key, value));
    }
    slot = spec;
    if (config_.pairs.empty()) return;
    engine::Pair& pair = config_.pairs.back();
    if (in_class_) {
      (key == "up" ? pair.classes.back().up : pair.classes.back().down) = spec;
    } else {
      (key == "up" ? pair.up : pair.down) = spec;
    }
  }

  Directions& Target() {
    if (config_.pairs.empty()) return default_;
    return in_class_ ? *in_class_ : given_.back();
  }

  engine::Config config_;
  Directions default_;
  std::vector<Directions> given_;  // the SPECs that were given, by pair
  std::optional<engine::Attachment> half_;
  std::optional<Directions> in_class_;  // the SPECs that were given for the current class
};

}  // namespace

engine::Attachment ParseAttachment(const std::string& text, std::vector<std::string>* ports) {
  const size_t colon = text.find(':');
  engine::Attachment attachment;
  attachment.port = PortOf(text.substr(0, colon), ports);
  if (colon == std::string::npos) return attachment;
  const std::string tag = text.substr(colon + 1);
  const auto number = [&](int64_t least, int64_t most) {
    return Within(text, [&] { return ParseInteger(tag.substr(5), least, most); });
  };
  if (tag.starts_with("vlan=")) {
    attachment.vlan = static_cast<uint16_t>(number(1, 4094));
  } else if (tag.starts_with("mpls=")) {
    attachment.mpls = static_cast<uint32_t>(number(16, 0xfffff));
  } else {
    throw UsageError(fmt::format("\"{}\" is not an end of a pair; expected {}", text, kEnd));
  }
  return attachment;
}

engine::Config PairsFromArguments(const OrderedArguments& arguments, engine::Config config) {
  Collector collector(std::move(config));
  for (const auto& [key, value] : arguments) collector.Take(key, value);
  return collector.Finish();
}

}  // namespace viaduct::cli
