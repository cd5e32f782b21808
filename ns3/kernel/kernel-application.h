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
 * @brief An application that runs an unmodified program of this machine in virtual time, on a node
 * whose stack is a kernel (KernelStackHelper).
 *
 * The program starts at the application's start time; at its stop time the program receives the
 * signal StopSignal. The program sees this machine's files; files that it writes stay on the node
 * and are deleted at the end of the simulation. A program that cannot be started ends the run with
 * a viaduct::Error that names the program, unless SetStartFailureCallback() was called.
 */
class KernelApplication : public Application
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    KernelApplication();

    /** Sets the program. @param words the program and its arguments; the program is looked up in
     * the node's PATH */
    void SetCommand(const std::vector<std::string>& words)
    {
        m_words = words;
    }

    /** Sets an environment variable of the program.
     * @param name the variable's name
     * @param value the variable's value
     */
    void SetEnvironment(const std::string& name, const std::string& value);

    /** Sends a signal to the program's process group.
     * @param signal the signal's number; ignored before the program's start and after its end
     */
    void Signal(int signal);

    /**
     * Signature of the callback for a program that cannot be started.
     * @param [in] reason the error message: how the program was started, and why this failed
     */
    using StartFailureCallback = Callback<void, const std::string&>;
    /** Sets a callback for a program that cannot be started; without a callback the run ends.
     * @param failed the callback, called at the application's start time
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
     * TracedCallback signature of the trace source Output.
     * @param [in] descriptor 1: standard output; 2: standard error
     * @param [in] text the text written
     */
    typedef void (*OutputTracedCallback)(int descriptor, const std::string& text);
    /**
     * TracedCallback signature of the trace source Exit.
     * @param [in] status the program's wait status (waitpid(2))
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
    std::vector<std::string> m_environment; //!< environment variables as NAME=VALUE
    std::string m_folder;                   //!< attribute WorkingDirectory
    std::string m_outputPrefix;             //!< attribute OutputPrefix
    uint32_t m_stopSignal;                  //!< attribute StopSignal

    StartFailureCallback m_startFailure; //!< callback; null: a failed start ends the run

    std::shared_ptr<viaduct::guest::ProgramClient> m_client; //!< client of the node's guest
    uint32_t m_program{0};                                   //!< the program's number in the guest
    std::string m_output;                                    //!< program's standard output so far
    std::string m_errors;                                    //!< program's standard error so far
    bool m_exited{false};                                    //!< whether the program has ended
    int m_status{0};                                         //!< the program's wait status
    TracedCallback<int, const std::string&> m_outputTrace;   //!< trace source Output
    TracedCallback<int> m_exitTrace;                         //!< trace source Exit
};

} // namespace ns3

#endif // VIADUCT_KERNEL_APPLICATION_H
