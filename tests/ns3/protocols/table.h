/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The styles in which the protocols of strange-routing.cc print their routes.
 */

#ifndef STRANGE_TABLE_H
#define STRANGE_TABLE_H

#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <ostream>
#include <string>

namespace strange
{

/** The way to an address. */
template <class Address>
struct Way
{
    Address via;        //!< the neighbour
    uint32_t interface; //!< that it is on
    uint32_t hops;      //!< so many
    uint32_t number;    //!< of the flood that told
};

template <class F>
void
PrintRow(std::ostream& out,
         const std::string& style,
         const typename F::Address& to,
         const Way<typename F::Address>& way)
{
    if (style == "Extra")
    {
        out << to << "\t" << way.via << "\t" << way.interface << "\t" << way.hops << "\t"
            << 1.25 * way.hops << "\t" << ns3::Seconds(1).As(ns3::Time::S) << "\n";
    }
    else if (style == "Fewer")
    {
        out << to << "\t" << way.via << "\n";
    }
    else if (style == "Reordered")
    {
        out << way.hops << "\t" << way.interface << "\t" << to << "\t1s\t" << way.via << "\n";
    }
    else if (style == "Masked")
    {
        out << to << "\t" << F::ALL_MASK << "\t" << way.via << "\t" << way.interface << "\tUP\t"
            << way.hops << "\n";
    }
    else if (style == "Broken")
    {
        out << to << "\t" << way.via << "\n"; // two words in four columns
    }
    else if (style == "Wrong")
    {
        out << to << "\t" << to << "\t" << way.interface << "\t" << way.hops << "\n";
    }
    else
    {
        out << to << "\t" << way.via << "\t" << way.interface << "\t" << way.hops << "\n";
    }
}

/** Prints the header and the rows. */
template <class F>
void
PrintTable(std::ostream& out,
           const std::string& style,
           const std::map<typename F::Address, Way<typename F::Address>>& ways)
{
    static const std::map<std::string, const char*> HEADERS{
        {"Extra", "Destination\tNextHop\tInterface\tDistance\tQuality\tAge"},
        {"Fewer", "Destination\tNextHop"},
        {"Renamed", "Dest Addr\tVia\tOut Interface\tHop Count"},
        {"Reordered", "Hops\tIface\tDestination\tAge\tGateway"},
        {"Masked", "Destination\tMask\tNext Hop\tInterface\tState\tCost"}};
    const auto header = HEADERS.find(style);
    out << (header == HEADERS.end() ? "Destination\tNextHop\tInterface\tDistance" : header->second)
        << "\n";
    for (const auto& [to, way] : ways)
    {
        if (style == "Default")
        {
            out << "default\t" << way.via << "\t" << way.interface << "\t" << way.hops << "\n";
            return; // the first for all, and neighbours are not told
        }
        if (style != "Neighbours" || way.hops == 1)
        {
            PrintRow<F>(out, style, to, way);
        }
    }
}

} // namespace strange

#endif // STRANGE_TABLE_H
