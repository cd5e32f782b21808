/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test.h"

/**
 * @file
 * @ingroup viaduct
 * The program of the tests outside an ns-3 tree; inside one, ns-3's test-runner runs them.
 */

int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
