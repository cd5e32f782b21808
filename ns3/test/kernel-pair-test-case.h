/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_PAIR_TEST_CASE_H
#define VIADUCT_KERNEL_PAIR_TEST_CASE_H

#include "ns3/test/kernel-test-support.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv6-address-helper.h"

#include <cstdint>

namespace viaducttest
{

/** A test of two kernel nodes that are connected by a link of 10 ms and have IPv4 and IPv6
 * addresses. */
class KernelPairTestCase : public KernelTestCase
{
  public:
    using KernelTestCase::KernelTestCase;

  protected:
    void MakePair(const char* rate = "100Mbps", KernelStackHelper stack = KernelStackHelper())
    {
        MakeLine(2, stack);
        m_devices.Get(0)->SetAttribute("DataRate", StringValue(rate));
        m_devices.Get(1)->SetAttribute("DataRate", StringValue(rate));
        m_interfaces6 = Ipv6AddressHelper(Ipv6Address("fd00::"), Ipv6Prefix(64)).Assign(m_devices);
    }

    /** @return the IPv6 or IPv4 address of the second node, without port */
    Address Host(bool ipv6) const
    {
        return ipv6 ? Address(m_interfaces6.GetAddress(1, 1)) : Address(m_interfaces.GetAddress(1));
    }

    /** @return the IPv6 or IPv4 address of the second node, with a port */
    Address Server(bool ipv6, uint16_t port) const
    {
        return ipv6 ? Address(Inet6SocketAddress(m_interfaces6.GetAddress(1, 1), port))
                    : Address(InetSocketAddress(m_interfaces.GetAddress(1), port));
    }

    static Address Any(bool ipv6, uint16_t port)
    {
        return ipv6 ? Address(Inet6SocketAddress(Ipv6Address::GetAny(), port))
                    : Address(InetSocketAddress(Ipv4Address::GetAny(), port));
    }

    void Run(Time stop)
    {
        Simulator::Stop(stop);
        Simulator::Run();
    }

    /** Ends the simulation and resets the members, so that another simulation may follow. */
    void End()
    {
        m_interfaces6 = Ipv6InterfaceContainer();
        Clear();
    }

    Ipv6InterfaceContainer m_interfaces6; //!< IPv6 addresses, in the order of m_interfaces
};

} // namespace viaducttest

#endif // VIADUCT_KERNEL_PAIR_TEST_CASE_H
