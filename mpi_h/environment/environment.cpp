// SPDX-License-Identifier: BSD-3-Clause
// Initialization, finalization and inquiries (MPI 3.1, 8.1, 8.6 and 8.7; threads: 12.4.3); memory (8.2).
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "mpi_h/entry/entry.hpp"
#include "mpi_h/entry/library_state.hpp"
#include "runtime/job/interfaces.hpp"
#include "runtime/memory/address_window.hpp"
#include "runtime/memory/arena/arena.hpp"

namespace tutti {
namespace {

/// `site`: return address of the call.
template <class... Arguments>
int initialise(CallArguments<Arguments...> const& arguments, int required, int* provided, void const* site,
               Function function = __builtin_FUNCTION()) {
    return enter<When::any_time>(function, arguments, [&](Call& call) {
        LibraryState& f = library();
        call.pointer(provided, "provided");
        if (f.stage == Stage::forked_child) abort_not_running(function, arguments.values());
        if (f.stage == Stage::running)
            throw Error(ErrorClass::other, "MPI has been initialised already")
                .with_help("call MPI_Init or MPI_Init_thread only once; MPI_Initialized returns whether it was called");
        if (f.stage == Stage::after_finalize)
            throw Error(ErrorClass::other, "MPI has been finalised and cannot be started again")
                .with_help("MPI_Finalize must be the last MPI call; MPI_Finalized returns whether it was called");
        if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)
            fail(ErrorClass::arg, "required is ", required, ", which is not a thread level");
        start(f, required);
        f.process->call_site = site;
        f.process->call_function = function;
        *provided = f.thread_level;
    });
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Init);
int PMPI_Init(int*, char***) {
    int provided;
    return initialise(args(), MPI_THREAD_SINGLE, &provided, __builtin_return_address(0));
}

TUTTI_FUNCTION(Init_thread);
int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return initialise(args(argc, argv, required, provided), required, provided, __builtin_return_address(0));
}

TUTTI_FUNCTION(Initialized);
int PMPI_Initialized(int* flag) {
    return enter<When::any_time>(args(flag), [&](Call& call) {
        call.pointer(flag, "flag");
        *flag = library().stage != Stage::before_init;
    });
}

TUTTI_FUNCTION(Finalize);
int PMPI_Finalize() {
    return enter(args(), [](Call&) { finish(library()); });
}

/// Also true in a process forked by a rank: code that cleans up at the end of every process must not call MPI there.
TUTTI_FUNCTION(Finalized);
int PMPI_Finalized(int* flag) {
    return enter<When::any_time>(args(flag), [&](Call& call) {
        call.pointer(flag, "flag");
        Stage const stage = library().stage;
        *flag = stage == Stage::after_finalize || stage == Stage::forked_child;
    });
}

TUTTI_FUNCTION(Query_thread);
int PMPI_Query_thread(int* provided) {
    return enter(args(provided), [&](Call& call) {
        call.pointer(provided, "provided");
        *provided = library().thread_level;
    });
}

TUTTI_FUNCTION(Is_thread_main);
int PMPI_Is_thread_main(int* flag) {
    return enter(args(flag), [&](Call& call) {
        call.pointer(flag, "flag");
        *flag = library().main_thread == static_cast<std::uint64_t>(pthread_self());
    });
}

TUTTI_FUNCTION(Abort);
int PMPI_Abort(MPI_Comm comm, int code) {
    if (library().stage != Stage::running) abort_not_running("MPI_Abort", args(comm, code).values());
    abort_job(code, [comm, code] {
        std::string const message = join("the program called MPI_Abort with code ", code);
        return AbortReport{code, message, "MPI_Abort", describe_call("MPI_Abort", args(comm, code).values())};
    });
}

TUTTI_FUNCTION(Pcontrol);
int PMPI_Pcontrol(const int level, ...) {
    return enter(args(level), [](Call&) {});   // profiling tools replace this function
}

TUTTI_FUNCTION(Get_version);
int PMPI_Get_version(int* version, int* subversion) {
    return enter<When::any_time>(args(version, subversion), [&](Call& call) {
        call.pointer(version, "version");
        call.pointer(subversion, "subversion");
        *version = MPI_VERSION;
        *subversion = MPI_SUBVERSION;
    });
}

TUTTI_FUNCTION(Get_library_version);
int PMPI_Get_library_version(char* version, int* length) {
    return enter<When::any_time>(args(version, length), [&](Call& call) {
        call.pointer(version, "version");
        call.pointer(length, "resultlen");
        // Programs parse "NAME Version: x.y.z" in the first line.
        std::string text = "Tutti Version: " TUTTI_VERSION "\nTutti ABI: MPICH (libmpi.so.12)\n";
        *length = copy_text(text, version, MPI_MAX_LIBRARY_VERSION_STRING);
    });
}

TUTTI_FUNCTION(Get_processor_name);
int PMPI_Get_processor_name(char* name, int* length) {
    return enter(args(name, length), [&](Call& call) {
        call.pointer(name, "name");
        call.pointer(length, "resultlen");
        // On several nodes, use the names of the launcher's map, which are distinct even if host names are not.
        Cluster const& cluster = library().process->cluster;
        *length = copy_text(cluster.is_single_node() ? host_name() : cluster.node(cluster.this_node()).name, name,
                            MPI_MAX_PROCESSOR_NAME);
    });
}

TUTTI_FUNCTION(Wtime);
double PMPI_Wtime() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TUTTI_FUNCTION(Wtick);
double PMPI_Wtick() {
    timespec tick;
    clock_getres(CLOCK_MONOTONIC, &tick);
    return static_cast<double>(tick.tv_sec) + 1e-9 * static_cast<double>(tick.tv_nsec);
}

// Memory for the program (MPI 3.1, 8.2).

using namespace tutti;
using arena::Arena;

namespace {
constexpr std::size_t alignment = 64;   // a cache line, and sufficient for every vector instruction

/// Records the block for the report of MPI_Finalize.
void record_allocation(LibraryState& f, void const* memory, std::size_t bytes) {
    if (f.process->variables.diagnosis == "full") f.allocated[memory] = {bytes, f.process->call_site};
}

}   // namespace

TUTTI_FUNCTION(Alloc_mem);
int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
    return enter(args(size, info, baseptr), [&](Call& call) {
        if (size < 0) fail(ErrorClass::arg, "size is ", size, " but must be at least 0");
        if (info != MPI_INFO_NULL) call.info(info);
        call.pointer(baseptr, "baseptr");
        // Always from the arena, independent of the size and of the program's allocator, because the memory is meant
        // for communication.
        auto const bytes = static_cast<std::size_t>(size);
        std::size_t const page = bytes < huge_page_bytes ? arena::page_bytes : huge_page_bytes;
        void* memory = tutti_arena()->arena->allocate(bytes, page);
        if (!memory && posix_memalign(&memory, alignment, bytes) != 0)
            fail(ErrorClass::no_mem, "cannot allocate ", size, " bytes");
        *static_cast<void**>(baseptr) = memory;
        record_allocation(call.library_state(), memory, bytes);
    });
}

TUTTI_FUNCTION(Free_mem);
int PMPI_Free_mem(void* base) {
    return enter(args(base), [&](Call& call) {
        if (base) call.pointer(base, "base", ErrorClass::base);
        call.library_state().allocated.erase(base);
        if (Arena* arena = tutti_arena()->arena; arena->contains(base)) arena->release(base);
        else std::free(base);
    });
}
