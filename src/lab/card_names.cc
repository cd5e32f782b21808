#include "lab/card_names.h"

#include <algorithm>

namespace viaduct::lab {
namespace {

// Whether an interface has a name that is required for another interface of the card.
bool IsInTheWay(const sys::CardInterface& interface, const CardNames& names) {
  return std::ranges::any_of(names, [&](const auto& entry) {
    return entry.first != interface.id && entry.second == interface.name;
  });
}

}  // namespace

void NameCardInterfaces(sys::Netlink& session, const std::vector<sys::CardInterface>& card,
                        const CardNames& names) {
  const auto wanted = [&](const sys::CardInterface& interface) {
    const auto found = names.find(interface.id);
    return found == names.end() ? interface.name : found->second;
  };
  for (const sys::CardInterface& interface : card) {
    if (IsInTheWay(interface, names) || wanted(interface).empty()) {
      session.Rename(interface.ifindex, "moved%d");  // the kernel replaces %d by a free number
    }
  }
  for (const sys::CardInterface& interface : card) {
    const std::string name = wanted(interface);
    if (!name.empty() && name != interface.name) session.Rename(interface.ifindex, name);
  }
}

}  // namespace viaduct::lab
