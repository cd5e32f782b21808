/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_EXAMPLE_H
#define VIADUCT_KERNEL_EXAMPLE_H

#include "ns3/simulator.h"

#include "base/error.h"

#include <functional>
#include <iostream>
#include <string>

/**
 * @file
 * What the examples with kernel nodes share.
 */

/**
 * Runs a simulation to its end and clears it away.
 * @param name of the program
 * @param run the simulation; what it throws is told in one line
 * @return the program's exit status
 */
inline int
RunKernelExample(const std::string& name, const std::function<void()>& run)
{
    int status = 0;
    try
    {
        run();
    }
    catch (const viaduct::Error& error)
    {
        std::cerr << name << ": " << error.what() << std::endl;
        status = static_cast<int>(error.status());
    }
    ns3::Simulator::Destroy();
    return status;
}

#endif // VIADUCT_KERNEL_EXAMPLE_H
