// SPDX-License-Identifier: BSD-3-Clause
// A function without a frame pointer has a stack frame of constant size; otherwise it could not find its return
// address. So at a given call site that return address is always at the same distance from the callee's frame, and
// one stack walk determines the distance.
#include "runtime/state/fortran_call_sites.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <link.h>
#include <unwind.h>

#include "runtime/base/error.hpp"

namespace tutti {

/// The call path from a call site in the Fortran library out to the program.
struct FortranCallSites::Path {
    /// A return address on the stack, `above` bytes above the MPI function's frame.
    struct Step {
        std::ptrdiff_t above;
        std::uintptr_t address;
    };
    static constexpr std::size_t max_steps = 3;   ///< from mpi_f08 to a C function to MPI

    std::uintptr_t site = 0;
    std::array<Step, max_steps> inside{};   ///< return addresses inside the library, checked at each use
    std::size_t steps = 0;
    std::ptrdiff_t program = 0;   ///< distance to the return address into the program; 0: unknown
};

namespace {

/// Returns true if `push %rbp; mov %rsp,%rbp` is among the function's first instructions: its frame may have any
/// size.
bool has_frame_pointer(void const* function) {
    static constexpr unsigned char pattern[] = {0x55, 0x48, 0x89, 0xe5};
    auto const* const code = static_cast<unsigned char const*>(function);
    return std::search(code, code + 12, std::begin(pattern), std::end(pattern)) != code + 12;
}

struct FrameWalk {
    std::uintptr_t site, begin, end;   ///< begin and end of the library
    std::uintptr_t frame;
    bool reached = false, usable = true;
    std::array<std::pair<std::ptrdiff_t, std::uintptr_t>, 4>
        found{};   ///< return addresses in the library, then the program's
    std::size_t count = 0;
};

/// Callback of the unwinder. A frame's return address, which leads to `address`, lies directly below the frame's
/// canonical address.
_Unwind_Reason_Code record_caller(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<FrameWalk*>(argument);
    std::uintptr_t const address = _Unwind_GetIP(context), above = _Unwind_GetCFA(context);
    bool const first = !walk.reached && address == walk.site && above == walk.frame;
    if (!walk.reached && !first) return _URC_NO_REASON;
    walk.reached = true;
    std::uintptr_t there;
    std::memcpy(&there, reinterpret_cast<void const*>(above - sizeof there), sizeof there);
    bool const inside = address >= walk.begin && address < walk.end;
    walk.usable = there == address && walk.count < walk.found.size() &&
                  !(inside && has_frame_pointer(reinterpret_cast<void const*>(_Unwind_GetRegionStart(context))));
    if (!walk.usable) return _URC_END_OF_STACK;
    if (!first) walk.found[walk.count++] = {static_cast<std::ptrdiff_t>(above - sizeof there - walk.frame), address};
    return inside ? _URC_NO_REASON : _URC_END_OF_STACK;
}

std::uintptr_t word_at(void const* frame, std::ptrdiff_t above) {
    std::uintptr_t word;
    std::memcpy(&word, static_cast<char const*>(frame) + above, sizeof word);
    return word;
}

}   // namespace

std::unique_ptr<FortranCallSites> FortranCallSites::find() {
    std::pair<std::uintptr_t, std::uintptr_t> code{};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* argument) {
            std::string_view const path = object->dlpi_name ? object->dlpi_name : "";
            std::string_view const name = path.substr(path.rfind('/') + 1);
            if (!name.starts_with("libmpichfort.") && !name.starts_with("libmpifort.")) return 0;
            auto& found = *static_cast<std::pair<std::uintptr_t, std::uintptr_t>*>(argument);
            for (int i = 0; i < object->dlpi_phnum; i++) {
                auto const& part = object->dlpi_phdr[i];
                if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
                found = {object->dlpi_addr + part.p_vaddr, object->dlpi_addr + part.p_vaddr + part.p_memsz};
            }
            return 1;
        },
        &code);
    if (code.first == code.second) return nullptr;
    return std::unique_ptr<FortranCallSites>(new FortranCallSites(code.first, code.second));
}

FortranCallSites::~FortranCallSites() {
    for (auto& path : paths_) delete path.load(std::memory_order_relaxed);
}

void const* FortranCallSites::program_site(void const* site, void const* frame) const {
    auto const address = reinterpret_cast<std::uintptr_t>(site);
    if (!in_library(address)) return site;
    Path const* path = nullptr;
    unless_out_of_memory([&] { return path = path_from(address, frame), true; });
    if (!path || path->program == 0) return site;
    for (std::size_t i = 0; i < path->steps; i++)
        if (word_at(frame, path->inside[i].above) != path->inside[i].address) return site;
    return reinterpret_cast<void const*>(word_at(frame, path->program));
}

FortranCallSites::Path const* FortranCallSites::path_from(std::uintptr_t site, void const* frame) const {
    std::size_t const first = slot_of(site);
    Path const* const known = paths_[first].load(std::memory_order_acquire);
    return known && known->site == site ? known : search_path(site, frame, first);
}

FortranCallSites::Path const* FortranCallSites::search_path(std::uintptr_t site, void const* frame,
                                                            std::size_t first) const {
    std::unique_ptr<Path> new_path;
    for (std::size_t i = 0; i < 8; i++) {
        std::atomic<Path const*>& slot = paths_[(first + i) % slots];
        Path const* known = slot.load(std::memory_order_acquire);
        if (!known) {
            if (!new_path) new_path = walk(site, frame);
            if (slot.compare_exchange_strong(known, new_path.get(), std::memory_order_acq_rel))
                return new_path.release();
        }
        if (known->site == site) return known;
    }
    return nullptr;
}

std::unique_ptr<FortranCallSites::Path> FortranCallSites::walk(std::uintptr_t site, void const* frame) const {
    auto path = std::make_unique<Path>();
    path->site = site;
    FrameWalk walk{site, begin_, end_, reinterpret_cast<std::uintptr_t>(frame)};
    _Unwind_Backtrace(record_caller, &walk);
    if (!walk.usable || walk.count == 0) return path;
    auto const [above, address] = walk.found[walk.count - 1];
    if (in_library(address)) return path;   // the stack ends in the library
    for (std::size_t i = 0; i + 1 < walk.count; i++) path->inside[i] = {walk.found[i].first, walk.found[i].second};
    path->steps = walk.count - 1;
    path->program = above;
    return path;
}

}   // namespace tutti
