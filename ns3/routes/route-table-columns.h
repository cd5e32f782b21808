/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ROUTE_TABLE_COLUMNS_H
#define VIADUCT_ROUTE_TABLE_COLUMNS_H

#include <string>
#include <vector>

/**
 * @ingroup viaduct
 * The columns of a printed routing table, found by their names.
 */
namespace ns3::routetable
{

/** The columns that are read; the others of a table are SKIPPED. */
enum class Column
{
    SKIPPED,
    DESTINATION,
    MASK,
    NEXT_HOP,
    INTERFACE,
    METRIC,
    HOPS,     //!< a metric, unless there is a METRIC
    STATE,    //!< usable or not, as a word or as letters ("UGS")
    SEQUENCE, //!< of DSDV: odd means that the route is broken
};

/** A table's columns from the left to the right. */
using Columns = std::vector<Column>;

/**
 * @param word a word
 * @return its letters and digits, in lower case, until a parenthesis: "Next-Hop" and "NextHop" are
 * one
 */
std::string Plain(const std::string& word);

/**
 * @param words those of a line
 * @return the columns, if it is the header of a table of routes; else nothing
 */
Columns ReadHeader(const std::vector<std::string>& words);

} // namespace ns3::routetable

#endif // VIADUCT_ROUTE_TABLE_COLUMNS_H
