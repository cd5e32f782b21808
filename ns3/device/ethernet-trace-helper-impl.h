/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ETHERNET_TRACE_HELPER_IMPL_H
#define VIADUCT_ETHERNET_TRACE_HELPER_IMPL_H

// The definitions of EthernetTraceHelper. The source file of each device type's helper includes
// this header and instantiates the template for its device type.

#include "ns3/callback.h"
#include "ns3/device/ethernet-trace-helper.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include <ostream>

namespace ns3
{

namespace ethernettrace
{

/**
 * Writes a line for a dropped packet, in the format of ns3::AsciiTraceHelper's drop sinks, which do
 * not accept a reason as argument.
 * @tparam Reason the type of a device's drop reasons
 */
template <class Reason>
void
WriteDrop(Ptr<OutputStreamWrapper> stream, Ptr<const Packet> packet, Reason)
{
    *stream->GetStream() << "d " << Simulator::Now().GetSeconds() << " " << *packet << std::endl;
}

/**
 * Writes a line for a dropped packet, with the trace context of its device, to a stream that
 * several devices share.
 * @tparam Reason the type of a device's drop reasons
 */
template <class Reason>
void
WriteDropOf(Ptr<OutputStreamWrapper> stream, std::string context, Ptr<const Packet> packet, Reason)
{
    *stream->GetStream() << "d " << Simulator::Now().GetSeconds() << " " << context << " "
                         << *packet << std::endl;
}

/**
 * @tparam Device the type of the device
 * @return the context (Config path) of the device's trace sources, without the source's name
 */
template <class Device>
std::string
ContextOf(const Device& device)
{
    return "/NodeList/" + std::to_string(device.GetNode()->GetId()) + "/DeviceList/" +
           std::to_string(device.GetIfIndex()) + "/$" + Device::GetTypeId().GetName() + "/";
}

} // namespace ethernettrace

template <class Device>
void
EthernetTraceHelper<Device>::EnablePcapInternal(std::string prefix,
                                                Ptr<NetDevice> device,
                                                bool promiscuous,
                                                bool explicitFilename)
{
    auto own = DynamicCast<Device>(device);
    if (!own)
    {
        return; // a device of another type: this function is called for all devices of a node
    }
    PcapHelper pcap;
    const std::string name = explicitFilename ? prefix : pcap.GetFilenameFromDevice(prefix, device);
    Ptr<PcapFileWrapper> file = pcap.CreateFile(name, std::ios::out, PcapHelper::DLT_EN10MB);
    pcap.HookDefaultSink<Device>(own, promiscuous ? "PromiscSniffer" : "Sniffer", file);
}

template <class Device>
void
EthernetTraceHelper<Device>::EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                                                 std::string prefix,
                                                 Ptr<NetDevice> device,
                                                 bool explicitFilename)
{
    using Reason = typename Device::DropReason;
    auto own = DynamicCast<Device>(device);
    if (!own)
    {
        return; // a device of another type: this function is called for all devices of a node
    }
    Packet::EnablePrinting();
    if (!stream)
    {
        AsciiTraceHelper ascii;
        const std::string name =
            explicitFilename ? prefix : ascii.GetFilenameFromDevice(prefix, device);
        Ptr<OutputStreamWrapper> file = ascii.CreateFileStream(name);
        ascii.HookDefaultReceiveSinkWithoutContext<Device>(own, "MacRx", file);
        ascii.HookDefaultDequeueSinkWithoutContext<Device>(own, "MacTx", file);
        for (const char* source : {"MacTxDrop", "MacRxDrop"})
        {
            own->TraceConnectWithoutContext(
                source, MakeBoundCallback(&ethernettrace::WriteDrop<Reason>, file));
        }
        return;
    }
    const std::string context = ethernettrace::ContextOf(*own);
    own->TraceConnect("MacRx",
                      context + "MacRx",
                      MakeBoundCallback(&AsciiTraceHelper::DefaultReceiveSinkWithContext, stream));
    own->TraceConnect("MacTx",
                      context + "MacTx",
                      MakeBoundCallback(&AsciiTraceHelper::DefaultDequeueSinkWithContext, stream));
    for (const char* source : {"MacTxDrop", "MacRxDrop"})
    {
        own->TraceConnect(source,
                          context + source,
                          MakeBoundCallback(&ethernettrace::WriteDropOf<Reason>, stream));
    }
}

} // namespace ns3

#endif
