// SPDX-License-Identifier: BSD-3-Clause
// Finding a stripe held.
#include "rma/node/stripes.hpp"

#include "rma/node/short_wait.hpp"

namespace tutti::rma {

void HeldStripe::wait() {
    wait_shortly([&] { return take(); });
}

}   // namespace tutti::rma
