#include "scenario/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/within.h"
#include "path/model/nat.h"
#include "path/trial.h"
#include "scenario/binding.h"
#include "scenario/moments.h"

namespace viaduct::scenario {
namespace {

// The state of a link at the time of an event.
struct LinkState {
  path::Spec up, down;
  bool captured = false;
};

class EventReader {
 public:
  EventReader(const NameTable& links, const Scenario& scenario)
      : links_(links), scenario_(scenario) {
    for (const LinkSettings& link : scenario.links) {
      settings_[link.name] = &link;
      states_[link.name] = {link.up.value_or(link.spec), link.down.value_or(link.spec),
                            std::ranges::count(scenario.captures, link.name) > 0};
    }
  }

  LinkEvent Read(const Section& section) const {
    section.Need({"at", "link"});
    LinkEvent event;
    event.where = fmt::format("{}: {}", section.value().where, section.shown());
    ReadMembers(section, event);
    event.at = ReadMoment(section, "at", scenario_.duration);
    event.link = section.Located("link", [&] { return links_.Check(section.Text("link")); });
    const bool has_spec = section.Has("set") || section.Has("up") || section.Has("down");
    if (section.Has("state") + has_spec + section.Has("capture") != 1) {
      section.Fail("link",
                   "an event must have exactly one of: state; capture; a change of the SPEC (set, "
                   "or up, down or both)");
    }
    event.kind = has_spec                 ? LinkEvent::Kind::kSpec
                 : section.Has("capture") ? LinkEvent::Kind::kCapture
                                          : LinkEvent::Kind::kState;
    event.on =
        section.Has("capture") ? section.Text("capture") == "start" : section.Text("state") == "up";
    if (has_spec) CheckDirections(section, *settings_.at(event.link));
    return event;
  }

  // Applies an event to the state of its link and stores the resulting SPECs in the event. Must be
  // called for the events in the order of their times.
  void Happen(const Section& section, LinkEvent& event) {
    LinkState& state = states_.at(event.link);
    if (event.kind == LinkEvent::Kind::kSpec) {
      Change(section, state.up, event.set.empty() ? "up" : "set", event);
      Change(section, state.down, event.set.empty() ? "down" : "set", event);
      event.up_spec = state.up;
      event.down_spec = state.down;
    } else if (event.kind == LinkEvent::Kind::kCapture) {
      if (state.captured == event.on) {
        section.Fail(
            "capture",
            fmt::format("the link '{}' is {} captured at the time of this event; remove the event",
                        event.link, event.on ? "already" : "not"));
      }
      state.captured = event.on;
    }
  }

 private:
  static void CheckGiven(const Section& section) {
    for (const char* key : {"set", "up", "down"}) {
      if (!section.Has(key)) continue;
      if (section.Text(key).find_first_not_of(" \t\n") != std::string::npos) continue;
      section.Fail(key, "empty; list the keys that change (delay=50ms), or remove this key");
    }
  }

  void CheckDirections(const Section& section, const LinkSettings& link) const {
    CheckGiven(section);
    for (const char* direction : {"up", "down"}) {
      if (!section.Has(direction)) continue;
      if (section.Has("set"))
        section.Fail(direction, "cannot be combined with set, which changes both directions");
      if (link.kind != lab::Link::Kind::kPair) {
        section.Fail(direction, "only a link of two nodes has directions; use the key set");
      }
    }
    if (!link.interface.empty() || IsWifi(link)) {
      section.Fail("link", fmt::format("'{}' is {}, which has no SPEC", link.name,
                                       IsWifi(link) ? "Wi-Fi" : "an interface"));
    }
    if (link.emulator == lab::Emulator::kKernel && scenario_.mode != Mode::kSimulate) {
      section.Fail(
          "link", fmt::format("the SPEC of '{}' is emulated by the kernel and cannot change during "
                              "a run; use emulator: engine",
                              link.name));
    }
  }

  static void Change(const Section& section, path::Spec& spec, const char* key,
                     const LinkEvent& event) {
    const std::string& text = *key == 's' ? event.set : *key == 'u' ? event.up : event.down;
    section.Located(key, [&] { spec = path::ChangeSpec(spec, text); });
  }

  const NameTable& links_;
  const Scenario& scenario_;
  std::map<std::string, const LinkSettings*> settings_;
  std::map<std::string, LinkState> states_;
};

// Makes the changes of SPECs on pipelines that carry no packets, to find impossible changes. The
// links whose SPECs change have pipelines, and so have the links that share a rate with another
// link.
class LinkTrial {
 public:
  explicit LinkTrial(const Scenario& scenario)
      : simulated_(scenario.mode == Mode::kSimulate), trial_(ReadRegularFile) {
    for (const LinkSettings& link : scenario.links) {
      const bool by_kernel = link.emulator == lab::Emulator::kKernel && !simulated_;
      const std::vector<path::TrafficClass> classes = ClassesOf(link);
      const bool is_shared = link.spec.link.shared || (link.up && link.up->link.shared) ||
                             (link.down && link.down->link.shared) ||
                             std::ranges::any_of(classes, [](const path::TrafficClass& each) {
                               return each.up.link.shared || each.down.link.shared;
                             });
      if (by_kernel || !(is_shared || ChangesSpec(scenario, link.name))) continue;
      Within("link " + link.name, [&] { Add(link); });
    }
    trial_.CheckLinks();
  }

  // Applies an event to the pipelines, first to the directions whose new SPEC has no NAT, because a
  // pair has one NAT, which one direction must release before the opposite direction can get it.
  void Happen(const LinkEvent& event) {
    const auto spec_of = [&](const Tried& tried) -> const path::Spec& {
      return tried.is_down ? event.down_spec : event.up_spec;
    };
    std::vector<Tried> order = pipelines_.at(event.link);
    std::stable_partition(order.begin(), order.end(),
                          [&](const Tried& tried) { return !spec_of(tried).nat; });
    for (const Tried& tried : order) {
      const auto& [pipeline, is_down] = tried;
      const char* key = !event.set.empty() ? "set" : is_down ? "down" : "up";
      const path::Spec& spec = spec_of(tried);
      Within(fmt::format("{}.{}", event.where, key), [&, number = pipeline] {
        trial_.Change(number, spec);
        // In a simulation, a link without a rate would let a sender at full speed stop virtual
        // time.
        if (simulated_) trial_.CheckLinks();
      });
    }
  }

 private:
  struct Tried {
    size_t pipeline;
    bool is_down;  // whether the pipeline is of the second direction of a pair
  };

  void Add(const LinkSettings& link) {
    const bool is_pair = link.kind == lab::Link::Kind::kPair;
    const auto nat = is_pair ? std::make_shared<path::Nat>(0, link.name) : nullptr;
    for (size_t i = 0; i < link.nodes.size(); ++i) {
      const bool is_down = is_pair && i == 1;
      const std::optional<path::Spec>& own = is_down ? link.down : link.up;
      const auto direction = is_down ? path::Direction::kDown : path::Direction::kUp;
      pipelines_[link.name].push_back(
          {trial_.Add(own.value_or(link.spec), {nat, direction}), is_down});
      for (const path::TrafficClass& each : ClassesOf(link)) {
        trial_.Add(is_down ? each.down : each.up, {nat, direction, true});
      }
    }
  }

  bool simulated_;
  path::Trial trial_;
  std::map<std::string, std::vector<Tried>> pipelines_;  // the key is the link's name
};

}  // namespace

std::vector<LinkEvent> ReadEvents(const Section& file, const NameTable& links,
                                  const Scenario& scenario) {
  EventReader reader(links, scenario);
  std::vector<std::pair<Section, LinkEvent>> events;
  file.Each("events",
            [&](const Section& section) { events.emplace_back(section, reader.Read(section)); });
  std::vector<size_t> order(events.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return events[i].second.at; });
  std::vector<LinkEvent> sorted;
  for (const size_t i : order) {
    auto& [section, event] = events[i];
    reader.Happen(section, event);
    sorted.push_back(event);
  }
  return sorted;
}

bool ChangesSpec(const Scenario& scenario, const std::string& link) {
  return std::ranges::any_of(scenario.link_events, [&](const LinkEvent& event) {
    return event.kind == LinkEvent::Kind::kSpec && event.link == link;
  });
}

std::string DescribeEvent(const LinkEvent& event) {
  switch (event.kind) {
    case LinkEvent::Kind::kState:
      return event.on ? "up" : "down";
    case LinkEvent::Kind::kCapture:
      return event.on ? "capture start" : "capture stop";
    case LinkEvent::Kind::kSpec:
      break;
  }
  if (!event.set.empty()) return event.set;
  const std::string up = event.up.empty() ? "" : "up " + event.up;
  const std::string down = event.down.empty() ? "" : "down " + event.down;
  return up.empty() || down.empty() ? up + down : up + " " + down;
}

std::vector<std::string> CapturedLinks(const Scenario& scenario) {
  std::vector<std::string> links = scenario.captures;
  for (const LinkEvent& event : scenario.link_events) {
    const bool is_new = std::ranges::count(links, event.link) == 0;
    if (event.kind == LinkEvent::Kind::kCapture && is_new) links.push_back(event.link);
  }
  return links;
}

void TryEvents(const Scenario& scenario) {
  LinkTrial trial(scenario);
  for (const LinkEvent& event : scenario.link_events) {
    if (event.kind == LinkEvent::Kind::kSpec) trial.Happen(event);
  }
}

}  // namespace viaduct::scenario
