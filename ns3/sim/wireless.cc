/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "wireless.h"

#include "type-check.h"

#include "ns3/ampdu-subframe-header.h"
#include "ns3/ap-wifi-mac.h"
#include "ns3/double.h"
#include "ns3/error-model.h"
#include "ns3/llc-snap-header.h"
#include "ns3/sta-wifi-mac.h"
#include "ns3/string.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-mpdu.h"
#include "ns3/wifi-net-device.h"
#include "ns3/yans-wifi-helper.h"
#include "ns3/yans-wifi-phy.h"

#include "base/error.h"

#include <map>
#include <string>
#include <tuple>

namespace ns3::sim
{

using viaduct::UsageError;
using viaduct::scenario::LinkSettings;
using viaduct::scenario::Wifi;

namespace
{

WifiStandard
StandardOf(const Wifi& wifi)
{
    static const std::map<std::string, WifiStandard> STANDARDS{
        {"80211a", WIFI_STANDARD_80211a},
        {"80211b", WIFI_STANDARD_80211b},
        {"80211g", WIFI_STANDARD_80211g},
        {"80211n", WIFI_STANDARD_80211n},
        {"80211ac", WIFI_STANDARD_80211ac},
        {"80211ax", WIFI_STANDARD_80211ax},
    };
    return STANDARDS.at(wifi.standard);
}

/** @return the helper of the link's channel and radios */
YansWifiPhyHelper
RadiosOf(const LinkSettings& settings)
{
    const Wifi& wifi = settings.wifi;
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    if (wifi.range)
    {
        channel.AddPropagationLoss(
            "ns3::RangePropagationLossModel", "MaxRange", DoubleValue(*wifi.range));
    }
    else
    {
        channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel");
    }
    YansWifiPhyHelper radios;
    radios.SetChannel(channel.Create());
    // Only looks at names and values: the helper sets them again.
    CheckedFactory("ns3::YansWifiPhy",
                   {YansWifiPhy::GetTypeId()},
                   wifi.attributes,
                   {.attributes = "link " + settings.name + ": wifi.attributes"});
    for (const auto& [name, value] : wifi.attributes)
    {
        radios.Set(name, StringValue(value));
    }
    return radios;
}

/** @return devices on a channel of their own, whose rates are each station's own choice */
NetDeviceContainer
Install(const LinkSettings& settings,
        const YansWifiPhyHelper& radios,
        const char* rates,
        const NodeContainer& nodes)
{
    const Wifi& wifi = settings.wifi;
    WifiHelper helper;
    helper.SetStandard(StandardOf(wifi));
    helper.SetRemoteStationManager(rates);
    constexpr std::size_t LONGEST = 31; // bytes of ns3::Ssid's text
    const SsidValue network{Ssid(settings.name.substr(0, LONGEST))};
    NetDeviceContainer devices;
    for (uint32_t i = 0; i < nodes.GetN(); i++)
    {
        WifiMacHelper mac;
        if (wifi.access_point.empty())
        {
            mac.SetType("ns3::AdhocWifiMac");
        }
        else
        {
            const bool serves = settings.nodes[i] == wifi.access_point;
            mac.SetType(serves ? "ns3::ApWifiMac" : "ns3::StaWifiMac", "Ssid", network);
        }
        devices.Add(helper.Install(radios, mac, nodes.Get(i)));
    }
    return devices;
}

/** Fixes the rate of a device's data frames.
 * @param settings the link
 * @param device of ns3::ConstantRateWifiManager
 */
void
SetDataMode(const LinkSettings& settings, const WifiNetDevice& device)
{
    Ptr<WifiPhy> phy = device.GetPhy();
    std::string known;
    bool found = false;
    for (const auto& modes : {phy->GetModeList(), phy->GetMcsList()})
    {
        for (const WifiMode& mode : modes)
        {
            known += (known.empty() ? "" : ", ") + mode.GetUniqueName();
            found = found || mode.GetUniqueName() == settings.wifi.rate;
        }
    }
    if (!found)
    {
        throw UsageError("link " + settings.name + ": wifi.rate: \"" + settings.wifi.rate +
                         "\" is no WifiMode of " + settings.wifi.standard + ", which has " + known);
    }
    auto rates = device.GetRemoteStationManager();
    rates->SetAttribute("DataMode", StringValue(settings.wifi.rate));
    rates->SetAttribute("ControlMode", StringValue(phy->GetDefaultMode().GetUniqueName()));
}

Ptr<WifiNetDevice>
AsWifi(Ptr<NetDevice> device)
{
    return DynamicCast<WifiNetDevice>(device);
}

const char*
NameOf(WifiMacDropReason reason)
{
    switch (reason)
    {
    case WIFI_MAC_DROP_FAILED_ENQUEUE:
        return "wifi_queue_full";
    case WIFI_MAC_DROP_EXPIRED_LIFETIME:
        return "wifi_too_old";
    case WIFI_MAC_DROP_REACHED_RETRY_LIMIT:
        return "wifi_not_acknowledged";
    case WIFI_MAC_DROP_QOS_OLD_PACKET:
        break;
    }
    return "wifi_too_old";
}

/** @return the frame of a subframe of an A-MPDU (IEEE 802.11, 9.7.1): without delimiter and padding
 */
Ptr<const Packet>
FrameOf(Ptr<const Packet> packet, const MpduInfo& info)
{
    if (info.type == NORMAL_MPDU)
    {
        return packet;
    }
    Ptr<Packet> frame = packet->Copy();
    AmpduSubframeHeader delimiter;
    frame->RemoveHeader(delimiter);
    return frame->CreateFragment(0, delimiter.GetLength());
}

/** Makes a callback of a sniffer's type, which differs between directions and versions of ns-3.
 * @param see gets the frame
 */
template <class... Others>
Callback<void, Ptr<const Packet>, Others...>
OfFrame(const std::function<void(Ptr<const Packet>)>& see, void (*)(Ptr<const Packet>, Others...))
{
    return Callback<void, Ptr<const Packet>, Others...>(
        [see](Ptr<const Packet> packet, Others... others) {
            see(FrameOf(packet, std::get<MpduInfo>(std::make_tuple(others...))));
        });
}

} // namespace

NetDeviceContainer
MakeWifi(const LinkSettings& settings, const NodeContainer& nodes)
{
    const bool fixed = !settings.wifi.rate.empty();
    const auto install = [&] {
        // The managers of ns-3's own helper, and of a fixed rate.
        const char* rates = fixed ? "ns3::ConstantRateWifiManager" : "ns3::IdealWifiManager";
        return Install(settings, RadiosOf(settings), rates, nodes);
    };
    RadiosOf(settings); // names what is wrong
    if (!settings.wifi.attributes.empty() && !IsPossible([&] { return install().GetN() > 0; }))
    {
        throw UsageError("link " + settings.name + ": wifi.attributes: ns-3 makes no radio of " +
                         settings.wifi.standard +
                         " with these together; does the standard have such a channel?");
    }
    NetDeviceContainer devices = install();
    for (uint32_t i = 0; fixed && i < devices.GetN(); i++)
    {
        SetDataMode(settings, *AsWifi(devices.Get(i)));
    }
    return devices;
}

void
SetReceiving(Ptr<NetDevice> device, bool up)
{
    auto model = CreateObject<RateErrorModel>();
    model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    model->SetRate(up ? 0 : 1);
    AsWifi(device)->GetPhy()->SetPostReceptionErrorModel(model);
}

bool
IsUnassociated(Ptr<NetDevice> device)
{
    const auto wifi = AsWifi(device);
    const auto station = wifi ? DynamicCast<StaWifiMac>(wifi->GetMac()) : nullptr;
    return station && !station->IsAssociated();
}

bool
SniffWifi(Ptr<NetDevice> device, const std::function<void(Ptr<const Packet>)>& see)
{
    const auto wifi = AsWifi(device);
    if (!wifi)
    {
        return false;
    }
    wifi->GetPhy()->TraceConnectWithoutContext("MonitorSnifferRx",
                                               OfFrame(see, WifiPhy::MonitorSnifferRxCallback{}));
    wifi->GetPhy()->TraceConnectWithoutContext("MonitorSnifferTx",
                                               OfFrame(see, WifiPhy::MonitorSnifferTxCallback{}));
    return true;
}

void
WatchWifiDrops(Ptr<NetDevice> device,
               const std::function<void(Ptr<const Packet>, const char*)>& see)
{
    const auto wifi = AsWifi(device);
    if (!wifi)
    {
        return;
    }
    using Drops = Callback<void, WifiMacDropReason, Ptr<const WifiMpdu>>;
    wifi->GetMac()->TraceConnectWithoutContext(
        "DroppedMpdu", Drops([see](WifiMacDropReason reason, Ptr<const WifiMpdu> mpdu) {
            if (mpdu->GetHeader().HasData())
            {
                see(mpdu->GetPacket(), NameOf(reason));
            }
        }));
    const auto lost = [see](Ptr<const Packet> packet) { see(packet, "wifi_not_associated"); };
    wifi->GetMac()->TraceConnectWithoutContext("MacTxDrop",
                                               Callback<void, Ptr<const Packet>>(lost));
    const auto serving = DynamicCast<ApWifiMac>(wifi->GetMac());
    if (!serving)
    {
        return;
    }
    // An access point hands what it cannot pass on, for a station that has left, to its own node,
    // which ignores it.
    wifi->GetNode()->RegisterProtocolHandler(
        [serving, lost](Ptr<NetDevice>,
                        Ptr<const Packet> packet,
                        uint16_t protocol,
                        const Address&,
                        const Address& to,
                        NetDevice::PacketType type) {
            if (type == NetDevice::PACKET_OTHERHOST &&
                !serving->IsAssociated(Mac48Address::ConvertFrom(to)))
            {
                Ptr<Packet> whole = packet->Copy();
                LlcSnapHeader llc;
                llc.SetType(protocol);
                whole->AddHeader(llc);
                lost(whole);
            }
        },
        0,
        device,
        true);
}

} // namespace ns3::sim
