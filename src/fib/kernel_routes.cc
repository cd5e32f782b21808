#include "fib/kernel_routes.h"

#include <fmt/format.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

namespace viaduct::fib {
namespace {

// 1,024 in a sendmsg are not faster than 128 (0.5 M routes/s either way), and the answers to 128
// requests that all fail fit the receive buffer.
constexpr size_t kBatch = 128;
constexpr int kReceiveBuffer = 1 << 20;

std::string Summary(const std::vector<RouteError::Failure>& failures, size_t total) {
  std::string text = fmt::format("{} of {} routes refused: ", failures.size(), total);
  const size_t shown = std::min<size_t>(failures.size(), 3);
  for (size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", ToString(failures[i].route),
                        failures[i].reason);
  }
  if (failures.size() > shown) text += fmt::format("; and {} more", failures.size() - shown);
  return text;
}

// The kernel's extended explanation in an NLMSG_ERROR (NETLINK_EXT_ACK, capped), or nothing.
std::string ExtendedText(const nlmsghdr* message) {
  if ((message->nlmsg_flags & NLM_F_ACK_TLVS) == 0) return {};
  size_t offset = NLMSG_HDRLEN + sizeof(nlmsgerr);
  const auto* error = static_cast<const nlmsgerr*>(NLMSG_DATA(message));
  if ((message->nlmsg_flags & NLM_F_CAPPED) == 0) offset += error->msg.nlmsg_len - NLMSG_HDRLEN;
  const auto* bytes = reinterpret_cast<const char*>(message);
  while (offset + sizeof(nlattr) <= message->nlmsg_len) {
    nlattr attribute;
    std::memcpy(&attribute, bytes + offset, sizeof attribute);
    if (attribute.nla_len < sizeof attribute || offset + attribute.nla_len > message->nlmsg_len) {
      break;
    }
    if ((attribute.nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG) {
      const char* text = bytes + offset + sizeof attribute;
      return std::string(text, strnlen(text, attribute.nla_len - sizeof attribute));
    }
    offset += NLA_ALIGN(attribute.nla_len);
  }
  return {};
}

}  // namespace

RouteError::RouteError(std::vector<Failure> failures, size_t total)
    : Error(Summary(failures, total)), failures_(std::move(failures)) {}

struct KernelRoutes::Request {
  RouteAction action;
  const Route* route;
  int ifindex;
};

struct KernelRoutes::Outcome {
  int error = 0;  // errno; 0: done
  std::string text;
  std::string Reason() const {
    if (error == EEXIST) return "the namespace has another route to it that is not ours";
    return text.empty() ? std::strerror(error) : fmt::format("{} ({})", std::strerror(error), text);
  }
};

sys::NetlinkMessage RouteRequest(RouteAction action, const Route& route, int ifindex) {
  const bool is_delete = action == RouteAction::kDelete;
  const bool has_gateway = !route.gateway.IsUnspecified();
  const bool is_ipv4 = route.destination.address.family == wire::Family::kIpv4;
  int flags = NLM_F_REQUEST;
  if (action == RouteAction::kCreate) flags |= NLM_F_CREATE | NLM_F_EXCL;
  if (action == RouteAction::kReplace) flags |= NLM_F_CREATE | NLM_F_REPLACE;

  rtmsg header{};
  header.rtm_family = is_ipv4 ? AF_INET : AF_INET6;
  header.rtm_dst_len = static_cast<uint8_t>(route.destination.length);
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = kRouteProtocol;
  header.rtm_scope = is_ipv4 && !has_gateway ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
  if (is_delete) header.rtm_scope = RT_SCOPE_NOWHERE;  // any scope
  header.rtm_type = RTN_UNICAST;
  if (has_gateway && !is_delete) header.rtm_flags = RTNH_F_ONLINK;

  sys::NetlinkMessage message(is_delete ? RTM_DELROUTE : RTM_NEWROUTE, flags);
  message.AppendHeader(header);
  const auto& destination = route.destination.address;
  if (route.destination.length > 0) {
    message.Put(RTA_DST, destination.bytes.data(), destination.Length());
  }
  if (has_gateway) message.Put(RTA_GATEWAY, route.gateway.bytes.data(), route.gateway.Length());
  message.PutU32(RTA_OIF, static_cast<uint32_t>(ifindex));
  if (route.metric != 0) message.PutU32(RTA_PRIORITY, route.metric);
  return message;
}

KernelRoutes::KernelRoutes(int namespace_fd) : session_(namespace_fd), requests_(namespace_fd) {
  const int fd = nl_socket_get_fd(requests_.get());
  const int on = 1;
  SystemCall("setsockopt NETLINK_EXT_ACK",
             setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on));
  SystemCall("setsockopt NETLINK_CAP_ACK",
             setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on));
  SystemCall("setsockopt SO_RCVBUFFORCE",
             setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer));
}

int KernelRoutes::IfIndex(const std::string& interface) {
  const auto found = ifindexes_.find(interface);
  if (found != ifindexes_.end()) return found->second;
  const auto link = session_.FindLink(interface);
  return ifindexes_[interface] = link ? link->ifindex : 0;
}

std::vector<KernelRoutes::Outcome> KernelRoutes::Exchange(const std::vector<Request>& requests) {
  std::vector<Outcome> outcomes(requests.size());
  for (size_t first = 0; first < requests.size(); first += kBatch) {
    const size_t count = std::min(kBatch, requests.size() - first);
    SendBatch(&requests[first], count, &outcomes[first]);
  }
  return outcomes;
}

void KernelRoutes::SendBatch(const Request* requests, size_t count, Outcome* outcomes) {
  std::vector<char> buffer;
  buffer.reserve(count * 96);
  const uint32_t first = sequence_ + 1;
  for (size_t i = 0; i < count; ++i) {
    const Request& request = requests[i];
    auto message = RouteRequest(request.action, *request.route, request.ifindex);
    nlmsghdr* header = nlmsg_hdr(message.get());
    header->nlmsg_seq = ++sequence_;
    header->nlmsg_pid = 0;
    // The kernel answers every request that fails; the acknowledgement of the last says that all
    // were looked at.
    if (i + 1 == count) header->nlmsg_flags |= NLM_F_ACK;
    const auto* bytes = reinterpret_cast<const char*>(header);
    buffer.insert(buffer.end(), bytes, bytes + header->nlmsg_len);
    buffer.resize(NLMSG_ALIGN(buffer.size()));
  }
  const int fd = nl_socket_get_fd(requests_.get());
  SystemCall("send routes to the kernel", send(fd, buffer.data(), buffer.size(), 0));
  ReceiveAnswers(first, count, outcomes);
}

void KernelRoutes::ReceiveAnswers(uint32_t first, size_t count, Outcome* outcomes) {
  const int fd = nl_socket_get_fd(requests_.get());
  alignas(nlmsghdr) std::array<char, 16384> buffer;
  while (true) {
    const ssize_t received = recv(fd, buffer.data(), buffer.size(), 0);
    if (received < 0 && errno == EINTR) continue;
    SystemCall("receive the kernel's answers to routes", received);
    auto left = static_cast<unsigned int>(received);
    for (auto* message = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(message, left);
         message = NLMSG_NEXT(message, left)) {
      const uint32_t index = message->nlmsg_seq - first;
      if (message->nlmsg_type != NLMSG_ERROR || index >= count) continue;
      const auto* error = static_cast<const nlmsgerr*>(NLMSG_DATA(message));
      outcomes[index].error = -error->error;
      if (error->error != 0) outcomes[index].text = ExtendedText(message);
      if (index + 1 == count) return;
    }
  }
}

void KernelRoutes::Apply(const RouteChanges& changes) {
  ifindexes_.clear();
  std::vector<RouteError::Failure> failures;
  SetRoutes(changes.replaced, &failures);
  SetRoutes(changes.added, &failures);
  RemoveRoutes(changes, &failures);
  if (!failures.empty()) throw RouteError(std::move(failures), changes.size());
}

void KernelRoutes::SetRoutes(const std::vector<Route>& routes,
                             std::vector<RouteError::Failure>* failures) {
  std::vector<Request> requests;
  requests.reserve(routes.size());
  for (const Route& route : routes) {
    const int ifindex = IfIndex(route.interface);
    const bool is_known = desired_.contains({route.destination, route.metric});
    if (ifindex == 0) {
      failures->push_back({route, "no such interface"});
    } else if (!route.gateway.IsUnspecified() &&
               route.gateway.family != route.destination.address.family) {
      failures->push_back({route, "gateway and destination are of different address families"});
    } else {
      requests.push_back(
          {is_known ? RouteAction::kReplace : RouteAction::kCreate, &route, ifindex});
    }
  }
  const auto outcomes = Exchange(requests);
  std::vector<Route> stale;  // what the kernel still has of routes whose new interface is down
  for (size_t i = 0; i < requests.size(); ++i) {
    const Route& route = *requests[i].route;
    const RouteKey key{route.destination, route.metric};
    const int error = outcomes[i].error;
    if (error == ENETDOWN) {
      if (const auto old = desired_.find(key); old != desired_.end()) stale.push_back(old->second);
    }
    if (error == 0 || error == ENETDOWN) {
      desired_[key] = route;
    } else if (error != EEXIST || !route.gateway.IsUnspecified()) {
      failures->push_back({route, outcomes[i].Reason()});
    }
  }
  DeleteAll(stale, failures);
}

void KernelRoutes::RemoveRoutes(const RouteChanges& changes,
                                std::vector<RouteError::Failure>* failures) {
  if (changes.removed.empty()) return;
  std::set<RouteKey> just_set;
  for (const auto* routes : {&changes.replaced, &changes.added}) {
    for (const Route& route : *routes) just_set.insert({route.destination, route.metric});
  }
  std::vector<Route> routes;
  for (const Route& route : changes.removed) {
    const RouteKey key{route.destination, route.metric};
    const auto found = desired_.find(key);
    if (found == desired_.end() || just_set.contains(key)) continue;
    routes.push_back(std::move(found->second));
    desired_.erase(found);
  }
  DeleteAll(routes, failures);
}

void KernelRoutes::DeleteAll(const std::vector<Route>& routes,
                             std::vector<RouteError::Failure>* failures) {
  std::vector<Request> requests;
  for (const Route& route : routes) {
    const int ifindex = IfIndex(route.interface);
    if (ifindex != 0) requests.push_back({RouteAction::kDelete, &route, ifindex});
  }
  const auto outcomes = Exchange(requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    const int error = outcomes[i].error;  // ESRCH: the kernel dropped it with its interface
    if (error != 0 && error != ESRCH && error != ENODEV) {
      failures->push_back({*requests[i].route, outcomes[i].Reason()});
    }
  }
}

size_t KernelRoutes::Reinstall() {
  ifindexes_.clear();
  std::vector<Request> requests;
  size_t missing = 0;
  for (const auto& [key, route] : desired_) {
    const int ifindex = IfIndex(route.interface);
    if (ifindex == 0) {
      ++missing;
    } else {
      requests.push_back({RouteAction::kCreate, &route, ifindex});
    }
  }
  for (const Outcome& outcome : Exchange(requests)) {
    if (outcome.error != 0 && outcome.error != EEXIST) ++missing;
  }
  return missing;
}

void KernelRoutes::Flush() {
  desired_.clear();
  rtmsg header{};
  header.rtm_family = AF_UNSPEC;
  sys::NetlinkMessage query(RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP);
  query.AppendHeader(header);
  std::vector<std::vector<char>> found;
  requests_.Query(query, "list routes", [&](const nlmsghdr* message) {
    const auto* route = static_cast<const rtmsg*>(NLMSG_DATA(message));
    if (message->nlmsg_type != RTM_NEWROUTE || route->rtm_protocol != kRouteProtocol) return;
    const auto* payload = static_cast<const char*>(NLMSG_DATA(message));
    found.emplace_back(payload, payload + NLMSG_PAYLOAD(message, 0));
  });
  for (const auto& payload : found) {
    sys::NetlinkMessage removal(RTM_DELROUTE, NLM_F_REQUEST | NLM_F_ACK);
    removal.AppendHeader(payload.data(), payload.size());
    const int error = requests_.TryRequest(removal);
    if (error != 0 && error != ESRCH) throw SystemError("remove a route of an earlier run", error);
  }
}

}  // namespace viaduct::fib
