// SPDX-License-Identifier: BSD-3-Clause
// Requests of operations that are over when their call returns.
#pragma once

#include "rma/window/window.hpp"
#include "runtime/objects/request.hpp"

namespace tutti::rma {

/// The same for all of a window: nothing of it ever changes.
inline Ref<Request> completed_request(Window& window) {
    if (!window.completed) {
        window.completed = Ref<Request>::adopt(new Request);
        window.completed->complete = true;
        window.completed->comm = window.comm;
    }
    return window.completed;
}

}   // namespace tutti::rma
