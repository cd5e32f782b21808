/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kernel-application-helper.h"

#include "ns3/node.h"
#include "ns3/string.h"

namespace ns3
{

KernelApplicationHelper::KernelApplicationHelper(const std::vector<std::string>& words)
    : m_words(words)
{
    m_factory.SetTypeId(KernelApplication::GetTypeId());
}

ApplicationContainer
KernelApplicationHelper::Install(Ptr<Node> node) const
{
    const auto application = m_factory.Create<KernelApplication>();
    application->SetCommand(m_words);
    for (const auto& [name, value] : m_environment)
    {
        application->SetEnvironment(name, value);
    }
    const uint32_t number = node->AddApplication(application);
    if (!m_outputPrefix.empty())
    {
        application->SetAttribute("OutputPrefix",
                                  StringValue(m_outputPrefix + "-" + std::to_string(node->GetId()) +
                                              "-" + std::to_string(number)));
    }
    return ApplicationContainer(application);
}

ApplicationContainer
KernelApplicationHelper::Install(const NodeContainer& nodes) const
{
    ApplicationContainer applications;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        applications.Add(Install(*node));
    }
    return applications;
}

} // namespace ns3
