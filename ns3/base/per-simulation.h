/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PER_SIMULATION_H
#define VIADUCT_PER_SIMULATION_H

#include "ns3/object.h"
#include "ns3/simulation-singleton.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The single object of a class in a simulation, until Simulator::Destroy(), which disposes
 * of it.
 *
 * When the process exits, the object is not destroyed: in a program that ends without
 * Simulator::Destroy(), objects to which the guests (User Mode Linux kernels) refer are already
 * destroyed at that time. The guests end with the process anyway.
 * @tparam T the object's class
 */
template <class T>
class PerSimulation
{
  public:
    ~PerSimulation()
    {
        m_object->Dispose();
    }

    /** @return the simulation's object; created if there is none */
    static Ptr<T> Get()
    {
        return SimulationSingleton<PerSimulation>::Get()->m_object;
    }

  private:
    Ptr<T> m_object{CreateObject<T>()}; //!< the simulation's object
};

} // namespace ns3

#endif // VIADUCT_PER_SIMULATION_H
