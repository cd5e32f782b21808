/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_TYPE_CHECK_H
#define VIADUCT_SIM_TYPE_CHECK_H

#include "ns3/object-factory.h"
#include "ns3/type-id.h"

#include <map>
#include <string>
#include <vector>

namespace ns3::sim
{

/** Creates a factory from names that a user wrote. ns-3 itself aborts with a core dump on a wrong
 * name; here each is looked up first.
 *
 * @param type a TypeId's name
 * @param parents types that it may be or derive from; any of them is sufficient
 * @param attributes names and values
 * @return the factory
 * @throw viaduct::UsageError naming what is wrong and the most similar valid names
 */
ObjectFactory CheckedFactory(const std::string& type,
                             const std::vector<TypeId>& parents,
                             const std::map<std::string, std::string>& attributes);

} // namespace ns3::sim

#endif // VIADUCT_SIM_TYPE_CHECK_H
