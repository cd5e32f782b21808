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
 * @brief Installs programs of this machine as applications on nodes whose stack is a kernel
 * (KernelStackHelper).
 *
 * @code
 *   KernelApplicationHelper server({"iperf3", "-s"});
 *   server.Install(nodes.Get(1)).Start(Seconds(1));
 * @endcode
 */
class KernelApplicationHelper : public ApplicationHelper
{
  public:
    /** Creates a helper for a program. @param words the program and its arguments */
    explicit KernelApplicationHelper(const std::vector<std::string>& words);
    virtual ~KernelApplicationHelper() = default;

    /** Sets the program.
     * @param words the program and its arguments, for applications that Install() creates after
     * this call
     */
    void SetCommand(const std::vector<std::string>& words)
    {
        m_words = words;
    }

    /** Sets an environment variable of the program.
     * @param name the variable's name
     * @param value the variable's value
     */
    void SetEnvironment(const std::string& name, const std::string& value)
    {
        m_environment[name] = value;
    }

    /** Makes each application write its program's output and exit status to files
     * PREFIX-NODE-NUMBER.out, .err and .status at the end of the simulation.
     * @param prefix the prefix of the files' names
     */
    void SetOutputPrefix(const std::string& prefix)
    {
        m_outputPrefix = prefix;
    }

  private:
    Ptr<Application> DoInstall(Ptr<Node> node) override;

    std::vector<std::string> m_words; //!< the program and its arguments
    //! The environment variables, by name, in addition to the default environment.
    std::map<std::string, std::string> m_environment;
    std::string m_outputPrefix; //!< prefix of the output files' names; empty: no files
};

} // namespace ns3

#endif // VIADUCT_KERNEL_APPLICATION_HELPER_H
