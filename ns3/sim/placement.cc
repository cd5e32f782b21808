/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/placement.h"

#include "ns3/sim/time-conversion.h"
#include "ns3/sim/type-check.h"

#include "ns3/box.h"
#include "ns3/constant-velocity-mobility-model.h"
#include "ns3/double.h"
#include "ns3/pointer.h"
#include "ns3/position-allocator.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rectangle.h"
#include "ns3/simulator.h"

#include "base/error.h"
#include "scenario/places.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>

namespace ns3::sim
{

using viaduct::UsageError;
using viaduct::scenario::Mobility;
using viaduct::scenario::NodeSettings;
using viaduct::scenario::Scenario;

namespace
{

const UserType MOBILITY{
    .key = "mobility.model", .attributes = "mobility.attributes", .kind = "mobility model"};

Vector
PlaceOf(const viaduct::scenario::Waypoint& point)
{
    return Vector(point.x, point.y, point.z);
}

/** Computes the initial places of the nodes, in the layout of the scenario's mobility. */
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
            const double x = m_random->GetValue(0, std::stod(m_mobility.area.at(0)));
            return Vector(x, m_random->GetValue(0, std::stod(m_mobility.area.at(1))), 0);
        }
        const std::size_t number = m_next++;
        const std::size_t row = number / m_columns;
        return Vector(static_cast<double>(number % m_columns) * m_mobility.spacing,
                      static_cast<double>(row) * m_mobility.spacing,
                      0);
    }

  private:
    const Mobility& m_mobility;          //!< the scenario's mobility
    std::size_t m_columns;               //!< number of columns of the grid
    Ptr<UniformRandomVariable> m_random; //!< random coordinates
    std::size_t m_next = 0;              //!< number of nodes placed so far
};

/** @return the attributes that keep a mobility model inside an area; empty: the model needs no area
 * @param model the model's TypeId name
 * @param width the area's width, m
 * @param height the area's height, m
 */
std::map<std::string, std::string>
AttributesOfArea(const std::string& model, const std::string& width, const std::string& height)
{
    const std::string flat = "0|" + width + "|0|" + height;
    const std::map<std::string, std::map<std::string, std::string>> needed{
        {"ns3::SteadyStateRandomWaypointMobilityModel",
         {{"MinX", "0"}, {"MaxX", width}, {"MinY", "0"}, {"MaxY", height}}},
        {"ns3::RandomWalk2dMobilityModel", {{"Bounds", flat}}},
        {"ns3::RandomDirection2dMobilityModel", {{"Bounds", flat}}},
        {"ns3::GaussMarkovMobilityModel", {{"Bounds", flat + "|0|0"}}},
    };
    const auto found = needed.find(model);
    return found == needed.end() ? std::map<std::string, std::string>() : found->second;
}

UsageError
MissingArea(const Mobility& mobility)
{
    return UsageError("mobility.area: missing, but " + mobility.model +
                      " moves nodes in an area; set an area, for example area: [500, 300]");
}

/** @return the attributes of the scenario's mobility model; an attribute set by the user has
 * priority over an attribute of the area */
std::map<std::string, std::string>
AttributesOf(const Mobility& mobility)
{
    auto attributes = mobility.attributes;
    if (!mobility.area.empty())
    {
        attributes.merge(AttributesOfArea(mobility.model, mobility.area[0], mobility.area[1]));
        return attributes;
    }
    for (const auto& [name, value] : AttributesOfArea(mobility.model, "1", "1"))
    {
        if (!attributes.contains(name))
        {
            throw MissingArea(mobility);
        }
    }
    return attributes;
}

/** @return the allocator of a random waypoint model's destinations. An object is needed, because
 * ns-3 cannot parse the text of an allocator that contains other objects
 */
Ptr<PositionAllocator>
DestinationsOf(const Mobility& mobility)
{
    if (mobility.area.empty())
    {
        throw MissingArea(mobility);
    }
    auto allocator = CreateObject<RandomRectanglePositionAllocator>();
    const auto upTo = [](const std::string& metres) {
        auto random = CreateObject<UniformRandomVariable>();
        random->SetAttribute("Max", DoubleValue(std::stod(metres)));
        return random;
    };
    allocator->SetX(upTo(mobility.area[0]));
    allocator->SetY(upTo(mobility.area[1]));
    return allocator;
}

/** Checks a node's place, because ns-3's mobility models end the process if a node begins outside
 * the model's bounds.
 * @param model the node's mobility model
 * @param place the node's first place
 * @return whether the place is inside the model's bounds, or the model has no bounds
 */
bool
IsInBounds(const MobilityModel& model, const Vector& place)
{
    TypeId::AttributeInformation information;
    if (!model.GetInstanceTypeId().LookupAttributeByName("Bounds", &information))
    {
        return true;
    }
    RectangleValue rectangle;
    if (model.GetAttributeFailSafe("Bounds", rectangle))
    {
        return rectangle.Get().IsInside(place);
    }
    BoxValue box;
    return !model.GetAttributeFailSafe("Bounds", box) || box.Get().IsInside(place);
}

/** Creates the mobility models of the nodes that have no waypoints. */
class Placement
{
  public:
    explicit Placement(const Mobility& mobility)
    {
        const std::string& model = mobility.model;
        m_factory.SetTypeId("ns3::ConstantPositionMobilityModel");
        if (model.empty())
        {
            return;
        }
        for (const char* driven :
             {"Waypoint", "Hierarchical", "ConstantVelocity", "ConstantAcceleration"})
        {
            if (model == std::string("ns3::") + driven + "MobilityModel")
            {
                throw UsageError("mobility.model: " + model +
                                 " needs a program that moves the nodes and is not supported here; "
                                 "use nodes.NAME.waypoints");
            }
        }
        m_factory =
            CheckedFactory(model, {MobilityModel::GetTypeId()}, AttributesOf(mobility), MOBILITY);
        if (model == "ns3::RandomWaypointMobilityModel" &&
            !mobility.attributes.contains("PositionAllocator"))
        {
            m_factory.Set("PositionAllocator", PointerValue(DestinationsOf(mobility)));
        }
    }

    Ptr<MobilityModel> At(const Vector& place, const std::string& node)
    {
        auto model = m_factory.Create<MobilityModel>();
        if (!IsInBounds(*model, place))
        {
            std::ostringstream text;
            text << "mobility: node " << node << " starts at " << place.x << ", " << place.y
                 << ", outside the area in which " << model->GetInstanceTypeId().GetName()
                 << " moves nodes; increase the area or reduce the spacing";
            throw UsageError(text.str());
        }
        model->SetPosition(place);
        return model;
    }

  private:
    ObjectFactory m_factory; //!< creates the mobility models
};

} // namespace

void
PlaceNodes(const Scenario& scenario, const NodeContainer& nodes)
{
    const auto isPlaced = [&](const NodeSettings& node) {
        return viaduct::scenario::HasPlace(scenario, node);
    };
    const std::size_t count = std::count_if(scenario.nodes.begin(), scenario.nodes.end(), isPlaced);
    if (count == 0)
    {
        return;
    }
    Placement placement(scenario.mobility);
    Layout layout(scenario.mobility, count);
    for (uint32_t i = 0; i < scenario.nodes.size(); i++)
    {
        const NodeSettings& node = scenario.nodes[i];
        if (!isPlaced(node))
        {
            continue;
        }
        // A node with waypoints also takes a place of the layout, but does not use this place.
        const Vector place = layout.Next();
        if (node.waypoints.empty())
        {
            nodes.Get(i)->AggregateObject(placement.At(place, node.name));
        }
        else
        {
            auto model = CreateObject<ConstantVelocityMobilityModel>();
            model->SetPosition(PlaceOf(node.waypoints.front()));
            nodes.Get(i)->AggregateObject(model);
        }
    }
}

std::map<std::string, std::vector<double>>
PlacesOf(const Scenario& scenario, const NodeContainer& nodes)
{
    std::map<std::string, std::vector<double>> places;
    for (uint32_t i = 0; i < scenario.nodes.size(); i++)
    {
        if (const auto model = nodes.Get(i)->GetObject<MobilityModel>())
        {
            const Vector place = model->GetPosition();
            places[scenario.nodes[i].name] = {place.x, place.y, place.z};
        }
    }
    return places;
}

void
MoveAlongWaypoints(const Scenario& scenario, const NodeContainer& nodes)
{
    for (uint32_t i = 0; i < scenario.nodes.size(); i++)
    {
        const auto& points = scenario.nodes[i].waypoints;
        const auto model = nodes.Get(i)->GetObject<ConstantVelocityMobilityModel>();
        for (std::size_t at = 0; at < points.size() && points.size() > 1; at++)
        {
            const Vector place = PlaceOf(points[at]);
            Vector velocity; // zero by default: the node stays at the last waypoint
            if (at + 1 < points.size())
            {
                const Vector way = PlaceOf(points[at + 1]) - place;
                const double seconds = (points[at + 1].at - points[at].at).ToSeconds();
                velocity = Vector(way.x / seconds, way.y / seconds, way.z / seconds);
            }
            Simulator::Schedule(ToTime(points[at].at), [model, place, velocity] {
                model->SetPosition(place);
                model->SetVelocity(velocity);
            });
        }
    }
}

double
DistanceBetween(Ptr<Node> one, Ptr<Node> other)
{
    return one->GetObject<MobilityModel>()->GetDistanceFrom(other->GetObject<MobilityModel>());
}

} // namespace ns3::sim
