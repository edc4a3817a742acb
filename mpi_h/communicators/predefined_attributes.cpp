// SPDX-License-Identifier: BSD-3-Clause
// The attributes that communicators have from the start (MPI 3.1, 8.1.2 and 10.5), and windows (11.2.6). As in MPICH a
// C program gets a pointer to an int for the first, and any communicator answers for MPI_COMM_WORLD.
#include <climits>
#include <cstdlib>

#include "mpi_h/communicators/keyval.hpp"

namespace tutti {
namespace {

constexpr int first_key = MPI_TAG_UB, last_key = MPI_APPNUM + 1;
constexpr int first_win_key = MPI_WIN_BASE, last_win_key = MPI_WIN_MODEL + 1;

int key_of_c(int keyval) { return keyval - (keyval % 2 == 0 ? 1 : 0); }   // Fortran's are the even numbers after C's

/// The place of this program among those that the launcher was given; another launcher may not tell.
int const* application_number() {
    static char const* const text = std::getenv("PMI_APPNUM");
    static int const number = text ? std::atoi(text) : 0;
    return text ? &number : nullptr;
}

int const* universe_size() {
    static int const size = library().process->size();
    return &size;
}

int const* of_every_comm(int keyval) {
    static constexpr int largest_tag = INT_MAX, no_host = MPI_PROC_NULL, any_rank = MPI_ANY_SOURCE, yes = 1, no = 0;
    switch (key_of_c(keyval)) {
    case MPI_TAG_UB: return &largest_tag;
    case MPI_HOST: return &no_host;
    case MPI_IO: return &any_rank;
    // The ranks of a node read the same clock; those of several nodes have never been compared.
    case MPI_WTIME_IS_GLOBAL: return library().process->cluster.alone() ? &yes : &no;
    case MPI_UNIVERSE_SIZE: return universe_size();
    case MPI_LASTUSEDCODE: return &library().last_used_code;
    case MPI_APPNUM: return application_number();
    }
    return nullptr;
}

int const* flavor_of(rma::Window const& window) {
    static constexpr int create = MPI_WIN_FLAVOR_CREATE, allocate = MPI_WIN_FLAVOR_ALLOCATE,
                         shared = MPI_WIN_FLAVOR_SHARED, dynamic = MPI_WIN_FLAVOR_DYNAMIC;
    switch (window.flavor) {
    case rma::Flavor::create: return &create;
    case rma::Flavor::allocate: return &allocate;
    case rma::Flavor::shared: return &shared;
    case rma::Flavor::dynamic: break;
    }
    return &dynamic;
}

PredefinedAttribute number_at(int const* value) { return {value, *value}; }

std::optional<PredefinedAttribute> of_window(rma::Window const& window, int keyval) {
    static constexpr int unified = MPI_WIN_UNIFIED;
    static_assert(sizeof window.bytes == sizeof(MPI_Aint), "MPI_WIN_SIZE points to an MPI_Aint");
    switch (key_of_c(keyval)) {
    case MPI_WIN_BASE: return PredefinedAttribute{window.base, reinterpret_cast<std::intptr_t>(window.base)};
    case MPI_WIN_SIZE: return PredefinedAttribute{&window.bytes, window.bytes};
    case MPI_WIN_DISP_UNIT: return number_at(&window.disp_unit);
    case MPI_WIN_CREATE_FLAVOR: return number_at(flavor_of(window));
    case MPI_WIN_MODEL: return number_at(&unified);
    }
    return std::nullopt;
}

}   // namespace

std::optional<Keyval::On> predefined_key(int keyval) {
    if (keyval >= first_key && keyval <= last_key) return Keyval::On::comm;
    if (keyval >= first_win_key && keyval <= last_win_key) return Keyval::On::win;
    return std::nullopt;
}

std::optional<PredefinedAttribute> predefined_attribute(Object const& of, int keyval) {
    if (predefined_key(keyval) == Keyval::On::win) return of_window(static_cast<rma::Window const&>(of), keyval);
    int const* const value = of_every_comm(keyval);
    return value ? std::optional(number_at(value)) : std::nullopt;
}

}   // namespace tutti
