// SPDX-License-Identifier: BSD-3-Clause
// madvise for blocks of the arena. Blocks are shared memory, for which the kernel handles advice differently than for
// private memory, but programs, allocators and language runtimes expect private memory.
#include <cerrno>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/memory/address_window.hpp"
#include "runtime/memory/arena/arena.hpp"

namespace tutti::arena {
namespace {

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

int system_madvise(std::uintptr_t first, std::size_t bytes, int advice) {
    return static_cast<int>(syscall(SYS_madvise, first, bytes, advice));
}

}   // namespace

int Arena::advise(void* memory, std::size_t bytes, int advice) {
    auto const first = reinterpret_cast<std::uintptr_t>(memory);
    std::size_t const page = system_page_ * page_bytes, whole = (bytes + page - 1) / page * page;
    std::uintptr_t const last = first + whole, window_end = base_ + bytes_;
    if (first % page != 0 || whole < bytes || last < first) return errno = EINVAL, -1;
    if (first < base_ || last > window_end) {   // the parts outside the window are passed to the system
        int found = first < base_ ? system_madvise(first, base_ - first, advice) : 0;
        std::uintptr_t const from = first < base_ ? base_ : first, to = last > window_end ? window_end : last;
        if (found == 0) found = advise(reinterpret_cast<void*>(from), to - from, advice);
        return found == 0 && last > window_end ? system_madvise(window_end, last - window_end, advice) : found;
    }
    switch (advice) {
    case MADV_DONTNEED:
    case MADV_DONTNEED_LOCKED:
    case MADV_FREE: return zero(first, whole);
    case MADV_WIPEONFORK: return wipe_in_children(first, whole);
    case MADV_KEEPONFORK: forget_wiped(first, whole); return 0;
    default: return system_madvise(first, whole, advice);
    }
}

/// Makes a range read as zero, as private memory does after such advice. A hole in the file has this effect for peers
/// as well; a child has no file.
int Arena::zero(std::uintptr_t first, std::size_t bytes) {
    if (bytes == 0) return 0;
    if (state() == State::open) return system_madvise(first, bytes, MADV_REMOVE);
    return map_anonymous_at(reinterpret_cast<void*>(first), bytes) ? 0 : -1;
}

int Arena::wipe_in_children(std::uintptr_t first, std::size_t bytes) {
    forget_wiped(first, bytes);
    Locked lock(children_mutex_);
    if (bytes == 0) return 0;
    if (wiped_count_ == max_wiped) return lock.set_error(ENOMEM), -1;
    wiped_[wiped_count_] = {first, first + bytes};
    __atomic_store_n(&wiped_count_, wiped_count_ + 1, __ATOMIC_RELEASE);
    return 0;
}

void Arena::forget_wiped(std::uintptr_t first, std::size_t bytes) {
    if (__atomic_load_n(&wiped_count_, __ATOMIC_ACQUIRE) == 0) return;
    Locked lock(children_mutex_);
    std::uintptr_t const end = first + bytes;
    for (int i = 0; i < wiped_count_; ++i) {
        Wiped& one = wiped_[i];
        if (one.end <= first || one.first >= end) continue;
        Wiped const front{one.first, first}, back{end, one.end};
        bool const has_front = front.first < front.end, has_back = back.first < back.end;
        if (has_front && has_back) {
            // Without room for both parts, the front part is no longer wiped, which loses no data.
            one = back;
            if (wiped_count_ < max_wiped) wiped_[wiped_count_++] = front;
        } else if (has_front || has_back) {
            one = has_front ? front : back;
        } else {
            one = wiped_[--wiped_count_];
            --i;
        }
    }
}

/// Zeroes the recorded ranges. Called in a child.
bool Arena::wipe() {
    for (int i = 0; i < wiped_count_; ++i)
        if (!map_anonymous_at(reinterpret_cast<void*>(wiped_[i].first), wiped_[i].end - wiped_[i].first)) return false;
    return true;
}

}   // namespace tutti::arena
