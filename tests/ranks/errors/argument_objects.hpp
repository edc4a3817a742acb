// SPDX-License-Identifier: BSD-3-Clause
// The objects whose handles arguments.cpp passes: objects that live as long as the test, new objects for functions that
// free them, and the freeing of objects that a call has made. All collectives are on communicators of one rank.
#pragma once

#include <vector>

#include "tests/ranks/check.h"

enum class Kind { comm, group, datatype, op, request, message, info, errhandler, win, keyval, cvar, pvar, session };

/// Frees whatever object a call stored in a handle; ignores errors, as the value may be invalid.
inline void end_request(MPI_Request r) {
    MPI_Grequest_complete(r);
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
}

inline void end_message(MPI_Message m) {
    static char room[1 << 16];
    if (m != MPI_MESSAGE_NULL) MPI_Mrecv(room, sizeof room, MPI_BYTE, &m, MPI_STATUS_IGNORE);
}

/// Makes a window of one rank with MPI_ERRORS_RETURN.
inline MPI_Win returning(MPI_Win win) {
    if (win != MPI_WIN_NULL) MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

inline void end_window(MPI_Win win) {
    if (returning(win) != MPI_WIN_NULL) MPI_Win_free(&win);
}

inline void end_object(Kind kind, int handle) {
    switch (kind) {
    case Kind::comm: MPI_Comm_free(&handle); break;
    case Kind::group: MPI_Group_free(&handle); break;
    case Kind::datatype: MPI_Type_free(&handle); break;
    case Kind::op: MPI_Op_free(&handle); break;
    case Kind::request: end_request(handle); break;
    case Kind::message: end_message(handle); break;
    case Kind::info: MPI_Info_free(&handle); break;
    case Kind::errhandler: MPI_Errhandler_free(&handle); break;
    case Kind::win: end_window(handle); break;
    case Kind::keyval:
        if (MPI_Comm_free_keyval(&handle) != MPI_SUCCESS && MPI_Type_free_keyval(&handle) != MPI_SUCCESS)
            MPI_Win_free_keyval(&handle);
        break;
    default: break;
    }
}

inline void do_nothing(void*, void*, int*, MPI_Datatype*) {}
inline void ignore_error(MPI_Comm*, int*, ...) {}
inline int answer_query(void*, MPI_Status* status) {
    status->MPI_SOURCE = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
inline int free_nothing(void*) { return MPI_SUCCESS; }
inline int cancel_nothing(void*, int) { return MPI_SUCCESS; }
inline int keep_attribute(MPI_Comm, int, void*, void*, void*) { return MPI_SUCCESS; }

inline MPI_Message fresh_message() {
    static char byte;
    int here = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Send(&byte, 1, MPI_CHAR, 0, 4711, MPI_COMM_SELF);
    MPI_Improbe(0, 4711, MPI_COMM_SELF, &here, &message, MPI_STATUS_IGNORE);
    return message;
}

/// A request that `number` selects: complete, pending, persistent, collective, or generalized.
inline MPI_Request fresh_request(unsigned number, bool may_wait) {
    static char bytes[64];
    MPI_Request r = MPI_REQUEST_NULL;
    switch (number % (may_wait ? 8 : 5)) {
    case 0: MPI_Isend(bytes, 1, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_SELF, &r); break;
    case 1: MPI_Ibarrier(MPI_COMM_SELF, &r); break;
    case 2: MPI_Recv_init(bytes, 1, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_SELF, &r); break;
    case 3: MPI_Allreduce_init(bytes, bytes + 32, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &r); break;
    case 4: break;
    case 5: MPI_Irecv(bytes, 1, MPI_CHAR, 0, 4712, MPI_COMM_SELF, &r); break;
    case 6: MPI_Issend(bytes, 1, MPI_CHAR, 0, 4713, MPI_COMM_SELF, &r); break;
    case 7: MPI_Grequest_start(answer_query, free_nothing, cancel_nothing, nullptr, &r); break;
    }
    return r;
}

inline constexpr int window_bytes = 1 << 16;

/// A window of the flavor that `number` selects.
inline MPI_Win fresh_window(unsigned number) {
    alignas(64) static char bytes[window_bytes];
    void* base;
    MPI_Win w = MPI_WIN_NULL;
    switch (number % 4) {
    case 0: MPI_Win_create(bytes, window_bytes, 1, MPI_INFO_NULL, MPI_COMM_SELF, &w); break;
    case 1: MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_SELF, &base, &w); break;
    case 2: MPI_Win_allocate_shared(window_bytes, 4, MPI_INFO_NULL, MPI_COMM_SELF, &base, &w); break;
    case 3: MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &w); break;
    }
    return returning(w);
}

/// Makes a new object of a kind, which the caller frees.
inline int fresh_object(Kind kind, unsigned number, bool may_wait = true) {
    int made = 0;
    switch (kind) {
    case Kind::comm: MPI_Comm_dup(MPI_COMM_SELF, &made); break;
    case Kind::group: MPI_Comm_group(MPI_COMM_WORLD, &made); break;
    case Kind::datatype: MPI_Type_vector(2, 1, 2, MPI_INT, &made); break;
    case Kind::op: MPI_Op_create(do_nothing, 1, &made); break;
    case Kind::request: made = fresh_request(number, may_wait); break;
    case Kind::message: made = fresh_message(); break;
    case Kind::info:
        MPI_Info_create(&made);
        MPI_Info_set(made, "key", "value");
        break;
    case Kind::errhandler: MPI_Comm_create_errhandler(ignore_error, &made); break;
    case Kind::win: made = fresh_window(number); break;
    case Kind::keyval:
        if (number % 3 == 2) MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &made, nullptr);
        else if (number % 3) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr);
        else MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &made, nullptr);
        break;
    default: break;
    }
    return made;
}

/// The handles of each kind that live as long as the test: most functions accept `fine` ones, some refuse `odd` ones,
/// and `wild` ones would access unmapped memory.
struct Handles {
    std::vector<int> fine, odd, wild;
};

inline Handles communicators() {
    int const dims[] = {1, 1}, periods[] = {1, 0}, index[] = {1}, edges[] = {0};
    Handles h{{MPI_COMM_SELF}, {}, {}};
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    h.fine.push_back(c);
    MPI_Cart_create(MPI_COMM_SELF, 2, dims, periods, 0, &c);
    h.fine.push_back(c);
    MPI_Graph_create(MPI_COMM_SELF, 1, index, edges, 0, &c);
    h.fine.push_back(c);
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, edges, MPI_UNWEIGHTED, 1, edges, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &c);
    h.fine.push_back(c);
    for (MPI_Comm made : h.fine) MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return h;
}

inline Handles datatypes() {
    Handles h{{MPI_INT, MPI_DOUBLE, MPI_BYTE, MPI_CHAR, MPI_LONG, MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_COMPLEX},
              {MPI_LB, MPI_UB},
              {}};
    auto add = [](std::vector<int>& to, MPI_Datatype made, bool commit) {
        if (commit) MPI_Type_commit(&made);
        to.push_back(made);
    };
    MPI_Datatype t;
    MPI_Type_contiguous(3, MPI_INT, &t), add(h.fine, t, true);
    MPI_Type_vector(2, 1, 3, MPI_SHORT, &t), add(h.fine, t, true);
    MPI_Type_create_resized(MPI_INT, -4, 16, &t), add(h.fine, t, true);
    MPI_Type_vector(2, 1, -3, MPI_INT, &t), add(h.fine, t, true);
    MPI_Type_contiguous(2, MPI_INT, &t), add(h.odd, t, false);
    MPI_Type_contiguous(0, MPI_INT, &t), add(h.odd, t, true);
    MPI_Type_create_resized(MPI_INT, 0, MPI_Aint{1} << 60, &t), add(h.wild, t, true);
    MPI_Type_contiguous(0x7fffffff, MPI_DOUBLE, &t), add(h.wild, t, true);
    MPI_Type_contiguous(0x3ffffff, t, &t), add(h.wild, t, true);
    return h;
}

inline Handles handles_of(Kind kind) {
    switch (kind) {
    case Kind::comm: return communicators();
    case Kind::datatype: return datatypes();
    case Kind::group: return {{MPI_GROUP_EMPTY, fresh_object(kind, 0)}, {}, {}};
    case Kind::op: return {{MPI_SUM, MPI_MAX, fresh_object(kind, 0)}, {MPI_MINLOC, MPI_REPLACE, MPI_NO_OP}, {}};
    case Kind::info: return {{fresh_object(kind, 0)}, {MPI_INFO_ENV, MPI_INFO_NULL}, {}};
    case Kind::errhandler: return {{MPI_ERRORS_RETURN, fresh_object(kind, 0)}, {}, {}};
    case Kind::win: return {{fresh_window(0), fresh_window(1), fresh_window(2)}, {}, {fresh_window(3)}};
    case Kind::keyval:
        return {{fresh_object(kind, 0), fresh_object(kind, 1), fresh_object(kind, 2)},
                {MPI_TAG_UB, MPI_WTIME_IS_GLOBAL, MPI_WIN_BASE, MPI_WIN_MODEL},
                {}};
    default: return {};
    }
}
