// SPDX-License-Identifier: BSD-3-Clause
// Memory that a program asks MPI for (MPI 3.1, 8.2).
#include <cstdlib>

#include "mpi_h/entry/entry.hpp"
#include "runtime/memory/arena/access.hpp"
#include "runtime/memory/map_window.hpp"

using namespace tutti;
using arena::Arena;

namespace {
constexpr std::size_t alignment = 64;   // a cache line, and enough for every vector instruction

/// For what is left over in MPI_Finalize.
void note_allocated(LibraryState& f, void const* memory, std::size_t bytes) {
    if (f.process->variables.diagnosis == "full") f.allocated[memory] = {bytes, f.process->call_site};
}

}   // namespace

TUTTI_FUNCTION(Alloc_mem)
int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
    return enter("MPI_Alloc_mem", given(size, info, baseptr), [&](Call& call) {
        if (size < 0) fail(ErrorClass::arg, "size is ", size, " but must be at least 0");
        if (info != MPI_INFO_NULL) call.info(info);
        call.pointer(baseptr, "baseptr");
        // From the arena whatever its size and whoever is the program's allocator: it is asked for to be communicated.
        auto const bytes = static_cast<std::size_t>(size);
        std::size_t const page = bytes < huge_page_bytes ? arena::page_bytes : huge_page_bytes;
        void* memory = tutti_arena()->arena->allocate(bytes, page);
        if (!memory && posix_memalign(&memory, alignment, bytes) != 0)
            fail(ErrorClass::no_mem, "the system does not give ", size, " bytes");
        *static_cast<void**>(baseptr) = memory;
        note_allocated(call.library_state(), memory, bytes);
    });
}

TUTTI_FUNCTION(Free_mem)
int PMPI_Free_mem(void* base) {
    return enter("MPI_Free_mem", given(base), [&](Call& call) {
        if (base) call.pointer(base, "base");
        call.library_state().allocated.erase(base);
        if (Arena* arena = tutti_arena()->arena; arena->holds(base)) arena->release(base);
        else std::free(base);
    });
}
