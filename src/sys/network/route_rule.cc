#include "sys/network/route_rule.h"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

namespace viaduct::sys {

NetlinkMessage RuleRequest(const RouteRule& rule) {
  fib_rule_hdr header{};
  header.family = FamilyOf(rule.from.address);
  header.src_len = static_cast<uint8_t>(rule.from.length);
  header.dst_len = static_cast<uint8_t>(rule.to.length);
  header.action = FR_ACT_TO_TBL;
  NetlinkMessage message(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL);
  message.AppendHeader(header);
  if (rule.from.length > 0) message.Put(FRA_SRC, rule.from.address);
  if (rule.to.length > 0) message.Put(FRA_DST, rule.to.address);
  message.PutU32(FRA_TABLE, rule.table);
  if (rule.priority != 0) message.PutU32(FRA_PRIORITY, rule.priority);
  if (!rule.incoming.empty()) message.Put(FRA_IIFNAME, rule.incoming);
  return message;
}

}  // namespace viaduct::sys
