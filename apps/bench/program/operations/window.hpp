// SPDX-License-Identifier: BSD-3-Clause
// The window that a one-sided operation is measured on, made as --window says.
#pragma once

#include "../start/settings.hpp"
#include "buffers.hpp"

#include <vector>

namespace bench {

class Window {
public:
    // Collective, as is the end. Locks all targets until then where the operation or --sync wants that.
    Window(const Settings &settings, const Room &room, MPI_Comm comm);
    ~Window();
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;

    const OneSided &access() const { return access_; }

private:
    double *make(Flavor flavor, MPI_Aint bytes, MPI_Comm comm); // returns this rank's memory
    void find_target(Flavor flavor, bool loads_and_stores, MPI_Comm comm);
    void make_groups(MPI_Comm comm);

    Flavor flavor_;
    std::vector<double> memory_; // of a window that is over the program's own
    OneSided access_;
};

} // namespace bench
