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
    bool of_windows = false;   ///< Kind::user only: its function takes a window, not a communicator
    int more_handles = 0;      ///< how often users got the same handle again: so many frees leave it valid
    /// Kind::user only: calls the user's function, which mpi_h/ wrapped, with the object and the code.
    std::function<void(Object* on, int code)> call;
};

/// What errors happen on: communicators and windows. Sentences name it, if the program has.
struct HasErrhandler : Object {
    std::string name;
    Ref<Errhandler> errhandler;
};

}   // namespace tutti
