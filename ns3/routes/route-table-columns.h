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

/** The columns that are read; all further columns of a table are SKIPPED. */
enum class Column
{
    SKIPPED,
    DESTINATION,
    MASK,
    NEXT_HOP,
    INTERFACE,
    METRIC,
    HOPS,     //!< number of hops; used as the metric if there is no column METRIC
    STATE,    //!< state of the route (usable or not) as a word or as letters ("UGS")
    SEQUENCE, //!< DSDV's sequence number; if the number is odd, the route is broken
};

/** A table's columns from left to right. */
using Columns = std::vector<Column>;

/**
 * @param word a word
 * @return the word's letters and digits, in lower case, until a parenthesis: "Next-Hop" and
 * "NextHop" give the same result
 */
std::string Plain(const std::string& word);

/**
 * @param words the words of a line
 * @return the columns, if the line is the header of a table of routes; otherwise an empty list
 */
Columns ReadHeader(const std::vector<std::string>& words);

} // namespace ns3::routetable

#endif // VIADUCT_ROUTE_TABLE_COLUMNS_H
