// SPDX-License-Identifier: BSD-3-Clause
// What an error code says, for whoever reports one.
#pragma once

#include <string>

namespace tutti {

/// The sentence behind a code: the one it was raised with, the program's own, or its class's. Throws Error(arg) when
/// `code` is no error code.
std::string error_text(int code);

/// "MPI_ERR_RANK": the class of a code. Of classes that the program has added, MPI_ERR_OTHER.
char const* error_name(int code);

}   // namespace tutti
