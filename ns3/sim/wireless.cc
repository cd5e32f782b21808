/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "wireless.h"

#include "base/error.h"

#ifdef VIADUCT_WITH_WIFI

#include "time-conversion.h"
#include "type-check.h"

#include "ns3/box.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/error-model.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rectangle.h"
#include "ns3/sta-wifi-mac.h"
#include "ns3/string.h"
#include "ns3/waypoint-mobility-model.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-mpdu.h"
#include "ns3/wifi-net-device.h"
#include "ns3/yans-wifi-helper.h"
#include "ns3/yans-wifi-phy.h"

#include "base/within.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace ns3::sim
{

using viaduct::UsageError;
using viaduct::scenario::LinkSettings;
using viaduct::scenario::Mobility;
using viaduct::scenario::NodeSettings;
using viaduct::scenario::Scenario;
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

/** Width and height of the nodes' area, in metres. */
struct Area
{
    double width;  //!< m
    double height; //!< m
};

std::optional<Area>
AreaOf(const Mobility& mobility)
{
    if (mobility.area.empty())
    {
        return std::nullopt;
    }
    return Area{std::stod(mobility.area[0]), std::stod(mobility.area[1])};
}

/** Where the nodes are at first that say nothing of it. */
class Layout
{
  public:
    Layout(const Mobility& mobility, std::size_t nodes)
        : m_mobility(mobility),
          m_columns(mobility.layout == Mobility::Layout::kLine
                        ? std::max<std::size_t>(nodes, 1)
                        : static_cast<std::size_t>(std::ceil(std::sqrt(nodes)))),
          m_random(CreateObject<UniformRandomVariable>())
    {
    }

    Vector Next()
    {
        if (m_mobility.layout == Mobility::Layout::kRandom)
        {
            const Area area = *AreaOf(m_mobility);
            const double x = m_random->GetValue(0, area.width);
            return Vector(x, m_random->GetValue(0, area.height), 0);
        }
        const std::size_t number = m_next++;
        return Vector(static_cast<double>(number % m_columns) * m_mobility.spacing,
                      static_cast<double>(number / m_columns) * m_mobility.spacing,
                      0);
    }

  private:
    const Mobility& m_mobility;          //!< the scenario's
    std::size_t m_columns;               //!< of a grid
    Ptr<UniformRandomVariable> m_random; //!< of random places
    std::size_t m_next = 0;              //!< node
};

/** Attributes that keep the models which need an area inside of it, if the user says nothing else.
 */
std::map<std::string, std::string>
WithArea(const Mobility& mobility)
{
    const std::map<std::string, std::string> needed{
        {"ns3::RandomWaypointMobilityModel", "PositionAllocator"},
        {"ns3::RandomWalk2dMobilityModel", "Bounds"},
        {"ns3::RandomDirection2dMobilityModel", "Bounds"},
        {"ns3::GaussMarkovMobilityModel", "Bounds"},
    };
    auto attributes = mobility.attributes;
    const auto need = needed.find(mobility.model);
    if (need == needed.end() || attributes.contains(need->second))
    {
        return attributes;
    }
    const auto area = AreaOf(mobility);
    if (!area)
    {
        throw UsageError(mobility.model + " needs mobility.area");
    }
    const std::string width = mobility.area[0];
    const std::string height = mobility.area[1];
    attributes[need->second] =
        need->second == "PositionAllocator"
            ? "ns3::RandomRectanglePositionAllocator[X=ns3::UniformRandomVariable[Min=0|Max=" +
                  width + "]|Y=ns3::UniformRandomVariable[Min=0|Max=" + height + "]]"
        : mobility.model == "ns3::GaussMarkovMobilityModel"
            ? "0|" + width + "|0|" + height + "|0|0"
            : "0|" + width + "|0|" + height;
    return attributes;
}

/** Creates the mobility models of a scenario. */
class Placement
{
  public:
    explicit Placement(const Mobility& mobility)
        : m_mobility(mobility)
    {
        m_factory.SetTypeId("ns3::ConstantPositionMobilityModel");
        if (!mobility.model.empty())
        {
            viaduct::Within("mobility.model", [&] {
                m_factory = CheckedFactory(
                    mobility.model, {MobilityModel::GetTypeId()}, WithArea(mobility));
            });
        }
    }

    Ptr<MobilityModel> At(const Vector& place)
    {
        auto model = m_factory.Create<MobilityModel>();
        model->SetPosition(place);
        return model;
    }

  private:
    const Mobility& m_mobility; //!< the scenario's
    ObjectFactory m_factory;    //!< of models
};

Ptr<MobilityModel>
Along(const std::vector<viaduct::scenario::Waypoint>& points)
{
    const auto place = [](const auto& point) { return Vector(point.x, point.y, point.z); };
    if (points.size() == 1)
    {
        auto model = CreateObject<ConstantPositionMobilityModel>();
        model->SetPosition(place(points[0]));
        return model;
    }
    auto model = CreateObject<WaypointMobilityModel>();
    for (const auto& point : points)
    {
        model->AddWaypoint(Waypoint(ToTime(point.at), place(point)));
    }
    return model;
}

/** @return the helper of the link's channel and radios */
YansWifiPhyHelper
RadiosOf(const Wifi& wifi)
{
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    if (wifi.range)
    {
        channel.AddPropagationLoss("ns3::RangePropagationLossModel",
                                   "MaxRange",
                                   DoubleValue(*wifi.range));
    }
    else
    {
        channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel");
    }
    YansWifiPhyHelper radios;
    radios.SetChannel(channel.Create());
    // Only looks at names and values: the helper sets them again.
    CheckedFactory("ns3::YansWifiPhy", {YansWifiPhy::GetTypeId()}, wifi.attributes);
    for (const auto& [name, value] : wifi.attributes)
    {
        radios.Set(name, StringValue(value));
    }
    return radios;
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

/** Makes a callback of a trace source's type, which differs between versions of ns-3, of a function
 * that needs the packet only.
 */
template <class Frame, class... Others>
Callback<void, Frame, Others...>
OfPacket(const std::function<void(Ptr<const Packet>)>& see, void (*)(Frame, Others...))
{
    return Callback<void, Frame, Others...>([see](Frame frame, Others...) { see(frame); });
}

} // namespace

void
PlaceNodes(const Scenario& scenario, const NodeContainer& nodes)
{
    std::set<std::string> wireless;
    for (const LinkSettings& link : scenario.links)
    {
        wireless.insert(link.wifi.nodes.begin(), link.wifi.nodes.end());
    }
    if (wireless.empty())
    {
        return;
    }
    const auto isPlaced = [&](const NodeSettings& node) {
        return !node.waypoints.empty() || !wireless.contains(node.name);
    };
    Layout layout(scenario.mobility,
                  scenario.nodes.size() -
                      std::count_if(scenario.nodes.begin(), scenario.nodes.end(), isPlaced));
    Placement placement(scenario.mobility);
    for (uint32_t i = 0; i < scenario.nodes.size(); i++)
    {
        const NodeSettings& node = scenario.nodes[i];
        if (wireless.contains(node.name))
        {
            nodes.Get(i)->AggregateObject(node.waypoints.empty() ? placement.At(layout.Next())
                                                                 : Along(node.waypoints));
        }
    }
}

NetDeviceContainer
MakeWifi(const LinkSettings& settings, const NodeContainer& nodes)
{
    const Wifi& wifi = settings.wifi;
    WifiHelper helper;
    helper.SetStandard(StandardOf(wifi));
    if (wifi.rate.empty())
    {
        helper.SetRemoteStationManager("ns3::IdealWifiManager");
    }
    else
    {
        helper.SetRemoteStationManager(
            "ns3::ConstantRateWifiManager", "DataMode", StringValue(wifi.rate));
    }
    YansWifiPhyHelper radios;
    viaduct::Within("link " + settings.name + ": wifi.attributes",
                    [&] { radios = RadiosOf(wifi); });
    const SsidValue network{Ssid(settings.name)};
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
    wifi->GetPhy()->TraceConnectWithoutContext(
        "MonitorSnifferRx", OfPacket(see, WifiPhy::MonitorSnifferRxCallback{}));
    wifi->GetPhy()->TraceConnectWithoutContext(
        "MonitorSnifferTx", OfPacket(see, WifiPhy::MonitorSnifferTxCallback{}));
    return true;
}

void
WatchWifiDrops(Ptr<NetDevice> device,
               const std::function<void(Ptr<const Packet>, const char*)>& see)
{
    if (const auto wifi = AsWifi(device))
    {
        using Trace = Callback<void, WifiMacDropReason, Ptr<const WifiMpdu>>;
        wifi->GetMac()->TraceConnectWithoutContext(
            "DroppedMpdu", Trace([see](WifiMacDropReason reason, Ptr<const WifiMpdu> mpdu) {
                if (mpdu->GetHeader().IsData())
                {
                    see(mpdu->GetPacket(), NameOf(reason));
                }
            }));
    }
}

} // namespace ns3::sim

#else // an ns-3 without its module wifi

namespace ns3::sim
{

void
PlaceNodes(const viaduct::scenario::Scenario&, const NodeContainer&)
{
}

NetDeviceContainer
MakeWifi(const viaduct::scenario::LinkSettings& settings, const NodeContainer&)
{
    throw viaduct::UsageError("link " + settings.name +
                              ": this ns-3 was built without its module wifi");
}

void
SetReceiving(Ptr<NetDevice>, bool)
{
}

bool
IsUnassociated(Ptr<NetDevice>)
{
    return false;
}

bool
SniffWifi(Ptr<NetDevice>, const std::function<void(Ptr<const Packet>)>&)
{
    return false;
}

void
WatchWifiDrops(Ptr<NetDevice>, const std::function<void(Ptr<const Packet>, const char*)>&)
{
}

} // namespace ns3::sim

#endif
