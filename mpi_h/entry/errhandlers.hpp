// SPDX-License-Identifier: BSD-3-Clause
// What the calls about error handlers do for whatever has one (MPI 3.1, 8.3).
#pragma once

#include "mpi_h/entry/entry.hpp"

namespace tutti {

/// The user's functions for communicators and windows have the same form in this ABI, where every handle is an int.
using ErrhandlerFunction = MPI_Comm_errhandler_function;
static_assert(std::is_same_v<ErrhandlerFunction, MPI_Win_errhandler_function>);

void create_errhandler(Call const& call, ErrhandlerFunction* function, bool of_windows, MPI_Errhandler* errhandler);
/// `of` is a window, or it is a communicator. Throws Error(arg) for a handler that was made for the other.
void set_errhandler(Call& call, HasErrhandler& of, bool is_window, MPI_Errhandler errhandler);
/// The user may compare what he gets with what he set, so a handler that still has a handle gives that one again.
void get_errhandler(Call const& call, HasErrhandler& of, MPI_Errhandler* errhandler);
/// Throws Error(arg) when `errorcode` is none; does not return when errors are fatal.
void call_errhandler(Call const& call, HasErrhandler& of, int errorcode);

}   // namespace tutti
