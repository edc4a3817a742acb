// SPDX-License-Identifier: BSD-3-Clause
// Detects whether the last forked child still has the memory that it got from its parent, that is, has neither ended
// nor started another program. The mark is a memory file that the child has mapped, and with it the child's own
// children; the parent only holds the descriptor. The system refuses to seal a file against writing as long as any
// process has a writable mapping of it, so a dying child need not clean up, and descriptors that a child closes do
// not matter. Without a mark, for whatever reason, the child counts as ended. Not locked; no allocation, no
// exceptions.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/memory_file.hpp"
#include "runtime/memory/address_window.hpp"

namespace tutti::arena {

class LastChild {
public:
    constexpr LastChild() = default;
    LastChild(LastChild const&) = delete;
    LastChild& operator=(LastChild const&) = delete;

    /// Must not be called between mark() and detach_in_parent().
    bool is_alive() const {
        if (!marked() || fcntl(file_.descriptor, F_ADD_SEALS, F_SEAL_WRITE) == 0) return false;
        return errno == EBUSY;
    }
    /// Creates the mark of the next child and forgets that of the last one. The parent must call detach_in_parent()
    /// next, also if the fork has failed, and the child adopt_in_child().
    void mark() {
        drop_mark();
        int const made = create_memory_file("tutti-child", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (made < 0) return;
        file_ = memory_file(duplicate_high(made));
        ::close(made);
        // The file may be empty, because the mapping is never read or written.
        void* const mapped =
            marked() ? mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.descriptor, 0) : MAP_FAILED;
        if (mapped == MAP_FAILED) return drop_mark();
        mapping_ = mapped;
    }
    void detach_in_parent() {
        if (mapping_) munmap(mapping_, page_bytes);
        mapping_ = nullptr;
    }
    /// The mapping stays until the end of the process.
    void adopt_in_child() {
        if (file_.inode != 0) ::close(file_.descriptor);
        file_ = {};
        mapping_ = nullptr;
    }
    /// Returns true if the mark exists. The program may have closed the descriptor, whose number may denote another
    /// file.
    bool marked() const { return file_.inode != 0 && memory_file(file_.descriptor) == file_; }
    void drop_mark() {
        detach_in_parent();
        if (marked()) ::close(file_.descriptor);
        file_ = {};
    }

private:
    static constexpr std::size_t page_bytes = 4096;   // rounded up by the system to a page of its own
    MemoryFile file_;
    void* mapping_ = nullptr;
};

}   // namespace tutti::arena
