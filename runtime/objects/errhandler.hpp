// SPDX-License-Identifier: BSD-3-Clause
// Error handlers (MPI 3.1, 8.3).
#pragma once

#include <functional>
#include <string>

#include "runtime/objects/object.hpp"

namespace tutti {

class Errhandler final : public Object {
public:
    enum class Kind { fatal, returning, user };

    Kind kind = Kind::fatal;
    bool for_windows = false;   ///< Kind::user only: its function takes a window instead of a communicator
    int extra_handles = 0;      ///< how often the program obtained the same handle again; as many frees leave it valid
    /// Kind::user only: calls the user's function, which mpi_h/ has wrapped, with the object and the error code.
    std::function<void(Object* on, int code)> call;
};

/// Base of objects with an error handler: communicators and windows. Messages use `name` if the program has set it.
struct HasErrhandler : Object {
    std::string name;
    Ref<Errhandler> errhandler;
};

}   // namespace tutti
