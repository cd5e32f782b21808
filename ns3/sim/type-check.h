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

/** The words that error messages use for a TypeId that a user has written. */
struct UserType
{
    std::string key = "routing.protocol";          //!< the scenario's key of the type's name
    std::string attributes = "routing.attributes"; //!< the scenario's key of the type's attributes
    std::string kind = "routing protocol";         //!< the required kind of type
};

/** Executes in a child process an operation that may end the process in which it runs, as several
 * of ns-3's parsers and models do on wrong input (Time, enumerations, addresses, channels).
 * @param attempt the operation; its effects are lost
 * @return whether the operation completed and returned true; false if it threw an exception or
 * ended the process
 */
bool IsPossible(const std::function<bool()>& attempt);

/** Creates a factory from names that a user wrote. ns-3's ObjectFactory aborts with a core dump on
 * a wrong name; this function looks up each name first.
 *
 * @param type a TypeId's name
 * @param parents the type must be one of these types or derive from one of them
 * @param attributes the values of attributes, by name
 * @param of the words that error messages use for the type and its attributes
 * @return the factory
 * @throw viaduct::UsageError naming the wrong name and the most similar valid names
 */
ObjectFactory CheckedFactory(const std::string& type,
                             const std::vector<TypeId>& parents,
                             const std::map<std::string, std::string>& attributes,
                             const UserType& of = {});

} // namespace ns3::sim

#endif // VIADUCT_SIM_TYPE_CHECK_H
