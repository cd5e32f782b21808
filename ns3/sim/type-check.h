/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_TYPE_CHECK_H
#define VIADUCT_SIM_TYPE_CHECK_H

#include "ns3/object-factory.h"
#include "ns3/type-id.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3::sim
{

/** A TypeId that a user names: how messages call it. */
struct UserType
{
    std::string key = "routing.protocol";          //!< where it is named
    std::string attributes = "routing.attributes"; //!< where its attributes are
    std::string kind = "routing protocol";         //!< what it must be
};

/** Tries what ends the process if it goes wrong, as several of ns-3's parsers and models do (Time,
 * enumerations, addresses, channels), in a child process.
 * @param attempt what is tried; its effects are lost
 * @return whether it came to its end and returned true; false if it threw, too
 */
bool IsPossible(const std::function<bool()>& attempt);

/** Creates a factory from names that a user wrote. ns-3 itself aborts with a core dump on a wrong
 * name; here each is looked up first.
 *
 * @param type a TypeId's name
 * @param parents types that it may be or derive from; any of them is sufficient
 * @param attributes names and values
 * @param of how messages call them
 * @return the factory
 * @throw viaduct::UsageError naming what is wrong and the most similar valid names
 */
ObjectFactory CheckedFactory(const std::string& type,
                             const std::vector<TypeId>& parents,
                             const std::map<std::string, std::string>& attributes,
                             const UserType& of = {});

} // namespace ns3::sim

#endif // VIADUCT_SIM_TYPE_CHECK_H
