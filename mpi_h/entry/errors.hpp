// SPDX-License-Identifier: BSD-3-Clause
// Error codes and their texts, and the functions that all objects with an error handler share (MPI 3.1, 8.3).
#pragma once

#include <string>

#include "mpi_h/entry/entry.hpp"

namespace tutti {

/// Error handler functions for communicators and windows have the same type in this ABI, because every handle is an
/// int.
using ErrhandlerFunction = MPI_Comm_errhandler_function;
static_assert(std::is_same_v<ErrhandlerFunction, MPI_Win_errhandler_function>);

void create_errhandler(Call const& call, ErrhandlerFunction* function, bool for_windows, MPI_Errhandler* errhandler);
/// `of` is a window if `is_window`, otherwise a communicator. Throws Error(arg) for a handler created for the other
/// kind.
void set_errhandler(Call& call, HasErrhandler& of, bool is_window, MPI_Errhandler errhandler);
/// The program may compare the result with the handle that it set, so a handler that still has a handle returns that
/// one.
void get_errhandler(Call const& call, HasErrhandler& of, MPI_Errhandler* errhandler);
/// Throws Error(arg) if `errorcode` is not an error code; does not return if errors are fatal.
void call_errhandler(Call const& call, HasErrhandler& of, int errorcode);

/// Returns the text of a code: the message it was raised with, the program's own string, or the text of its class.
/// Throws Error(arg) if `code` is not an error code.
std::string error_text(int code);

/// Returns the class of a code, such as "MPI_ERR_RANK"; MPI_ERR_OTHER for classes that the program added.
char const* error_name(int code);

}   // namespace tutti
