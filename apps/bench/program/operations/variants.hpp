// SPDX-License-Identifier: BSD-3-Clause
// The communicators that are measured: the plain one and one on the grid, and two more for each --hint, made with that
// info key. A library that does not know the key leaves the copies as the originals are.
#pragma once

#include "../start/settings.hpp"

#include <mpi.h>
#include <string>
#include <vector>

namespace bench {

class Variants {
public:
    Variants(const Settings &settings, MPI_Comm comm); // collective
    ~Variants();
    Variants(const Variants &) = delete;
    Variants &operator=(const Variants &) = delete;

    struct Variant {
        std::string name; // the hint's value; "default" is the plain one
        MPI_Comm comm, grid;
    };
    const std::vector<Variant> &all() const { return all_; }

private:
    std::vector<Variant> all_;
};

} // namespace bench
