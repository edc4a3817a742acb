// SPDX-License-Identifier: BSD-3-Clause
// Completing requests: one, any, some or all of them (MPI 3.1, 3.7.3 to 3.7.5). Null handles and inactive persistent
// requests are ignored; where a status is returned for them, it is the empty status.
#include <algorithm>
#include <optional>
#include <utility>

#include "coll/call/request.hpp"
#include "mpi_h/entry/entry.hpp"
#include "mpi_h/p2p/generalized.hpp"
#include "mpi_h/p2p/request_handles.hpp"
#include "p2p/request.hpp"

namespace tutti {
namespace {

template <class Ready, class Requests>
void wait(Ready&& done, Requests const& requests) {
    waiter().wait_until([&] { return done() || (waiter().progress(), done()); }, requests.reason());
}

/// The error of a completed request, if it failed, after its handle was removed (or a persistent request made
/// inactive).
struct Outcome {
    std::optional<Error> error;
    Ref<Comm> comm;
    std::string description;   ///< description of the failed request
};

/// A message of MPI_Mprobe has a handle of the same kind, but only a receive may complete it.
void refuse_message(Request& r) {
    if (dynamic_cast<p2p::Message*>(&r))
        fail(ErrorClass::request, "request is a message of MPI_Mprobe or MPI_Improbe; receive it (MPI_Mrecv)");
}

/// Writes the status of a complete request; returns its error, if it failed.
std::optional<Error> complete_request(Request& r, MPI_Status* status) {
    if (r.needs_finalize) [[unlikely]] {
        if (GeneralizedRequest* g = generalized(&r)) return g->finish(status);
        r.status.ignored = status == MPI_STATUS_IGNORE;
        r.finalize();
    }
    abi::store(status, r.status);
    if (r.status.error == ErrorClass::success) [[likely]]
        return std::nullopt;
    refuse_message(r);
    return Error(r.status.error, r.error_text).with_call(r.error_peer, r.error_call);
}

/// Removes a request whose outcome was returned; a persistent one may be started again.
void remove_or_deactivate(MPI_Request& handle, Request& r) {
    if (r.persistent) return void(r.active = false);
    if (r.needs_finalize) record_freed(handle);
    library().tables.requests.remove(handle);
    handle = MPI_REQUEST_NULL;
}

Outcome complete_handle(MPI_Request& handle, MPI_Status* status) {
    Request* r = active(handle);
    if (!r) {
        store_empty(status);
        if (handle == MPI_REQUEST_NULL) return {};
        if (Request const* const inactive = library().tables.requests.find(handle)) {
            if (auto const* const message = dynamic_cast<p2p::HalfRequest const*>(inactive))
                p2p::engine(*library().process).unstarted.record_wait(*message);
            return {};
        }
        handle = MPI_REQUEST_NULL;   // checked before, so an earlier entry of the array has removed it
        return {Error(ErrorClass::request, "the handle appears twice in the array"), {}, "a completed request"};
    }
    Outcome outcome{complete_request(*r, status), r->comm, {}};
    if (outcome.error) outcome.description = description_of(*r);
    remove_or_deactivate(handle, *r);
    return outcome;
}

/// For calls that complete one request: writes its status, and passes its error to the error handler.
void complete_one(Call& call, MPI_Request& handle, MPI_Status* status) {
    Outcome outcome = complete_handle(handle, status);
    if (!outcome.error) return;
    throw RequestError(call, *outcome.error, std::move(outcome.comm), outcome.description);
}

/// For calls that complete several requests: collects statuses and keeps the first error.
class StatusCollector {
public:
    StatusCollector(Call& call, MPI_Status* statuses) : call_(call), statuses_(statuses) {}

    void add(MPI_Request& handle) {
        MPI_Status* status = statuses_ == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses_ + count_;
        ++count_;
        Outcome outcome = complete_handle(handle, status);
        if (!outcome.error) return set(status, MPI_SUCCESS);
        set(status, error_code(*outcome.error, join(call_.name(), ": ", outcome.error->what())));
        if (!first_error_.empty()) return;
        description_ = join("of which ", count_ - 1, ": ", outcome.description);
        comm_ = std::move(outcome.comm);
        first_error_ = join("request ", count_ - 1, " failed: ", outcome.error->what());
    }
    void finish() const {
        if (!first_error_.empty())
            throw RequestError(call_, Error(ErrorClass::in_status, first_error_), comm_, description_);
    }

private:
    static void set(MPI_Status* status, int code) {
        if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = code;
    }

    Call& call_;
    MPI_Status* statuses_;
    std::size_t count_ = 0;
    std::string first_error_;
    Ref<Comm> comm_;            ///< of that request
    std::string description_;   ///< its description
};

/// Searches for a complete request and takes the first one in the array, as programs expect. A later one is delayed as
/// long as earlier ones are always complete again; MPI_Waitsome and MPI_Testsome, which return all complete requests,
/// are fair (MPI 3.1, 3.7.5).
class Search {
public:
    explicit Search(Handles handles) : handles_(handles) {
        // Regularly makes progress for other requests, even if each call finds a complete one immediately.
        if (++library().searches % 16 == 0) waiter().progress();
    }

    /// Returns true if there is a complete request, or none to wait for.
    bool operator()() {
        some = false;
        for (std::size_t at = 0; at < handles_.size(); ++at) {
            Request* r = active(handles_[at]);
            if (!r) continue;
            some = true;
            if (r->complete) return found = static_cast<int>(at), true;
        }
        return found = MPI_UNDEFINED, !some;
    }

    int found = MPI_UNDEFINED;
    bool some = false;   ///< set if there is an active request

private:
    Handles handles_;
};

/// MPI_Waitsome and MPI_Testsome: completes every complete request. `*outcount`: their number, or MPI_UNDEFINED if
/// there is none to wait for. Inlined, because enter() records the return address of the MPI function.
[[gnu::always_inline]] inline int complete_some(Function function, bool waits, int incount, MPI_Request requests[],
                                                int* outcount, int indices[], MPI_Status* statuses) {
    return enter(function, args(incount, requests, outcount, indices, statuses), [&](Call& call) {
        call.pointer(outcount, "outcount");
        Handles const handles = checked(call, incount, requests, "incount");
        if (incount > 0) call.pointer(indices, "array_of_indices");
        call.statuses(incount, statuses);
        Search search(handles);
        if (waits) wait(search, AnyOf{call.name(), handles});
        else test(search, AnyOf{call.name(), handles});
        *outcount = search.some ? 0 : MPI_UNDEFINED;
        StatusCollector collector(call, statuses);
        for (std::size_t i = 0; i < handles.size(); ++i) {
            Request* r = active(handles[i]);
            if (!r || !r->complete) continue;
            indices[(*outcount)++] = static_cast<int>(i);
            collector.add(handles[i]);
        }
        collector.finish();
    });
}

/// Refuses MPI_Cancel and MPI_Request_free for collectives in flight (MPI 4.0, 6.12), because other ranks depend on
/// this rank.
void refuse_collective(Call& call, Request& r, char const* what) {
    if (!r.active || !dynamic_cast<coll::CollectiveRequest*>(&r)) return;
    if (r.comm) call.error_object = r.comm.get();
    fail(ErrorClass::request, "request belongs to a collective in flight, which cannot be ", what, "; complete it");
}

void start(Call& call, MPI_Request handle, char const* which) {
    Request& r = call.request(handle);
    call.error_object = r.comm ? r.comm.get() : call.error_object;
    if (!r.persistent) fail(ErrorClass::request, which, " is not persistent");
    if (r.active) fail(ErrorClass::request, which, " is already active; complete it first");
    r.start();
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Wait);
int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
    return enter(args(request, status), [&](Call& call) {
        call.pointer(request, "request");
        call.status(status);
        Request* r = active_in(call, *request);
        if (r && !r->complete) {
            auto const done = [r] { return r->complete || (r->advance(), r->complete); };
            if (!done()) waiter().wait_until(done, AllOf{call.name(), {request, 1}}.reason());
        }
        if (!r || !r->has_plain_outcome()) return complete_one(call, *request, status);
        abi::store(status, r->status);
        remove_or_deactivate(*request, *r);
    });
}

TUTTI_FUNCTION(Test);
int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    return enter(args(request, flag, status), [&](Call& call) {
        call.pointer(request, "request");
        call.pointer(flag, "flag");
        call.status(status);
        Request* r = active_in(call, *request);
        *flag = !r || test([r] { return r->complete; }, AllOf{call.name(), {request, 1}});
        if (*flag) complete_one(call, *request, status);
    });
}

TUTTI_FUNCTION(Waitall);
int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
    return enter(args(count, array_of_requests, array_of_statuses), [&](Call& call) {
        Handles handles = checked(call, count, array_of_requests);
        call.statuses(count, array_of_statuses);
        std::size_t done = 0;   // all requests before it are complete and remain so
        wait(
            [&] {
                while (done < handles.size() && ready(handles[done])) ++done;
                return done == handles.size();
            },
            AllOf{call.name(), handles});
        StatusCollector collector(call, array_of_statuses);
        for (MPI_Request& h : handles) collector.add(h);
        collector.finish();
    });
}

TUTTI_FUNCTION(Testall);
int PMPI_Testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses) {
    return enter(args(count, array_of_requests, flag, array_of_statuses), [&](Call& call) {
        call.pointer(flag, "flag");
        Handles handles = checked(call, count, array_of_requests);
        call.statuses(count, array_of_statuses);
        std::size_t done = 0;
        *flag = test(
            [&] {
                while (done < handles.size() && ready(handles[done])) ++done;
                return done == handles.size();
            },
            AllOf{call.name(), handles});
        if (!*flag) return;
        StatusCollector collector(call, array_of_statuses);
        for (MPI_Request& h : handles) collector.add(h);
        collector.finish();
    });
}

TUTTI_FUNCTION(Waitany);
int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status) {
    return enter(args(count, array_of_requests, indx, status), [&](Call& call) {
        call.pointer(indx, "index");
        Handles handles = checked(call, count, array_of_requests);
        call.status(status);
        Search search(handles);
        wait(search, AnyOf{call.name(), handles});
        *indx = search.found;
        if (*indx == MPI_UNDEFINED) store_empty(status);
        else complete_one(call, handles[static_cast<std::size_t>(*indx)], status);
    });
}

TUTTI_FUNCTION(Testany);
int PMPI_Testany(int count, MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
    return enter(args(count, array_of_requests, indx, flag, status), [&](Call& call) {
        call.pointer(indx, "index");
        call.pointer(flag, "flag");
        Handles handles = checked(call, count, array_of_requests);
        call.status(status);
        Search search(handles);
        *flag = test(search, AnyOf{call.name(), handles});
        *indx = search.found;
        if (!*flag) return;
        if (*indx == MPI_UNDEFINED) store_empty(status);
        else complete_one(call, handles[static_cast<std::size_t>(*indx)], status);
    });
}

TUTTI_FUNCTION(Waitsome);
int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                  MPI_Status* array_of_statuses) {
    return complete_some("MPI_Waitsome", true, incount, array_of_requests, outcount, array_of_indices,
                         array_of_statuses);
}

TUTTI_FUNCTION(Testsome);
int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                  MPI_Status* array_of_statuses) {
    return complete_some("MPI_Testsome", false, incount, array_of_requests, outcount, array_of_indices,
                         array_of_statuses);
}

TUTTI_FUNCTION(Request_free);
int PMPI_Request_free(MPI_Request* request) {
    return enter(args(request), [&](Call& call) {
        call.pointer(request, "request");
        Request& r = call.request(*request);
        refuse_message(r);
        refuse_collective(call, r, "freed");
        MPI_Request handle = std::exchange(*request, MPI_REQUEST_NULL);
        GeneralizedRequest* g = generalized(&r);
        if (!g && r.needs_finalize) r.abandon(), record_freed(handle);
        if (!g) return library().tables.requests.remove(handle);
        if (g->complete) destroy_completed(*g, handle);
        else g->freed = true, g->active = false;   // no call has to wait for it
    });
}

TUTTI_FUNCTION(Cancel);
int PMPI_Cancel(MPI_Request* request) {
    return enter(args(request), [&](Call& call) {
        call.pointer(request, "request");
        Request& r = call.request(*request);
        call.error_object = r.comm ? r.comm.get() : call.error_object;
        if (!r.active) fail(ErrorClass::request, "request is persistent and not active (MPI_Start)");
        refuse_message(r);
        refuse_collective(call, r, "cancelled");
        r.cancel();
    });
}

TUTTI_FUNCTION(Test_cancelled);
int PMPI_Test_cancelled(const MPI_Status* status, int* flag) {
    return enter(args(status, flag), [&](Call& call) {
        call.pointer(status, "status");
        call.pointer(flag, "flag");
        *flag = abi::status_cancelled(*status);
    });
}

TUTTI_FUNCTION(Start);
int PMPI_Start(MPI_Request* request) {
    return enter(args(request), [&](Call& call) {
        call.pointer(request, "request");
        start(call, *request, "request");
    });
}

TUTTI_FUNCTION(Startall);
int PMPI_Startall(int count, MPI_Request array_of_requests[]) {
    return enter(args(count, array_of_requests), [&](Call& call) {
        Handles handles = checked(call, count, array_of_requests);
        for (std::size_t i = 0; i < handles.size(); ++i) start(call, handles[i], join("request ", i).c_str());
    });
}
