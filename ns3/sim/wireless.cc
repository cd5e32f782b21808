/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/wireless.h"

#include "ns3/sim/type-check.h"

#include "ns3/ampdu-subframe-header.h"
#include "ns3/ap-wifi-mac.h"
#include "ns3/double.h"
#include "ns3/error-model.h"
#include "ns3/kernel/kernel-node.h"
#include "ns3/llc-snap-header.h"
#include "ns3/sta-wifi-mac.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-mpdu.h"
#include "ns3/wifi-net-device.h"
#include "ns3/yans-wifi-helper.h"
#include "ns3/yans-wifi-phy.h"

#include "base/error.h"

#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

namespace ns3::sim
{

using viaduct::UsageError;
using viaduct::scenario::LinkSettings;
using viaduct::scenario::Wifi;

namespace
{

const char ERROR_MODEL[] = "PostReceptionErrorModel"; // attribute of ns3::WifiPhy

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

/** @return the helper that creates the radios of a link, on a new channel */
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
    // CheckedFactory() is called only to check the attributes' names and values; the helper sets
    // them below.
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

/** Installs Wi-Fi devices on the nodes of a link.
 * @param settings the link
 * @param radios the helper that creates radios on the link's channel
 * @param rates the TypeId name of the rate manager of each station
 * @param nodes the link's nodes
 * @return the devices */
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
    constexpr std::size_t LONGEST = 31; // maximum length of the text of ns3::Ssid, bytes
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
 * @param device a device of ns3::ConstantRateWifiManager
 */
void
SetDataMode(const LinkSettings& settings, const WifiNetDevice& device)
{
    Ptr<WifiPhy> phy = device.GetPhy();
    std::string known;
    std::set<std::string> names; // removes duplicates: 80211g lists the modes of 80211b twice
    for (const auto& modes : {phy->GetModeList(), phy->GetMcsList()})
    {
        for (const WifiMode& mode : modes)
        {
            if (names.insert(mode.GetUniqueName()).second)
            {
                known += (known.empty() ? "" : ", ") + mode.GetUniqueName();
            }
        }
    }
    if (!names.contains(settings.wifi.rate))
    {
        throw UsageError("link " + settings.name + ": wifi.rate: \"" + settings.wifi.rate +
                         "\" is not a WifiMode of " + settings.wifi.standard +
                         "; valid modes: " + known);
    }
    auto rates = device.GetRemoteStationManager();
    rates->SetAttribute("DataMode", StringValue(settings.wifi.rate));
    rates->SetAttribute("ControlMode", StringValue(phy->GetDefaultMode().GetUniqueName()));
}

/** Checks the power levels of a radio. ns-3 checks them only when the radio sends, and ends the
 * process if they are wrong.
 * @param settings the link
 * @param device one of the link's devices
 */
void
CheckPower(const LinkSettings& settings, const WifiNetDevice& device)
{
    DoubleValue start;
    DoubleValue end;
    UintegerValue levels;
    device.GetPhy()->GetAttribute("TxPowerStart", start);
    device.GetPhy()->GetAttribute("TxPowerEnd", end);
    device.GetPhy()->GetAttribute("TxPowerLevels", levels);
    if (start.Get() == end.Get() ? levels.Get() > 0 : start.Get() < end.Get() && levels.Get() > 1)
    {
        return;
    }
    std::ostringstream text;
    text << "link " << settings.name << ": wifi.attributes: TxPowerLevels is " << levels.Get()
         << ", TxPowerStart is " << start.Get() << " dBm and TxPowerEnd is " << end.Get()
         << " dBm, which is not a valid combination; for a single power set TxPowerStart and "
            "TxPowerEnd to the same value, and TxPowerLevels to 1";
    throw UsageError(text.str());
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

/** @return the frame in a packet that a radio has sent or received. If the packet is a subframe of
 * an A-MPDU (IEEE 802.11, 9.7.1), the frame does not include the delimiter and padding */
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

/** Passes the frames that a device sends, or those that it receives, to a function. The types of
 * the two trace sources differ.
 * @param device a device
 * @param source the name of the trace source of the frames sent or received
 * @param see called with each frame, from the MAC header to the FCS
 */
template <class... Others>
void
Sniff(Ptr<WifiNetDevice> device,
      const char* source,
      void (*)(Ptr<const Packet>, Others...),
      const std::function<void(Ptr<const Packet>)>& see)
{
    device->GetPhy()->TraceConnectWithoutContext(
        source,
        Callback<void, Ptr<const Packet>, Others...>(
            [see](Ptr<const Packet> packet, Others... others) {
                see(FrameOf(packet, std::get<MpduInfo>(std::make_tuple(others...))));
            }));
}

/** Records which data frames on a link have arrived or were given up by their senders, to find the
 * lost packets. Drop reports of ns-3 are not sufficient: a sender that misses every acknowledgement
 * gives up a packet that has arrived, and ns-3 reports a packet behind the window of block
 * acknowledgements twice, as old and as expired.
 */
class Fates
{
  public:
    /** Records that a frame has arrived.
     * @return whether the frame has not arrived before */
    bool Arrive(const WifiMacHeader& header, uint64_t packet)
    {
        return m_arrived.insert(KeyOf(header, packet)).second;
    }

    void Acknowledge(const WifiMpdu& frame)
    {
        m_arrived.erase(KeyOf(frame.GetHeader(), frame.GetPacket()->GetUid()));
    }

    /** Records that the sender has given up a frame.
     * @return whether the frame's packet is lost: it has not arrived, and was not given up before
     */
    bool GiveUp(const WifiMpdu& frame)
    {
        const WifiMacHeader& header = frame.GetHeader();
        const uint64_t packet = frame.GetPacket()->GetUid();
        const uint8_t tid = header.IsQosData() ? header.GetQosTid() : 0;
        uint64_t& latest =
            m_givenUp[{header.GetAddr2(), header.GetAddr1(), header.GetSequenceNumber(), tid}];
        return std::exchange(latest, packet) != packet &&
               m_arrived.erase(KeyOf(header, packet)) == 0;
    }

  private:
    using Key = std::tuple<Mac48Address, Mac48Address, uint64_t, uint16_t>;
    using Place = std::tuple<Mac48Address, Mac48Address, uint16_t, uint8_t>;

    static Key KeyOf(const WifiMacHeader& header, uint64_t packet)
    {
        return {header.GetAddr2(), header.GetAddr1(), packet, header.GetSequenceNumber()};
    }

    /** Frames that have arrived and are not acknowledged yet, as sender, receiver, packet and
     * sequence number. */
    std::set<Key> m_arrived;
    /** The latest packet given up with each sequence number (0 to 4095). */
    std::map<Place, uint64_t> m_givenUp;
};

using Lost = std::function<void(Ptr<const Packet>, const char*)>;

/** Watches the frames that a device receives.
 * @param device a device
 * @param fates the records of frames of the device's link
 * @param lost called with packets that an access point cannot forward, and with packets that arrive
 * and are acknowledged although the sender or the receiver is a station that is not associated
 */
void
WatchReceiving(Ptr<WifiNetDevice> device, const std::shared_ptr<Fates>& fates, const Lost& lost)
{
    const auto self = Mac48Address::ConvertFrom(device->GetAddress());
    const auto serving = DynamicCast<ApWifiMac>(device->GetMac());
    Sniff(device, "MonitorSnifferRx", WifiPhy::MonitorSnifferRxCallback{}, [=](auto frame) {
        WifiMacHeader header;
        frame->PeekHeader(header);
        if (!header.HasData() || header.GetAddr1() != self ||
            !fates->Arrive(header, frame->GetUid()) || !serving)
        {
            return;
        }
        // If the receiver is not associated, ns-3's access point passes the frame only to its own
        // node, which is not the receiver.
        constexpr uint32_t FCS = 4; // bytes
        const Mac48Address to = header.GetAddr3();
        if (serving->IsAssociated(header.GetAddr2()) && to != self && !to.IsGroup() &&
            !serving->IsAssociated(to))
        {
            const uint32_t ends = header.GetSerializedSize() + FCS;
            lost(frame->CreateFragment(header.GetSerializedSize(), frame->GetSize() - ends),
                 "wifi_not_associated");
        }
    });
    device->GetMac()->TraceConnectWithoutContext(
        "MacRxDrop", Callback<void, Ptr<const Packet>>([lost](Ptr<const Packet> packet) {
            lost(packet, "wifi_not_associated");
        }));
}

/** Watches the frames that a device sends.
 * @param mac the device's MAC
 * @param fates the records of frames of the device's link
 * @param lost called with packets that the device gives up
 */
void
WatchSending(Ptr<WifiMac> mac, const std::shared_ptr<Fates>& fates, const Lost& lost)
{
    using Frames = Callback<void, Ptr<const WifiMpdu>>;
    using Drops = Callback<void, WifiMacDropReason, Ptr<const WifiMpdu>>;
    using Packets = Callback<void, Ptr<const Packet>>;
    mac->TraceConnectWithoutContext(
        "AckedMpdu", Frames([=](Ptr<const WifiMpdu> frame) { fates->Acknowledge(*frame); }));
    mac->TraceConnectWithoutContext("DroppedMpdu",
                                    Drops([=](WifiMacDropReason reason, Ptr<const WifiMpdu> frame) {
                                        if (frame->GetHeader().HasData() && fates->GiveUp(*frame))
                                        {
                                            lost(frame->GetPacket(), NameOf(reason));
                                        }
                                    }));
    mac->TraceConnectWithoutContext("MacTxDrop", Packets([=](Ptr<const Packet> packet) {
                                        lost(packet, "wifi_not_associated");
                                    }));
}

/** Watches the frames that an access point forwards: ns-3's access point discards frames that its
 * full queue does not accept, and does not report the loss. Immediately after it has queued or
 * discarded a frame, it also passes the frame to its own node, where the loss is detected.
 * @param device a device
 * @param lost called with packets that the queue did not accept
 */
void
WatchPassing(Ptr<WifiNetDevice> device, const Lost& lost)
{
    const auto serving = DynamicCast<ApWifiMac>(device->GetMac());
    // A node with a real kernel is not watched, because its kernel receives the frames that the
    // access point passes to its node.
    if (!serving || device->GetNode()->GetObject<KernelNode>())
    {
        return;
    }
    const auto latest = std::make_shared<uint64_t>(0); // the UID of the packet that was queued last
    for (const AcIndex category : {AC_BE, AC_BK, AC_VI, AC_VO, AC_BE_NQOS})
    {
        if (const auto queue = serving->GetTxopQueue(category))
        {
            queue->TraceConnectWithoutContext(
                "Enqueue", Callback<void, Ptr<const WifiMpdu>>([latest](Ptr<const WifiMpdu> frame) {
                    *latest = frame->GetPacket()->GetUid();
                }));
        }
    }
    device->SetPromiscReceiveCallback([=](Ptr<NetDevice>,
                                          Ptr<const Packet> packet,
                                          uint16_t protocol,
                                          const Address&,
                                          const Address& to,
                                          NetDevice::PacketType type) {
        if (type == NetDevice::PACKET_OTHERHOST && *latest != packet->GetUid() &&
            serving->IsAssociated(Mac48Address::ConvertFrom(to)))
        {
            LlcSnapHeader header;
            header.SetType(protocol);
            Ptr<Packet> whole = packet->Copy();
            whole->AddHeader(header);
            lost(whole, "wifi_queue_full");
        }
        return true;
    });
}

} // namespace

NetDeviceContainer
MakeWifi(const LinkSettings& settings, const NodeContainer& nodes)
{
    const bool fixed = !settings.wifi.rate.empty();
    const auto install = [&] {
        // The rate manager is the default of ns-3's WifiHelper, or has a fixed rate if the link
        // specifies one.
        const char* rates = fixed ? "ns3::ConstantRateWifiManager" : "ns3::IdealWifiManager";
        return Install(settings, RadiosOf(settings), rates, nodes);
    };
    RadiosOf(settings); // throws an error that names a wrong attribute or value
    if (!settings.wifi.attributes.empty() && !IsPossible([&] { return install().GetN() > 0; }))
    {
        throw UsageError("link " + settings.name +
                         ": wifi.attributes: ns-3 cannot create a radio of standard " +
                         settings.wifi.standard +
                         " with this combination of attributes; does the standard have such a "
                         "channel?");
    }
    NetDeviceContainer devices = install();
    CheckPower(settings, *AsWifi(devices.Get(0)));
    for (uint32_t i = 0; fixed && i < devices.GetN(); i++)
    {
        SetDataMode(settings, *AsWifi(devices.Get(i)));
    }
    return devices;
}

void
SetReceiving(const LinkSettings& settings, Ptr<NetDevice> device, bool up)
{
    const auto phy = AsWifi(device)->GetPhy();
    const auto own = settings.wifi.attributes.find(ERROR_MODEL);
    if (up && own != settings.wifi.attributes.end())
    {
        phy->SetAttribute(ERROR_MODEL, StringValue(own->second));
        return;
    }
    auto model = CreateObject<RateErrorModel>();
    model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    model->SetRate(up ? 0 : 1);
    phy->SetPostReceptionErrorModel(model);
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
    Sniff(wifi, "MonitorSnifferRx", WifiPhy::MonitorSnifferRxCallback{}, see);
    Sniff(wifi, "MonitorSnifferTx", WifiPhy::MonitorSnifferTxCallback{}, see);
    return true;
}

void
WatchWifiDrops(const std::vector<Ptr<NetDevice>>& devices, const SeeDrop& see)
{
    const auto fates = std::make_shared<Fates>();
    for (std::size_t i = 0; i < devices.size(); i++)
    {
        const auto wifi = AsWifi(devices[i]);
        if (!wifi)
        {
            continue;
        }
        const auto lost = [see, i](Ptr<const Packet> packet, const char* reason) {
            see(i, packet, reason);
        };
        WatchReceiving(wifi, fates, lost);
        WatchSending(wifi->GetMac(), fates, lost);
        WatchPassing(wifi, lost);
    }
}

} // namespace ns3::sim
