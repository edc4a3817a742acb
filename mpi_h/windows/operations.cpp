// SPDX-License-Identifier: BSD-3-Clause
// One-sided operations with and without requests (MPI 3.1, 11.3): arguments and handles. The rma layer checks the
// epoch, the bounds of the target's memory and the sizes. Most calls take the fast path (fast_calls.hpp); the full path
// of each operation is a separate function in tail position, so that a fast call need not save registers for it.
#include "rma/operations.hpp"
#include <algorithm>

#include "mpi_h/windows/fast_calls.hpp"

namespace tutti {
namespace {

using fast_calls::CallWindow;
using fast_calls::ElementSize;
using fast_calls::find_recent;

/// Elements of this process and of the target, as passed by the program.
struct OriginArgs {
    void const* addr;
    int count;
    MPI_Datatype datatype;
};
struct TargetArgs {
    int rank;
    MPI_Aint disp;
    int count;
    MPI_Datatype datatype;
};

/// MPI_PROC_NULL ignores the datatype.
inline MPI_Datatype effective_type(MPI_Datatype datatype, int rank) {
    if (rank == MPI_PROC_NULL) [[unlikely]]
        return datatype == MPI_DATATYPE_NULL ? MPI_BYTE : datatype;
    return datatype;
}

/// Returns the datatype of the target's side.
[[gnu::always_inline]] inline Datatype& target_type(Call& call, OriginArgs const& here, Datatype& type,
                                                    TargetArgs const& there) {
    // A form in which the compiler does not store the four values to memory to compare them in pairs.
    if (((here.datatype ^ there.datatype) | (here.count ^ there.count)) == 0) [[likely]]
        return type;
    Datatype& other = call.type(effective_type(there.datatype, there.rank), "target_datatype");
    call.count(there.count, "target_count");
    call.size(there.count, other, "target_count");
    return other;
}

/// For operations that have no fast path.
constexpr auto no_fast_path = [](CallWindow const&) { return false; };

/// Performs the call on the fast path if possible. Otherwise checks the arguments that all operations with one buffer
/// share and calls `body(call, window, here, there)`. `op`: the operator, if the operation has one.
template <class TryFast, class Body, class... Op>
[[gnu::always_inline]] inline int with(Function function, OriginArgs const& a, TargetArgs const& b, MPI_Win win,
                                       TryFast&& try_fast, Body&& body, Op... op) {
    return enter(function, args(a.addr, a.count, a.datatype, b.rank, b.disp, b.count, b.datatype, op..., win),
                 [&](Call& call) {
                     rma::Window& w = call.win(win);
                     if (try_fast(fast_calls::remember_window(call.library_state(), win, w))) return;
                     call.target(w, b.rank);
                     Datatype& type = call.type(effective_type(a.datatype, b.rank), "origin_datatype");
                     call.count(a.count, "origin_count");
                     call.disp(b.disp);
                     call.buffer(a.addr, a.count, type, "origin_addr");
                     Datatype& other = target_type(call, a, type, b);
                     auto const bytes = [&] { return std::min(a.count * type.size(), b.count * other.size()); };
                     recorded(w, call.name(), b.rank, bytes, [&] {
                         body(call, w, rma::Local::of(a.addr, a.count, type),
                              rma::Remote{abi::rank_in(b.rank), b.disp, b.count, other});
                     });
                 });
}

/// As above with a request: `body(window, here, there, &request)`.
template <class Body, class... Op>
[[gnu::always_inline]] inline int with(Function function, OriginArgs const& a, TargetArgs const& b, MPI_Win win,
                                       MPI_Request* request, Body&& body, Op... op) {
    return with(
        function, a, b, win, no_fast_path,
        [&](Call& call, rma::Window& w, rma::Local const& here, rma::Remote const& there) {
            call.pointer(request, "request");
            Ref<Request> made;
            body(call, w, here, there, &made);
            *request = call.library_state().tables.requests.add(made.detach());
        },
        op...);
}

[[noreturn, gnu::cold, gnu::noinline]] void bad_op(Op const& op) {
    if (op.builtin == BuiltinOp::none)
        fail(ErrorClass::op, "op is user-defined but must be predefined (MPI 3.1, 11.3.4)");
    fail(ErrorClass::op, "op is MPI_NO_OP, which only calls that return the previous value accept");
}

/// Returns an operator that is valid for one-sided operations.
inline Op const& predefined_op(Call& call, MPI_Op handle, bool gets) {
    Op const& op = call.op(handle);
    if (op.builtin == BuiltinOp::none || (!gets && op.builtin == BuiltinOp::no_op)) [[unlikely]]
        bad_op(op);
    return op;
}

/// Returns the type of an operation on one element, which must be predefined.
inline Datatype const& predefined_type(Call& call, MPI_Datatype handle, int rank) {
    Datatype const& type = call.type(effective_type(handle, rank));
    if (!type.predefined) [[unlikely]]
        fail(ErrorClass::type, "datatype is derived but must be predefined");
    return type;
}

/// MPI_Get_accumulate and similar calls; for MPI_NO_OP the origin is not read (MPI 3.1, 11.3.4).
template <class TryFast, class Body>
[[gnu::always_inline]] inline int get_accumulate(Function function, OriginArgs const& a, OriginArgs const& result,
                                                 TargetArgs const& b, MPI_Op handle, MPI_Win win, TryFast&& try_fast,
                                                 Body&& body) {
    return enter(function,
                 args(a.addr, a.count, a.datatype, result.addr, result.count, result.datatype, b.rank, b.disp, b.count,
                      b.datatype, handle, win),
                 [&](Call& call) {
                     rma::Window& w = call.win(win);
                     if (try_fast(fast_calls::remember_window(call.library_state(), win, w))) return;
                     call.target(w, b.rank);
                     Op const& op = predefined_op(call, handle, true);
                     Datatype& result_type = call.type(effective_type(result.datatype, b.rank), "result_datatype");
                     call.count(result.count, "result_count");
                     call.disp(b.disp);
                     call.buffer(result.addr, result.count, result_type, "result_addr");
                     Datatype& other = target_type(call, result, result_type, b);
                     auto const bytes = [&] { return b.count * other.size(); };
                     rma::Local const got = rma::Local::of(result.addr, result.count, result_type);
                     rma::Remote const there{abi::rank_in(b.rank), b.disp, b.count, other};
                     if (op.builtin == BuiltinOp::no_op) {
                         rma::Local const nothing = rma::Local::of(nullptr, 0, other);
                         return recorded(w, call.name(), b.rank, bytes,
                                         [&] { body(call, w, nothing, got, there, op); });
                     }
                     Datatype& type = call.type(effective_type(a.datatype, b.rank), "origin_datatype");
                     call.count(a.count, "origin_count");
                     call.buffer(a.addr, a.count, type, "origin_addr");
                     rma::Local const here = rma::Local::of(a.addr, a.count, type);
                     recorded(w, call.name(), b.rank, bytes, [&] { body(call, w, here, got, there, op); });
                 });
}

[[gnu::noinline]] int full_put(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                               MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
    return with(
        "MPI_Put", {origin_addr, origin_count, origin_datatype},
        {target_rank, target_disp, target_count, target_datatype}, win,
        [&](CallWindow const& recent) {
            return fast_calls::put<ElementSize::any>(recent, {origin_addr, origin_count, origin_datatype}, target_rank,
                                                     target_disp, target_count, target_datatype);
        },
        [](Call&, rma::Window& w, rma::Local const& here, rma::Remote const& there) { rma::put(w, here, there); });
}

[[gnu::noinline]] int full_get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                               MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
    return with(
        "MPI_Get", {origin_addr, origin_count, origin_datatype},
        {target_rank, target_disp, target_count, target_datatype}, win,
        [&](CallWindow const& recent) {
            return fast_calls::get<ElementSize::any>(recent, {origin_addr, origin_count, origin_datatype}, target_rank,
                                                     target_disp, target_count, target_datatype);
        },
        [](Call&, rma::Window& w, rma::Local const& here, rma::Remote const& there) { rma::get(w, here, there); });
}

[[gnu::noinline]] int full_accumulate(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                      int target_rank, MPI_Aint target_disp, int target_count,
                                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    return with(
        "MPI_Accumulate", {origin_addr, origin_count, origin_datatype},
        {target_rank, target_disp, target_count, target_datatype}, win,
        [&](CallWindow const& recent) {
            return fast_calls::accumulate<ElementSize::any>(recent, {origin_addr, origin_count, origin_datatype},
                                                            target_rank, target_disp, target_count, target_datatype,
                                                            op);
        },
        [&](Call& call, rma::Window& w, rma::Local const& here, rma::Remote const& there) {
            rma::accumulate(w, here, there, predefined_op(call, op, false));
        },
        op);
}

[[gnu::noinline]] int full_get_accumulate(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                          void* result_addr, int result_count, MPI_Datatype result_datatype,
                                          int target_rank, MPI_Aint target_disp, int target_count,
                                          MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    return get_accumulate(
        "MPI_Get_accumulate", {origin_addr, origin_count, origin_datatype},
        {result_addr, result_count, result_datatype}, {target_rank, target_disp, target_count, target_datatype}, op,
        win,
        [&](CallWindow const& recent) {
            return fast_calls::get_accumulate<ElementSize::any>(
                recent, {origin_addr, origin_count, origin_datatype}, {result_addr, result_count, result_datatype},
                target_rank, target_disp, target_count, target_datatype, op);
        },
        [](Call&, rma::Window& w, rma::Local const& here, rma::Local const& result, rma::Remote const& there,
           Op const& o) { rma::get_accumulate(w, here, result, there, o); });
}

[[gnu::noinline]] int full_fetch_and_op(void const* origin_addr, void* result_addr, MPI_Datatype datatype,
                                        int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
    return enter("MPI_Fetch_and_op", args(origin_addr, result_addr, datatype, target_rank, target_disp, op, win),
                 [&](Call& call) {
                     rma::Window& w = call.win(win);
                     CallWindow const recent = fast_calls::remember_window(call.library_state(), win, w);
                     if (fast_calls::fetch_and_op<ElementSize::any>(recent, origin_addr, result_addr, datatype,
                                                                    target_rank, target_disp, op))
                         return;
                     call.target(w, target_rank);
                     Datatype const& type = predefined_type(call, datatype, target_rank);
                     Op const& o = predefined_op(call, op, true);
                     call.disp(target_disp);
                     call.pointer(result_addr, "result_addr", ErrorClass::buffer);
                     if (o.builtin != BuiltinOp::no_op) call.pointer(origin_addr, "origin_addr", ErrorClass::buffer);
                     recorded(
                         w, call.name(), target_rank, [&] { return type.size(); },
                         [&] {
                             rma::fetch_and_op(w, origin_addr, result_addr, type, abi::rank_in(target_rank),
                                               target_disp, o);
                         });
                 });
}

[[gnu::noinline]] int full_compare_and_swap(void const* origin_addr, void const* compare_addr, void* result_addr,
                                            MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win) {
    return enter("MPI_Compare_and_swap",
                 args(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win),
                 [&](Call& call) {
                     rma::Window& w = call.win(win);
                     CallWindow const recent = fast_calls::remember_window(call.library_state(), win, w);
                     if (fast_calls::compare_and_swap(recent, origin_addr, compare_addr, result_addr, datatype,
                                                      target_rank, target_disp))
                         return;
                     call.target(w, target_rank);
                     Datatype const& type = predefined_type(call, datatype, target_rank);
                     call.disp(target_disp);
                     call.pointer(origin_addr, "origin_addr", ErrorClass::buffer);
                     call.pointer(compare_addr, "compare_addr", ErrorClass::buffer);
                     call.pointer(result_addr, "result_addr", ErrorClass::buffer);
                     recorded(
                         w, call.name(), target_rank, [&] { return type.size(); },
                         [&] {
                             rma::compare_and_swap(w, origin_addr, compare_addr, result_addr, type,
                                                   abi::rank_in(target_rank), target_disp);
                         });
                 });
}

[[gnu::noinline]] int full_rput(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
                                MPI_Win win, MPI_Request* request) {
    return with("MPI_Rput", {origin_addr, origin_count, origin_datatype},
                {target_rank, target_disp, target_count, target_datatype}, win, request,
                [](Call&, rma::Window& w, rma::Local const& here, rma::Remote const& there, Ref<Request>* made) {
                    rma::put(w, here, there, made);
                });
}

[[gnu::noinline]] int full_rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                                MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
                                MPI_Request* request) {
    return with("MPI_Rget", {origin_addr, origin_count, origin_datatype},
                {target_rank, target_disp, target_count, target_datatype}, win, request,
                [](Call&, rma::Window& w, rma::Local const& here, rma::Remote const& there, Ref<Request>* made) {
                    rma::get(w, here, there, made);
                });
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Put);
int PMPI_Put(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
    if (fast_calls::put<ElementSize::word>(find_recent(win), {origin_addr, origin_count, origin_datatype}, target_rank,
                                           target_disp, target_count, target_datatype)) [[likely]]
        return MPI_SUCCESS;
    return full_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
                    win);
}

TUTTI_FUNCTION(Get);
int PMPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             int target_count, MPI_Datatype target_datatype, MPI_Win win) {
    if (fast_calls::get<ElementSize::word>(find_recent(win), {origin_addr, origin_count, origin_datatype}, target_rank,
                                           target_disp, target_count, target_datatype)) [[likely]]
        return MPI_SUCCESS;
    return full_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
                    win);
}

TUTTI_FUNCTION(Accumulate);
int PMPI_Accumulate(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    if (fast_calls::accumulate<ElementSize::word>(find_recent(win), {origin_addr, origin_count, origin_datatype},
                                                  target_rank, target_disp, target_count, target_datatype, op))
        [[likely]]
        return MPI_SUCCESS;
    return full_accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                           target_datatype, op, win);
}

TUTTI_FUNCTION(Get_accumulate);
int PMPI_Get_accumulate(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, void* result_addr,
                        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                        int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    if (fast_calls::get_accumulate<ElementSize::word>(find_recent(win), {origin_addr, origin_count, origin_datatype},
                                                      {result_addr, result_count, result_datatype}, target_rank,
                                                      target_disp, target_count, target_datatype, op)) [[likely]]
        return MPI_SUCCESS;
    return full_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
                               target_rank, target_disp, target_count, target_datatype, op, win);
}

TUTTI_FUNCTION(Fetch_and_op);
int PMPI_Fetch_and_op(void const* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
    if (fast_calls::fetch_and_op<ElementSize::word>(find_recent(win), origin_addr, result_addr, datatype, target_rank,
                                                    target_disp, op)) [[likely]]
        return MPI_SUCCESS;
    return full_fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
}

TUTTI_FUNCTION(Compare_and_swap);
int PMPI_Compare_and_swap(void const* origin_addr, void const* compare_addr, void* result_addr, MPI_Datatype datatype,
                          int target_rank, MPI_Aint target_disp, MPI_Win win) {
    if (fast_calls::compare_and_swap(find_recent(win), origin_addr, compare_addr, result_addr, datatype, target_rank,
                                     target_disp)) [[likely]]
        return MPI_SUCCESS;
    return full_compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
}

TUTTI_FUNCTION(Rput);
int PMPI_Rput(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
    CallWindow const recent = find_recent(win);
    auto const perform = [&] {
        return fast_calls::put<ElementSize::any>(recent, {origin_addr, origin_count, origin_datatype}, target_rank,
                                                 target_disp, target_count, target_datatype);
    };
    if (fast_calls::with_request(recent, request, perform)) [[likely]]
        return MPI_SUCCESS;
    return full_rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                     target_datatype, win, request);
}

TUTTI_FUNCTION(Rget);
int PMPI_Rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
              int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
    CallWindow const recent = find_recent(win);
    auto const perform = [&] {
        return fast_calls::get<ElementSize::any>(recent, {origin_addr, origin_count, origin_datatype}, target_rank,
                                                 target_disp, target_count, target_datatype);
    };
    if (fast_calls::with_request(recent, request, perform)) [[likely]]
        return MPI_SUCCESS;
    return full_rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                     target_datatype, win, request);
}

TUTTI_FUNCTION(Raccumulate);
int PMPI_Raccumulate(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                     MPI_Request* request) {
    return with(
        "MPI_Raccumulate", {origin_addr, origin_count, origin_datatype},
        {target_rank, target_disp, target_count, target_datatype}, win, request,
        [&](Call& call, rma::Window& w, rma::Local const& here, rma::Remote const& there, Ref<Request>* made) {
            rma::accumulate(w, here, there, predefined_op(call, op, false), made);
        },
        op);
}

TUTTI_FUNCTION(Rget_accumulate);
int PMPI_Rget_accumulate(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, void* result_addr,
                         int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                         int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
    return get_accumulate("MPI_Rget_accumulate", {origin_addr, origin_count, origin_datatype},
                          {result_addr, result_count, result_datatype},
                          {target_rank, target_disp, target_count, target_datatype}, op, win, no_fast_path,
                          [&](Call& call, rma::Window& w, rma::Local const& here, rma::Local const& result,
                              rma::Remote const& there, Op const& o) {
                              call.pointer(request, "request");
                              Ref<Request> made;
                              rma::get_accumulate(w, here, result, there, o, &made);
                              *request = call.library_state().tables.requests.add(made.detach());
                          });
}
