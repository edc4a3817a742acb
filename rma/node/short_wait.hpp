// SPDX-License-Identifier: BSD-3-Clause
// Waiting for who combines elements: short, and possibly from inside a poll, where the one wait must not be entered
// again. So it is not the one wait: who waits looks a few times and then gives its core away, to the other if need be.
#pragma once

#include <sched.h>

#include "runtime/base/flag.hpp"

namespace tutti::rma {

template <class Condition>
void wait_shortly(Condition&& condition) {
    for (int looks = 0; !condition(); ++looks)
        if (looks < 64) cpu_pause();
        else sched_yield();
}

}   // namespace tutti::rma
