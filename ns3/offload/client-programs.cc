/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/client-programs.h"

#include "ns3/base/ip-family.h"
#include "ns3/boolean.h"

#include "base/wire/address_scope.h"
#include "remote/tunnel/client_port.h"

#include <utility>

namespace ns3
{

using viaduct::wire::IpAddress;

std::vector<IpAddress>
AddressesOfClient(Ptr<Node> node)
{
    std::vector<IpAddress> own;
    const auto add = [&](auto ip) {
        for (uint32_t i = 0; ip && i < ip->GetNInterfaces(); i++)
        {
            for (const auto& prefix : ipfamily::AddressesOf(ip, i))
            {
                own.push_back(prefix.address);
            }
        }
    };
    add(node->GetObject<Ipv4>());
    add(node->GetObject<Ipv6>());
    std::erase_if(own, [](const auto& each) { return viaduct::wire::IsLoopback(each); });
    return own;
}

Ptr<ProgramPort>
InstallClient(Ptr<Node> node, const ProgramPort::Carrier& carrier)
{
    const Ptr<ProgramPort> programs = ProgramPort::Install(node, carrier);
    programs->SetAttribute("AnswersEcho", BooleanValue(false));
    return programs;
}

Ptr<ProgramPort>
InstallClient(Ptr<Node> node, std::unique_ptr<viaduct::io::AnyPort> frames)
{
    auto port =
        std::make_unique<viaduct::tunnel::ClientPort>(std::move(frames), AddressesOfClient(node));
    const Ptr<ProgramPort> programs = ProgramPort::Install(node, std::move(port));
    programs->SetAttribute("AnswersEcho", BooleanValue(false));
    return programs;
}

} // namespace ns3
