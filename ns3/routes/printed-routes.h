/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PRINTED_ROUTES_H
#define VIADUCT_PRINTED_ROUTES_H

#include "ns3/routes/on-demand.h"
#include "ns3/routes/protocol-traits.h"
#include "ns3/routes/route-reader.h"
#include "ns3/routes/route-table-text.h"

#include "ns3/names.h"
#include "ns3/output-stream-wrapper.h"

#include "base/wire/address_scope.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

/** The readers that MakeRouteReader() creates for protocols that print their routes or answer
 * RouteOutput(). */
namespace ns3::routereader
{

/** Reads the answers of a protocol's RouteOutput() for every address of the lab. */
template <class Family>
class AskedRoutes : public RouteReader
{
  public:
    AskedRoutes(Ptr<typename Family::Layer> ip,
                Ptr<typename Family::Protocol> protocol,
                RouteQuestions questions)
        : m_ip(std::move(ip)),
          m_protocol(std::move(protocol)),
          m_questions(std::move(questions)),
          m_unknown(TraitsOf(m_protocol).finding == RouteFinding::UNKNOWN),
          m_isSending(!TraitsOf(m_protocol).mayBeAsked)
    {
    }

    std::vector<RouteCandidate> Read() override
    {
        static const LabAddresses::element_type NONE;
        std::vector<RouteCandidate> routes;
        m_isAsked = m_questions.known && !m_isSending && (!m_unknown || m_questions.asksUnknown);
        for (const auto& [address, mac] : m_isAsked ? *m_questions.known : NONE)
        {
            if (address.family != Family::FAMILY || IsOwn(address))
            {
                continue;
            }
            const ProtocolAnswer answer = AskWithPacket<Family>(m_ip, m_protocol, address);
            if (m_unknown && answer.IsOnDemand())
            {
                m_isSending = true; // the protocol looks for routes, and so must be given a packet
                m_isAsked = false;
                return {};
            }
            if (answer.hop.interface >= 0)
            {
                routes.push_back({{address, address.Length() * 8},
                                  answer.hop.gateway,
                                  static_cast<uint32_t>(answer.hop.interface),
                                  0});
            }
        }
        return routes;
    }

    bool Watch(std::function<void()>) override
    {
        return false;
    }

    std::string GetMethod() const override
    {
        return m_isAsked ? "RouteOutput(), for all addresses" : "decisions about packets";
    }

    bool IsByTable() const override
    {
        return false;
    }

    std::string WhyIncomplete() const override
    {
        return m_isAsked     ? ""
               : m_isSending ? "RouteOutput() starts a search for a route when called"
                             : "RouteOutput() may only be called when there is a packet to send";
    }

  protected:
    bool IsOwn(const viaduct::wire::IpAddress& address) const
    {
        return m_ip->GetInterfaceForAddress(Family::ToAddress(address)) >= 0;
    }

    Ptr<typename Family::Layer> m_ip;          //!< the IP layer, which queries the protocol
    Ptr<typename Family::Protocol> m_protocol; //!< the protocol, which answers
    RouteQuestions m_questions;                //!< permitted queries
    bool m_unknown;                            //!< whether the protocol is a user's own
    bool m_isAsked{false};                     //!< whether the last Read() queried the protocol
    bool m_isSending;                          //!< whether a query makes the protocol send packets
};

/** @return the words of a printed row, each separated by one space */
inline std::string
Squeeze(const std::string& row)
{
    std::istringstream words(row);
    std::string text;
    for (std::string word; words >> word;)
    {
        text += (text.empty() ? "" : " ") + word;
    }
    return text;
}

/** @return a text that describes a next hop, for a message */
inline std::string
HopText(const viaduct::wire::IpAddress& gateway, uint32_t interface)
{
    return (gateway.IsUnspecified() ? "directly" : "via " + gateway.ToString()) + ", interface " +
           std::to_string(interface);
}

/**
 * Reads the table that a protocol prints. The table of a user's protocol is used only while every
 * row of the table is understood, and while RouteOutput() agrees with the rows that are compared
 * with it. Otherwise, and if the protocol prints no table, the answers of RouteOutput() are used.
 */
template <class Family>
class PrintedRoutes : public AskedRoutes<Family>
{
  public:
    using AskedRoutes<Family>::AskedRoutes;

    std::vector<RouteCandidate> Read() override
    {
        std::ostringstream text;
        this->m_protocol->PrintRoutingTable(Create<OutputStreamWrapper>(&text), Time::S);
        const PrintedTable table = ParseRoutingTable(text.str());
        std::vector<RouteCandidate> routes;
        m_why = this->m_unknown ? ReasonUnread(text.str(), table) : "";
        for (const PrintedRoute& route : table.routes)
        {
            const auto interface = FindInterface(route);
            if (interface && route.destination.address.family == Family::FAMILY)
            {
                routes.push_back({route.destination, route.gateway, *interface, route.metric});
            }
            else if (this->m_unknown && !interface && m_why.empty())
            {
                m_why = "a row of the protocol's table names an interface that the node does not "
                        "have: '" +
                        Squeeze(route.row) + "'";
            }
        }
        if (m_why.empty() && this->m_unknown && this->m_questions.samples)
        {
            Sample(routes);
            m_why = m_distrust;
        }
        if (this->m_protocol->GetInstanceTypeId().GetName() == "ns3::dsdv::RoutingProtocol")
        {
            LeaveOutLost(routes);
        }
        m_isPrinted = table.recognized && m_why.empty();
        return m_isPrinted ? routes : AskedRoutes<Family>::Read();
    }

    std::string GetMethod() const override
    {
        return m_isPrinted ? "printed table" : AskedRoutes<Family>::GetMethod();
    }

    bool IsByTable() const override
    {
        return m_isPrinted;
    }

    std::string WhyIncomplete() const override
    {
        const std::string asked = m_isPrinted ? "" : AskedRoutes<Family>::WhyIncomplete();
        return asked.empty() || m_why.empty() ? asked : m_why + "; " + asked;
    }

    void Distrust(const std::string& reason) override
    {
        if (m_distrust.empty())
        {
            m_distrust = reason;
        }
    }

  private:
    /** The identity of a row, used to compare each row once. */
    using Key = std::tuple<viaduct::wire::IpPrefix, viaduct::wire::IpAddress, uint32_t>;

    /** @return the reason why the table of a user's protocol is ignored; empty: the table is
     * used */
    std::string ReasonUnread(const std::string& text, const PrintedTable& table) const
    {
        if (!m_distrust.empty())
        {
            return m_distrust;
        }
        if (!table.misunderstood.empty())
        {
            return "a row of the protocol's table cannot be parsed: '" +
                   Squeeze(table.misunderstood) + "'";
        }
        if (table.recognized)
        {
            return {};
        }
        return Squeeze(text).empty() ? "PrintRoutingTable() prints no table"
                                     : "PrintRoutingTable() prints no table with a known header";
    }

    /** Removes the routes over a next hop that is not itself a destination of the table, because
     * DSDV does not forward over such a next hop (RoutingProtocol::RouteOutput(), ns-3 3.44 to
     * 3.48). */
    static void LeaveOutLost(std::vector<RouteCandidate>& routes)
    {
        std::set<viaduct::wire::IpAddress> known;
        for (const RouteCandidate& route : routes)
        {
            known.insert(route.destination.address);
        }
        std::erase_if(routes, [&](const RouteCandidate& route) {
            return !route.gateway.IsUnspecified() && !known.contains(route.gateway);
        });
    }

    /** Compares some of the new rows with RouteOutput(). */
    void Sample(const std::vector<RouteCandidate>& routes)
    {
        constexpr size_t MOST = 4; // maximum number of addresses to compare per read
        std::set<Key> present;
        std::vector<const RouteCandidate*> fresh;
        for (const RouteCandidate& route : routes)
        {
            const Key key{route.destination, route.gateway, route.interface};
            if (present.insert(key).second && !m_seen.contains(key))
            {
                fresh.push_back(&route);
            }
        }
        m_seen = std::move(present);
        const size_t step = std::max<size_t>(1, fresh.size() / MOST);
        for (size_t i = 0; i < fresh.size() && MayCompare(); i += step)
        {
            if (const auto address = AddressIn(fresh[i]->destination, routes))
            {
                Compare(*address, routes);
            }
        }
        if (!fresh.empty())
        {
            CompareNeighbours(routes);
        }
        if (this->m_questions.asksUnknown)
        {
            CompareMissing(routes);
        }
    }

    bool MayCompare() const
    {
        return m_distrust.empty() && !this->m_isSending;
    }

    /** Compares the table's routes to addresses in connected networks with RouteOutput(), if rows
     * with a larger network cover the addresses. The reason: a protocol may send to its neighbours
     * directly without printing a route to them. */
    void CompareNeighbours(const std::vector<RouteCandidate>& routes)
    {
        for (uint32_t i = 1; i < this->m_ip->GetNInterfaces(); i++)
        {
            for (const viaduct::wire::IpPrefix& own : ipfamily::AddressesOf(this->m_ip, i))
            {
                const int bits = own.address.Length() * 8;
                if (own.length >= bits - 1 || viaduct::wire::IsLinkLocal(own.address))
                {
                    continue;
                }
                viaduct::wire::IpAddress other = own.address;
                // Selects another address of the network: .2 instead of .1, and .1 instead of .2,
                // which is possible even in the smallest network (4 addresses).
                other.bytes[other.Length() - 1] ^= 3;
                if (own.Contains(other) && Best(routes, other) && MayCompare())
                {
                    Compare(other, routes);
                }
            }
        }
    }

    /** Checks that RouteOutput() has no route to some of the addresses to which the table has no
     * route. Called if packets for such addresses are not passed up. */
    void CompareMissing(const std::vector<RouteCandidate>& routes)
    {
        constexpr size_t MOST = 4; // maximum number of addresses to compare per read
        const auto& known = *this->m_questions.known;
        auto next = known.upper_bound(m_asked);
        for (size_t asked = 0, seen = 0; asked < MOST && seen < known.size() && MayCompare();
             seen++)
        {
            next = next == known.end() ? known.begin() : next;
            m_asked = next->first;
            ++next;
            if (m_asked.family == Family::FAMILY && !Best(routes, m_asked))
            {
                asked++;
                Compare(m_asked, routes);
            }
        }
    }

    /** @return the most specific row for an address; null if there is none */
    static const RouteCandidate* Best(const std::vector<RouteCandidate>& routes,
                                      const viaduct::wire::IpAddress& address)
    {
        const RouteCandidate* best = nullptr;
        for (const RouteCandidate& route : routes)
        {
            if (route.destination.Contains(address) &&
                (!best || route.destination.length > best->destination.length))
            {
                best = &route;
            }
        }
        return best;
    }

    /** Compares the table's route to an address with RouteOutput(). */
    void Compare(const viaduct::wire::IpAddress& address, const std::vector<RouteCandidate>& routes)
    {
        if (this->IsOwn(address))
        {
            return;
        }
        const RouteCandidate* row = Best(routes, address);
        const ProtocolAnswer answer = AskWithPacket<Family>(this->m_ip, this->m_protocol, address);
        this->m_isSending |= answer.isSending;
        const auto direct = [&](const viaduct::wire::IpAddress& gateway) {
            return gateway.IsUnspecified() || gateway == address;
        };
        const bool isSame = std::any_of(routes.begin(), routes.end(), [&](const auto& other) {
            const bool isGateway = other.gateway == answer.hop.gateway ||
                                   (direct(other.gateway) && direct(answer.hop.gateway));
            return row && other.destination == row->destination && isGateway &&
                   static_cast<int32_t>(other.interface) == answer.hop.interface;
        });
        if (isSame || (!row && answer.hop.interface < 0))
        {
            return;
        }
        const std::string printed =
            row ? "sends " + address.ToString() + " " + HopText(row->gateway, row->interface)
                : "has no route to " + address.ToString();
        const std::string said =
            answer.hop.interface < 0
                ? "has no route"
                : "sends " +
                      HopText(answer.hop.gateway, static_cast<uint32_t>(answer.hop.interface));
        m_distrust = "the protocol's table " + printed + ", but RouteOutput() " + said;
    }

    /** @return an address in @p destination; nothing if a more specific row covers the address */
    static std::optional<viaduct::wire::IpAddress> AddressIn(
        const viaduct::wire::IpPrefix& destination, const std::vector<RouteCandidate>& routes)
    {
        viaduct::wire::IpAddress address = destination.address;
        const int bits = address.Length() * 8;
        if (destination.length < bits - 1)
        {
            address.bytes[address.Length() - 1] |= 1; // not the network's base address
        }
        const bool isHidden = std::any_of(routes.begin(), routes.end(), [&](const auto& other) {
            return other.destination.length > destination.length &&
                   other.destination.Contains(address);
        });
        return isHidden ? std::nullopt : std::optional(address);
    }

    /** Finds the interface of a printed route: by index, device name, or one of its addresses; if
     * the route names no interface, the interface on whose network the next hop is. */
    std::optional<uint32_t> FindInterface(const PrintedRoute& route) const
    {
        const uint32_t n = this->m_ip->GetNInterfaces();
        const std::string& text = route.interface;
        if (text.size() < 10 && !text.empty() && std::all_of(text.begin(), text.end(), ::isdigit))
        {
            const auto index = static_cast<uint32_t>(std::stoul(text));
            return index < n ? std::optional(index) : std::nullopt;
        }
        const auto& hop = route.gateway.IsUnspecified() ? route.destination.address : route.gateway;
        for (uint32_t i = 0; i < n; i++)
        {
            const auto addresses = ipfamily::AddressesOf(this->m_ip, i);
            const bool isNamed =
                !text.empty() && Names::FindName(this->m_ip->GetNetDevice(i)) == text;
            if (isNamed || std::any_of(addresses.begin(), addresses.end(), [&](const auto& own) {
                    return text.empty() ? own.Contains(hop) : own.address.ToString() == text;
                }))
            {
                return i;
            }
        }
        return std::nullopt;
    }

    std::string m_why;                //!< reason why the last table is ignored
    std::string m_distrust;           //!< reason why all tables are ignored
    bool m_isPrinted{false};          //!< whether the last table is used
    viaduct::wire::IpAddress m_asked; //!< last queried address without a row
    std::set<Key> m_seen;             //!< rows that need no second comparison
};

} // namespace ns3::routereader

#endif // VIADUCT_PRINTED_ROUTES_H
