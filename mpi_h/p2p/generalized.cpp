// SPDX-License-Identifier: BSD-3-Clause
// MPI_Grequest_*, and the functions with which callbacks set statuses (MPI 3.1, 12.2 and 12.3).
#include "mpi_h/p2p/generalized.hpp"

#include "mpi_h/entry/entry.hpp"

namespace tutti {
namespace {

// Types of the callbacks in Fortran.
using FortranQuery = void(void* extra_state, MPI_Status* status, MPI_Fint* code);
using FortranFree = void(void* extra_state, MPI_Fint* code);
using FortranCancel = void(void* extra_state, MPI_Fint* complete, MPI_Fint* code);

template <class Fortran, class C, class... Arguments>
int call_fortran(C* function, Arguments... arguments) {
    MPI_Fint code = MPI_SUCCESS;
    // Intermediate type, through which a cast between function types is allowed.
    auto* any = reinterpret_cast<void (*)()>(function);
    reinterpret_cast<Fortran*>(any)(arguments..., &code);
    return code;
}

void check(int code, char const* callback) {
    if (code != MPI_SUCCESS) throw Error(code, join("its ", callback, " returned ", code));
}

[[gnu::always_inline]] inline int set_elements(MPI_Status* status, MPI_Datatype datatype, MPI_Count count,
                                               Function function = __builtin_FUNCTION()) {
    return enter(function, args(status, datatype, count), [&](Call& call) {
        call.pointer(status, "status");
        Datatype& type = call.any_type(datatype);
        call.count(count);
        std::int64_t bytes = type.bytes_of_elements(count);
        if (bytes < 0) fail(ErrorClass::count, "count is ", count, ", too many for a datatype of size ", type.size());
        abi::set_status_bytes(*status, static_cast<std::size_t>(bytes));
    });
}

}   // namespace

GeneralizedRequest::GeneralizedRequest(MPI_Grequest_query_function* query, MPI_Grequest_free_function* release,
                                       MPI_Grequest_cancel_function* cancel, void* extra_state)
    : query_(query), release_(release), cancel_(cancel), extra_(extra_state) {
    generalized = needs_finalize = true;
}

void GeneralizedRequest::query(MPI_Status* status) {
    MPI_Status unused;
    if (status == MPI_STATUS_IGNORE) status = &unused;
    abi::store(status, {});   // for fields that the callback does not set
    check(fortran ? call_fortran<FortranQuery>(query_, extra_, status) : query_(extra_, status), "query_fn");
}

void GeneralizedRequest::release() {
    check(fortran ? call_fortran<FortranFree>(release_, extra_) : release_(extra_), "free_fn");
}

void GeneralizedRequest::cancel() {
    MPI_Fint done = complete;
    check(fortran ? call_fortran<FortranCancel>(cancel_, extra_, &done) : cancel_(extra_, complete), "cancel_fn");
}

std::optional<Error> GeneralizedRequest::finish(MPI_Status* status) {
    std::optional<Error> failed;
    try {
        query(status);
    } catch (Error const& error) { failed = error; }
    try {
        release();
    } catch (Error const& error) { failed = error; }
    return failed;
}

void destroy_completed(GeneralizedRequest& request, MPI_Request handle) {
    auto kept = Ref<Request>::share(&request);
    library().tables.requests.remove(handle);
    request.release();
}

GeneralizedRequest* generalized(Request* request) {
    return request && request->generalized ? static_cast<GeneralizedRequest*>(request) : nullptr;
}

}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Grequest_start);
int PMPI_Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                        MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request) {
    return enter(args(query_fn, free_fn, cancel_fn, extra_state, request), [&](Call& call) {
        call.callback(query_fn, "query_fn");
        call.callback(free_fn, "free_fn");
        call.callback(cancel_fn, "cancel_fn");
        call.pointer(request, "request");
        *request = library().tables.requests.add(new GeneralizedRequest(query_fn, free_fn, cancel_fn, extra_state));
    });
}

TUTTI_FUNCTION(Grequest_complete);
int PMPI_Grequest_complete(MPI_Request request) {
    return enter(args(request), [&](Call& call) {
        GeneralizedRequest* r = generalized(&call.request(request));
        if (!r) fail(ErrorClass::request, "request is not a generalized request (MPI_Grequest_start)");
        if (r->complete) fail(ErrorClass::request, "request is already complete");
        r->complete = true;
        if (!r->freed) return library().process->waiter.wake_own_threads();
        destroy_completed(*r, request);
    });
}

TUTTI_FUNCTION(Status_set_elements);
int PMPI_Status_set_elements(MPI_Status* status, MPI_Datatype datatype, int count) {
    return set_elements(status, datatype, count);
}

TUTTI_FUNCTION(Status_set_elements_x);
int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
    return set_elements(status, datatype, count);
}

TUTTI_FUNCTION(Status_set_cancelled);
int PMPI_Status_set_cancelled(MPI_Status* status, int flag) {
    return enter(args(status, flag), [&](Call& call) {
        call.pointer(status, "status");
        abi::set_status_cancelled(*status, flag != 0);
    });
}
