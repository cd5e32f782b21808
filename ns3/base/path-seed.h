/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PATH_SEED_H
#define VIADUCT_PATH_SEED_H

#include "ns3/node.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * Returns the seed of emulated links: one number derived from RngSeedManager's seed and run.
 *
 * @return the seed; equal to the seed of RngSeedManager if the run is 1
 */
uint64_t PathSeed();

/**
 * @ingroup viaduct
 * Sets RngSeedManager's seed and run from one number, so that PathSeed() is that number (except for
 * multiples of 4294944443, which ns-3's generator does not accept).
 *
 * @param seed any number
 */
void SetSeedAndRun(uint64_t seed);

/**
 * @ingroup viaduct
 * @param node a node
 * @return the node's name in a lab: its name in ns3::Names, or, if it has no name there,
 * "n" and the node's id
 */
std::string LabNodeName(Ptr<Node> node);

} // namespace ns3

#endif /* VIADUCT_PATH_SEED_H */
