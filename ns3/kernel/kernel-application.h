/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_APPLICATION_H
#define VIADUCT_KERNEL_APPLICATION_H

#include "ns3/application.h"
#include "ns3/callback.h"
#include "ns3/traced-callback.h"

#include "guest/agent/program_client.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
/**
 * @ingroup viaduct
 * @brief An unmodified program of this machine, run on a node that has a KernelStackHelper's stack,
 * in virtual time.
 *
 * The program starts at the application's start time; at its stop time the program receives the
 * signal StopSignal. The program sees this machine's files; files that it writes stay on the node
 * and are deleted at the end of the simulation. A program that cannot be started ends the run with
 * a viaduct::Error that names it, unless SetStartFailureCallback() was called.
 */
class KernelApplication : public Application
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    KernelApplication();

    /** @param words the program and its arguments; the program is looked up in the node's PATH */
    void SetCommand(const std::vector<std::string>& words)
    {
        m_words = words;
    }

    /**
     * @param name the name of an environment variable
     * @param value the variable's value
     */
    void SetEnvironment(const std::string& name, const std::string& value);

    /** Sends a signal to the program's process group.
     * @param signal the signal's number; ignored before the start and after the end
     */
    void Signal(int signal);

    /**
     * Callback signature of a program that cannot be started.
     * @param [in] reason what was attempted, and why it failed
     */
    using StartFailureCallback = Callback<void, const std::string&>;
    /**
     * @param failed called at the start time, instead of ending the run
     */
    void SetStartFailureCallback(StartFailureCallback failed)
    {
        m_startFailure = failed;
    }

    /** @return the program's standard output so far */
    const std::string& GetOutput() const
    {
        return m_output;
    }

    /** @return the program's standard error so far */
    const std::string& GetErrors() const
    {
        return m_errors;
    }

    /** @return whether the program has ended */
    bool HasExited() const
    {
        return m_exited;
    }

    /** @return the program's wait status (waitpid(2)); 0 while it runs */
    int GetStatus() const
    {
        return m_status;
    }

    /**
     * TracedCallback signature of output.
     * @param [in] descriptor 1: standard output; 2: standard error
     * @param [in] text the text written
     */
    typedef void (*OutputTracedCallback)(int descriptor, const std::string& text);
    /**
     * TracedCallback signature of the program's end.
     * @param [in] status wait status (waitpid(2))
     */
    typedef void (*ExitTracedCallback)(int status);

  protected:
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;
    void OnStarted(int errorNumber, const std::string& words);
    void OnOutput(int descriptor, std::string text);
    void OnExit(int status);
    void WriteFile(const std::string& suffix, const std::string& text) const;

    std::vector<std::string> m_words;       //!< the program and its arguments
    std::vector<std::string> m_environment; //!< NAME=VALUE
    std::string m_folder;                   //!< the working directory
    std::string m_outputPrefix;             //!< attribute OutputPrefix
    uint32_t m_stopSignal;                  //!< attribute StopSignal

    StartFailureCallback m_startFailure; //!< null: a failure ends the run

    std::shared_ptr<viaduct::guest::ProgramClient> m_client; //!< the node's guest
    uint32_t m_program{0};                                   //!< the program's number in the guest
    std::string m_output;                                    //!< standard output so far
    std::string m_errors;                                    //!< standard error so far
    bool m_exited{false};                                    //!< whether the program has ended
    int m_status{0};                                         //!< the program's wait status
    TracedCallback<int, const std::string&> m_outputTrace;   //!< trace source of output
    TracedCallback<int> m_exitTrace;                         //!< trace source of the program's end
};

} // namespace ns3

#endif // VIADUCT_KERNEL_APPLICATION_H
