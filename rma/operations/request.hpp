// SPDX-License-Identifier: BSD-3-Clause
// Requests of operations that are over when their call returns.
#pragma once

#include "rma/window/window.hpp"
#include "runtime/objects/request.hpp"

namespace tutti::rma {

/// The same for all of a window: nothing of it ever changes. Under --check each operation has one of its own.
inline Ref<Request> completed_request(Window& window) {
    if (!window.completed || window.origins) {
        window.completed = Ref<Request>::adopt(new OneSidedRequest);
        window.completed->complete = true;
        window.completed->comm = window.comm;
    }
    return window.completed;
}

/// --check: the request, if there is one, completes these buffers.
inline void watch(Ref<Request>* request, std::shared_ptr<OriginBuffers::Operation> buffers) {
    if (request) static_cast<OneSidedRequest&>(**request).watch(std::move(buffers));
}

}   // namespace tutti::rma
