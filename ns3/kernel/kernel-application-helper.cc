/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-application-helper.h"

#include "ns3/node.h"
#include "ns3/string.h"

namespace ns3
{

KernelApplicationHelper::KernelApplicationHelper(const std::vector<std::string>& words)
    : ApplicationHelper(KernelApplication::GetTypeId()), m_words(words)
{
}

Ptr<Application>
KernelApplicationHelper::DoInstall(Ptr<Node> node)
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
    return application;
}

} // namespace ns3
