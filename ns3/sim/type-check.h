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

/** Names by which messages call a TypeId that a user has written. */
struct UserType
{
    std::string key = "routing.protocol";          //!< key of the type's name
    std::string attributes = "routing.attributes"; //!< key of its attributes
    std::string kind = "routing protocol";         //!< required kind
};

/** Tries, in a child process, an operation that may end its process, as several of ns-3's parsers
 * and models do on wrong input (Time, enumerations, addresses, channels).
 * @param attempt the operation; its effects are lost
 * @return whether it completed and returned true; false also if it threw
 */
bool IsPossible(const std::function<bool()>& attempt);

/** Creates a factory from names that a user wrote. ns-3 itself aborts with a core dump on a wrong
 * name; here each name is looked up first.
 *
 * @param type a TypeId's name
 * @param parents types that it may be or derive from; any of them is sufficient
 * @param attributes names and values
 * @param of the names by which messages call them
 * @return the factory
 * @throw viaduct::UsageError naming the wrong name and the most similar valid names
 */
ObjectFactory CheckedFactory(const std::string& type,
                             const std::vector<TypeId>& parents,
                             const std::map<std::string, std::string>& attributes,
                             const UserType& of = {});

} // namespace ns3::sim

#endif // VIADUCT_SIM_TYPE_CHECK_H
