// SPDX-License-Identifier: BSD-3-Clause
// The communicators and windows that are measured.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "operation.hpp"
#include "settings.hpp"

namespace bench {

/// The communicators that are measured: the plain one and one on the grid, and two more for each --hint, created with
/// that info key. A library that does not know the key makes them identical to the originals.
class Variants {
public:
    Variants(Settings const& settings, MPI_Comm comm);   ///< collective
    ~Variants();
    Variants(Variants const&) = delete;
    Variants& operator=(Variants const&) = delete;

    struct Variant {
        std::string name;   ///< the hint's value; "default" is the plain one
        MPI_Comm comm, grid;
    };
    std::vector<Variant> const& all() const { return all_; }

private:
    std::vector<Variant> all_;
};

/// The window on which a one-sided operation is measured, created as --window selects.
class Window {
public:
    /// Collective, like the destructor. Locks all targets for the lifetime of the window if the operation or --sync
    /// requires it.
    Window(Settings const& settings, BufferSizes const& sizes, MPI_Comm comm);
    ~Window();
    Window(Window const&) = delete;
    Window& operator=(Window const&) = delete;

    OneSided const& access() const { return access_; }

private:
    double* create(Flavor flavor, MPI_Aint bytes, MPI_Comm comm);   ///< returns this rank's memory
    void find_target(Flavor flavor, bool is_load_store, MPI_Comm comm);
    void create_groups(MPI_Comm comm);

    Flavor flavor_;
    std::vector<double> memory_;   ///< of a window over the program's own memory
    OneSided access_;
};

}   // namespace bench
