// SPDX-License-Identifier: BSD-3-Clause
// The operations of MPI 3.1, 11.3 and 11.4. Ranks are those of the window, or proc_null; arguments are checked by the
// caller but for what only the window knows: throws Error(rma_sync) outside of an epoch, Error(rma_range) beyond the
// target's memory, Error(op) or Error(type) where an accumulate is not defined.
//
// To a target on the node every operation is complete, at the target as well, when the call returns, as soon as a flush
// or the end of the epoch has ordered it; to others it is complete then, at the earliest.
#pragma once

#include "rma/window/elements.hpp"
#include "rma/window/window.hpp"
#include "runtime/datatype/op.hpp"
#include "runtime/objects/request.hpp"

namespace tutti::rma {

// `request`: null, or where the request of MPI_Rput and its like goes: complete when the buffers may be used again, or
// hold what was got.
void put(Window& window, Local const& origin, Remote const& target, Ref<Request>* request = nullptr);
void get(Window& window, Local const& origin, Remote const& target, Ref<Request>* request = nullptr);
void accumulate(Window& window, Local const& origin, Remote const& target, Op const& op,
                Ref<Request>* request = nullptr);
/// `origin` is not looked at with MPI_NO_OP.
void get_accumulate(Window& window, Local const& origin, Local const& result, Remote const& target, Op const& op,
                    Ref<Request>* request = nullptr);
/// One element of a predefined type.
void fetch_and_op(Window& window, void const* origin, void* result, Datatype const& type, int rank, std::int64_t disp,
                  Op const& op);
void compare_and_swap(Window& window, void const* origin, void const* compare, void* result, Datatype const& type,
                      int rank, std::int64_t disp);

}   // namespace tutti::rma
