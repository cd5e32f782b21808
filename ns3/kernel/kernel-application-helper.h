/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_APPLICATION_HELPER_H
#define VIADUCT_KERNEL_APPLICATION_HELPER_H

#include "ns3/application-helper.h"
#include "ns3/kernel/kernel-application.h"

#include <map>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Puts programs of this machine on nodes that have a KernelStackHelper's stack.
 *
 * @code
 *   KernelApplicationHelper server({"iperf3", "-s"});
 *   server.Install(nodes.Get(1)).Start(Seconds(1));
 * @endcode
 */
class KernelApplicationHelper : public ApplicationHelper
{
  public:
    /** @param words the program and its arguments */
    explicit KernelApplicationHelper(const std::vector<std::string>& words);
    virtual ~KernelApplicationHelper() = default;

    /**
     * @param words the program and its arguments, for applications that Install() creates after
     * this call
     */
    void SetCommand(const std::vector<std::string>& words)
    {
        m_words = words;
    }

    /**
     * @param name the name of an environment variable of the program
     * @param value the variable's value
     */
    void SetEnvironment(const std::string& name, const std::string& value)
    {
        m_environment[name] = value;
    }

    /** Writes the output and the exit status of each program to files PREFIX-NODE-NUMBER.out, .err
     * and .status at the end of the simulation.
     * @param prefix the files' prefix
     */
    void SetOutputPrefix(const std::string& prefix)
    {
        m_outputPrefix = prefix;
    }

  private:
    Ptr<Application> DoInstall(Ptr<Node> node) override;

    std::vector<std::string> m_words;                 //!< the program and its arguments
    std::map<std::string, std::string> m_environment; //!< NAME to value, in addition to the default
    std::string m_outputPrefix;                       //!< prefix of files; empty: no files
};

} // namespace ns3

#endif // VIADUCT_KERNEL_APPLICATION_HELPER_H
