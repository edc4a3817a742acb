// SPDX-License-Identifier: BSD-3-Clause
// Inquiry of requests without completing them: one, any, some or all (MPI 3.1, 3.7.6; MPI 4.1, 3.7.6). A failed request
// keeps its error for the call that completes it; before that, only the statuses of several requests contain it, in
// MPI_ERROR.
#include "mpi_h/p2p/generalized.hpp"
#include "mpi_h/p2p/request_handles.hpp"

namespace tutti {
namespace {

/// Writes the status of a complete request; null: the empty status of a null or inactive request.
void write_status(Request* r, MPI_Status* status) {
    if (!r) return store_empty(status);
    if (GeneralizedRequest* g = generalized(r)) return g->query(status);
    if (r->needs_finalize) {
        r->status.ignored = status == MPI_STATUS_IGNORE;
        r->finalize();
    }
    abi::store(status, r->status);
}

/// For calls on several requests: statuses with their errors.
class Statuses {
public:
    Statuses(Call& call, MPI_Status* statuses) : call_(call), statuses_(statuses) {}

    void add(Request* r) {
        MPI_Status* status = statuses_ == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses_ + count_;
        ++count_;
        write_status(r, status);
        bool const failed = r && r->status.error != ErrorClass::success;
        int const code = failed ? error_code({r->status.error, r->error_text}, join(call_.name(), ": ", r->error_text))
                                : MPI_SUCCESS;
        if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = code;
    }

private:
    Call& call_;
    MPI_Status* statuses_;
    std::size_t count_ = 0;
};

/// Returns the index of the first complete request, or MPI_UNDEFINED. `any`: set to whether there are active requests.
int first_complete(ConstHandles handles, bool& any) {
    any = false;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        Request const* r = active(handles[i]);
        if (r && r->complete) return any = true, static_cast<int>(i);
        any |= r != nullptr;
    }
    return MPI_UNDEFINED;
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Request_get_status);
int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    return enter(args(request, flag, status), [&](Call& call) {
        call.pointer(flag, "flag");
        call.status(status);
        Request* r = active_in(call, request);
        *flag = !r || test([r] { return r->complete; }, AllOf{call.name(), {&request, 1}});
        if (*flag) write_status(r, status);
    });
}

TUTTI_FUNCTION(Request_get_status_all);
int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int* flag,
                                MPI_Status* array_of_statuses) {
    return enter(args(count, array_of_requests, flag, array_of_statuses), [&](Call& call) {
        call.pointer(flag, "flag");
        ConstHandles handles = checked(call, count, array_of_requests);
        call.statuses(count, array_of_statuses);
        std::size_t done = 0;   // all requests before it are complete and remain so
        *flag = test(
            [&] {
                while (done < handles.size() && ready(handles[done])) ++done;
                return done == handles.size();
            },
            AllOf{call.name(), handles});
        if (!*flag) return;
        Statuses statuses(call, array_of_statuses);
        for (MPI_Request h : handles) statuses.add(active(h));
    });
}

TUTTI_FUNCTION(Request_get_status_any);
int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int* indx, int* flag,
                                MPI_Status* status) {
    return enter(args(count, array_of_requests, indx, flag, status), [&](Call& call) {
        call.pointer(indx, "index");
        call.pointer(flag, "flag");
        ConstHandles handles = checked(call, count, array_of_requests);
        call.status(status);
        bool any = false;
        *flag = test(
            [&] {
                *indx = first_complete(handles, any);
                return *indx != MPI_UNDEFINED || !any;
            },
            AnyOf{call.name(), handles});
        if (*flag)
            write_status(*indx == MPI_UNDEFINED ? nullptr : active(handles[static_cast<std::size_t>(*indx)]), status);
    });
}

TUTTI_FUNCTION(Request_get_status_some);
int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount,
                                 int array_of_indices[], MPI_Status* array_of_statuses) {
    return enter(args(incount, array_of_requests, outcount, array_of_indices, array_of_statuses), [&](Call& call) {
        call.pointer(outcount, "outcount");
        ConstHandles handles = checked(call, incount, array_of_requests, "incount");
        if (incount > 0) call.pointer(array_of_indices, "array_of_indices");
        call.statuses(incount, array_of_statuses);
        bool any = false;
        test([&] { return first_complete(handles, any) != MPI_UNDEFINED || !any; }, AnyOf{call.name(), handles});
        *outcount = any ? 0 : MPI_UNDEFINED;
        Statuses statuses(call, array_of_statuses);
        for (std::size_t i = 0; i < handles.size(); ++i) {
            Request* r = active(handles[i]);
            if (!r || !r->complete) continue;
            array_of_indices[(*outcount)++] = static_cast<int>(i);
            statuses.add(r);
        }
    });
}
