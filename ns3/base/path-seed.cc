/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/base/path-seed.h"

#include "ns3/names.h"
#include "ns3/rng-seed-manager.h"

namespace ns3
{

namespace
{

/// The limit of seeds: ns-3's random number generator accepts only smaller seeds (RngStream,
/// L'Ecuyer's m2). SetSeedAndRun() divides a larger number by the limit: the remainder becomes the
/// seed, and the quotient determines the run.
constexpr uint64_t LIMIT = 4294944443ULL;

} // namespace

uint64_t
PathSeed()
{
    return RngSeedManager::GetSeed() + (RngSeedManager::GetRun() - 1) * LIMIT;
}

void
SetSeedAndRun(uint64_t seed)
{
    const uint64_t low = seed % LIMIT;
    RngSeedManager::SetSeed(static_cast<uint32_t>(low == 0 ? LIMIT - 1 : low));
    RngSeedManager::SetRun(1 + seed / LIMIT + (low == 0 ? 1ULL << 32 : 0));
}

std::string
LabNodeName(Ptr<Node> node)
{
    const std::string name = Names::FindName(node);
    return name.empty() ? "n" + std::to_string(node->GetId()) : name;
}

} // namespace ns3
