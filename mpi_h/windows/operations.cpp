// SPDX-License-Identifier: BSD-3-Clause
// One-sided operations with and without requests (MPI 3.1, 11.3): arguments and handles. The rma layer checks the
// epoch, the bounds of the target's memory and the sizes. Each operation is a struct of the MPI function's arguments,
// in order, with its two forms: fast() and general() (fast_calls.hpp).
#include "rma/operations.hpp"
#include <algorithm>

#include "mpi_h/windows/fast_calls.hpp"

namespace tutti {
namespace {

using rma::Local;
using rma::Remote;
using rma::fast::Size;

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

/// Returns true if both sides have the same number of elements of one datatype. In this form the compiler does not
/// store the four values to memory to compare them in pairs.
[[gnu::always_inline]] inline bool same_elements(OriginArgs const& here, TargetArgs const& there) {
    return ((here.datatype ^ there.datatype) | (here.count ^ there.count)) == 0;
}

/// Describes the elements of a fast call; without any bytes if the two sides differ or the datatype is not simple.
[[gnu::always_inline]] inline rma::fast::Elements simple_elements(FastWindow const& f, OriginArgs const& here,
                                                                  TargetArgs const& there) {
    if (!same_elements(here, there)) [[unlikely]]
        return {0, 0, Basic::none};
    abi::SimpleType const& type = f.library->tables.simple_type(here.datatype);
    if (type.handle != here.datatype) [[unlikely]]
        return {0, 0, Basic::none};
    std::uint8_t const size = abi::builtin_size(here.datatype);
    return {std::int64_t{here.count} * size, size, type.kind};
}

/// MPI_PROC_NULL ignores the datatype.
inline MPI_Datatype effective_type(MPI_Datatype datatype, int rank) {
    if (rank == MPI_PROC_NULL) [[unlikely]]
        return datatype == MPI_DATATYPE_NULL ? MPI_BYTE : datatype;
    return datatype;
}

/// Returns the datatype of the target's side.
[[gnu::always_inline]] inline Datatype& target_type(Call& call, OriginArgs const& here, Datatype& type,
                                                    TargetArgs const& there) {
    if (same_elements(here, there)) [[likely]]
        return type;
    Datatype& other = call.type(effective_type(there.datatype, there.rank), "target_datatype");
    call.count(there.count, "target_count");
    call.size(there.count, other, "target_count");
    return other;
}

/// Checks the arguments that all operations with one buffer share, and calls `body(here, there)`.
template <class Body>
[[gnu::always_inline]] inline void with_elements(Call& call, rma::Window& w, OriginArgs const& a, TargetArgs const& b,
                                                 Body&& body) {
    call.target(w, b.rank);
    Datatype& type = call.type(effective_type(a.datatype, b.rank), "origin_datatype");
    call.count(a.count, "origin_count");
    call.disp(b.disp);
    call.buffer(a.addr, a.count, type, "origin_addr");
    Datatype& other = target_type(call, a, type, b);
    auto const bytes = [&] { return std::min(a.count * type.size(), b.count * other.size()); };
    recorded(w, call.name(), b.rank, bytes, [&] {
        body(Local::of(a.addr, a.count, type), Remote{abi::rank_in(b.rank), b.disp, b.count, other});
    });
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

/// The fast form of all accumulates except compare-and-swap. `old`: receives the previous content; may be null. For
/// MPI_NO_OP, which is valid only for fetching calls, the origin is not read.
[[gnu::always_inline]] inline bool combine(FastWindow const& f, rma::fast::Elements elements, void const* origin,
                                           void* old, int rank, MPI_Aint disp, MPI_Op handle, Size size) {
    Op const* const op = f.library->tables.ops.builtin(handle);
    if (!op || (op->builtin == BuiltinOp::no_op ? !old : Call::no_address(origin))) [[unlikely]]
        return false;
    return rma::fast::combine(*f.window, elements, origin, old, rank, disp, op->builtin, size);
}

struct Put {
    OriginArgs here;
    TargetArgs there;
    MPI_Win win;

    static constexpr Function function = "MPI_Put", request_function = "MPI_Rput";
    [[gnu::always_inline]] bool fast(FastWindow const& f, Size size) const {
        std::int64_t const bytes = simple_elements(f, here, there).bytes;
        if (Call::no_address(here.addr)) [[unlikely]]
            return false;
        return rma::fast::copy<rma::Operation::put>(*f.window, const_cast<void*>(here.addr), bytes, there.rank,
                                                    there.disp, size);
    }
    [[gnu::always_inline]] void general(Call& call, rma::Window& w, Ref<Request>* request = nullptr) const {
        with_elements(call, w, here, there, [&](Local const& a, Remote const& b) { rma::put(w, a, b, request); });
    }
};

struct Get {
    OriginArgs here;
    TargetArgs there;
    MPI_Win win;

    static constexpr Function function = "MPI_Get", request_function = "MPI_Rget";
    [[gnu::always_inline]] bool fast(FastWindow const& f, Size size) const {
        std::int64_t const bytes = simple_elements(f, here, there).bytes;
        if (Call::no_address(here.addr)) [[unlikely]]
            return false;
        return rma::fast::copy<rma::Operation::get>(*f.window, const_cast<void*>(here.addr), bytes, there.rank,
                                                    there.disp, size);
    }
    [[gnu::always_inline]] void general(Call& call, rma::Window& w, Ref<Request>* request = nullptr) const {
        with_elements(call, w, here, there, [&](Local const& a, Remote const& b) { rma::get(w, a, b, request); });
    }
};

struct Accumulate {
    OriginArgs here;
    TargetArgs there;
    MPI_Op op;
    MPI_Win win;

    static constexpr Function function = "MPI_Accumulate", request_function = "MPI_Raccumulate";
    [[gnu::always_inline]] bool fast(FastWindow const& f, Size size) const {
        return combine(f, simple_elements(f, here, there), here.addr, nullptr, there.rank, there.disp, op, size);
    }
    [[gnu::always_inline]] void general(Call& call, rma::Window& w, Ref<Request>* request = nullptr) const {
        with_elements(call, w, here, there, [&](Local const& a, Remote const& b) {
            rma::accumulate(w, a, b, predefined_op(call, op, false), request);
        });
    }
};

struct GetAccumulate {
    OriginArgs here, result;
    TargetArgs there;
    MPI_Op op;
    MPI_Win win;

    static constexpr Function function = "MPI_Get_accumulate", request_function = "MPI_Rget_accumulate";
    [[gnu::always_inline]] bool fast(FastWindow const& f, Size size) const {
        if (!same_elements(result, there) || Call::no_address(result.addr)) [[unlikely]]
            return false;
        return combine(f, simple_elements(f, here, there), here.addr, const_cast<void*>(result.addr), there.rank,
                       there.disp, op, size);
    }
    /// For MPI_NO_OP the origin is not read (MPI 3.1, 11.3.4).
    void general(Call& call, rma::Window& w, Ref<Request>* request = nullptr) const {
        call.target(w, there.rank);
        Op const& o = predefined_op(call, op, true);
        Datatype& result_type = call.type(effective_type(result.datatype, there.rank), "result_datatype");
        call.count(result.count, "result_count");
        call.disp(there.disp);
        call.buffer(result.addr, result.count, result_type, "result_addr");
        Datatype& other = target_type(call, result, result_type, there);
        auto const run = [&](Local const& a) {
            auto const bytes = [&] { return there.count * other.size(); };
            recorded(w, call.name(), there.rank, bytes, [&] {
                rma::get_accumulate(w, a, Local::of(result.addr, result.count, result_type),
                                    {abi::rank_in(there.rank), there.disp, there.count, other}, o, request);
            });
        };
        if (o.builtin == BuiltinOp::no_op) return run(Local::of(nullptr, 0, other));
        Datatype& type = call.type(effective_type(here.datatype, there.rank), "origin_datatype");
        call.count(here.count, "origin_count");
        call.buffer(here.addr, here.count, type, "origin_addr");
        run(Local::of(here.addr, here.count, type));
    }
};

struct FetchAndOp {
    void const* origin;
    void* result;
    MPI_Datatype datatype;
    int rank;
    MPI_Aint disp;
    MPI_Op op;
    MPI_Win win;

    static constexpr Function function = "MPI_Fetch_and_op";
    [[gnu::always_inline]] bool fast(FastWindow const& f, Size size) const {
        return !Call::no_address(result) &&
               combine(f, simple_elements(f, {origin, 1, datatype}, {rank, disp, 1, datatype}), origin, result, rank,
                       disp, op, size);
    }
    [[gnu::always_inline]] void general(Call& call, rma::Window& w) const {
        call.target(w, rank);
        Datatype const& type = predefined_type(call, datatype, rank);
        Op const& o = predefined_op(call, op, true);
        call.disp(disp);
        call.pointer(result, "result_addr", ErrorClass::buffer);
        if (o.builtin != BuiltinOp::no_op) call.pointer(origin, "origin_addr", ErrorClass::buffer);
        recorded(
            w, call.name(), rank, [&] { return type.size(); },
            [&] { rma::fetch_and_op(w, origin, result, type, abi::rank_in(rank), disp, o); });
    }
};

struct CompareAndSwap {
    void const *origin, *compare;
    void* result;
    MPI_Datatype datatype;
    int rank;
    MPI_Aint disp;
    MPI_Win win;

    static constexpr Function function = "MPI_Compare_and_swap";
    [[gnu::always_inline]] bool fast(FastWindow const& f, Size) const {
        if (Call::no_address(origin) || Call::no_address(compare) || Call::no_address(result)) [[unlikely]]
            return false;
        Basic const kind = simple_elements(f, {origin, 1, datatype}, {rank, disp, 1, datatype}).kind;
        return rma::fast::compare_and_swap(*f.window, kind, origin, compare, result, rank, disp);
    }
    [[gnu::always_inline]] void general(Call& call, rma::Window& w) const {
        call.target(w, rank);
        Datatype const& type = predefined_type(call, datatype, rank);
        call.disp(disp);
        call.pointer(origin, "origin_addr", ErrorClass::buffer);
        call.pointer(compare, "compare_addr", ErrorClass::buffer);
        call.pointer(result, "result_addr", ErrorClass::buffer);
        recorded(
            w, call.name(), rank, [&] { return type.size(); },
            [&] { rma::compare_and_swap(w, origin, compare, result, type, abi::rank_in(rank), disp); });
    }
};

/// An operation with a request.
template <class Operation>
struct WithRequest : Operation {
    MPI_Request* request;

    static constexpr Function function = Operation::request_function;
    /// Only if the request of completed operations exists and can be stored without allocating.
    [[gnu::always_inline]] bool fast(FastWindow const& f, Size size) const {
        auto& requests = f.library->tables.requests;
        Request const* const immediate = f.window->immediate_request.get();
        if (!immediate || !requests.has_room(*immediate) || Call::no_address(request)) [[unlikely]]
            return false;
        if (!Operation::fast(f, size)) [[unlikely]]
            return false;
        *request = requests.add(rma::completed_request(*f.window).detach());
        return true;
    }
    [[gnu::always_inline]] void general(Call& call, rma::Window& w) const {
        call.pointer(request, "request");
        Ref<Request> made;
        Operation::general(call, w, &made);
        *request = call.library_state().tables.requests.add(made.detach());
    }
};

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Put);
int PMPI_Put(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
    return one_sided_call<Put>(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                               target_datatype, win);
}

TUTTI_FUNCTION(Get);
int PMPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             int target_count, MPI_Datatype target_datatype, MPI_Win win) {
    return one_sided_call<Get>(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                               target_datatype, win);
}

TUTTI_FUNCTION(Accumulate);
int PMPI_Accumulate(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    return one_sided_call<Accumulate>(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                      target_count, target_datatype, op, win);
}

TUTTI_FUNCTION(Get_accumulate);
int PMPI_Get_accumulate(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, void* result_addr,
                        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                        int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    return one_sided_call<GetAccumulate>(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                                         result_datatype, target_rank, target_disp, target_count, target_datatype, op,
                                         win);
}

TUTTI_FUNCTION(Fetch_and_op);
int PMPI_Fetch_and_op(void const* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
    return one_sided_call<FetchAndOp>(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
}

TUTTI_FUNCTION(Compare_and_swap);
int PMPI_Compare_and_swap(void const* origin_addr, void const* compare_addr, void* result_addr, MPI_Datatype datatype,
                          int target_rank, MPI_Aint target_disp, MPI_Win win) {
    return one_sided_call<CompareAndSwap>(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp,
                                          win);
}

TUTTI_FUNCTION(Rput);
int PMPI_Rput(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
    return one_sided_call<WithRequest<Put>>(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                            target_count, target_datatype, win, request);
}

TUTTI_FUNCTION(Rget);
int PMPI_Rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
              int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
    return one_sided_call<WithRequest<Get>>(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                            target_count, target_datatype, win, request);
}

TUTTI_FUNCTION(Raccumulate);
int PMPI_Raccumulate(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                     MPI_Request* request) {
    return one_sided_call<WithRequest<Accumulate>>(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                                   target_count, target_datatype, op, win, request);
}

TUTTI_FUNCTION(Rget_accumulate);
int PMPI_Rget_accumulate(void const* origin_addr, int origin_count, MPI_Datatype origin_datatype, void* result_addr,
                         int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                         int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
    return one_sided_call<WithRequest<GetAccumulate>>(origin_addr, origin_count, origin_datatype, result_addr,
                                                      result_count, result_datatype, target_rank, target_disp,
                                                      target_count, target_datatype, op, win, request);
}
