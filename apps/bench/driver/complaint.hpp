// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>

namespace bench {

// What ends the driver: a sentence for the user, without the full stop.
struct Complaint : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace bench
