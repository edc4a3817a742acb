// SPDX-License-Identifier: BSD-3-Clause
// Whether the last forked child still has the memory that it got from its parent: it has neither ended nor started
// another program. The mark is a file in memory that the child has mapped, and with it the child's own children; its
// parent only holds the descriptor. The system refuses to seal a file against writing as long as a writable mapping of
// it exists, whichever process has that, so nothing must be left by a child that dies, and descriptors that a child
// closes do not matter. Where there is no mark, for whatever reason, the child counts as ended. Not locked; no
// allocation, no exceptions.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/memory_file.hpp"
#include "runtime/memory/map_window.hpp"

namespace tutti::arena {

class LastChild {
public:
    constexpr LastChild() = default;
    LastChild(LastChild const&) = delete;
    LastChild& operator=(LastChild const&) = delete;

    /// Must not be called between mark() and left_to_child().
    bool lives() const {
        if (!marked() || fcntl(file_.descriptor, F_ADD_SEALS, F_SEAL_WRITE) == 0) return false;
        return errno == EBUSY;
    }
    /// Makes the mark of the next child and forgets that of the last one. To be followed by left_to_child() in the
    /// parent, also where the fork has failed, and by taken_by_child() in the child.
    void mark() {
        forget();
        int const made = make_memory_file("tutti-child", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (made < 0) return;
        file_ = memory_file(put_aside(made));
        ::close(made);
        // Nothing is ever read or written there, so the file may be empty.
        void* const mapped =
            marked() ? mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.descriptor, 0) : MAP_FAILED;
        if (mapped == MAP_FAILED) return forget();
        mapping_ = mapped;
    }
    void left_to_child() {
        if (mapping_) munmap(mapping_, page_bytes);
        mapping_ = nullptr;
    }
    /// The mapping stays to the end of the process.
    void taken_by_child() {
        if (file_.inode != 0) ::close(file_.descriptor);
        file_ = {};
        mapping_ = nullptr;
    }
    /// The program may have closed the descriptor, whose number may mean another file by now.
    bool marked() const { return file_.inode != 0 && memory_file(file_.descriptor) == file_; }
    void forget() {
        left_to_child();
        if (marked()) ::close(file_.descriptor);
        file_ = {};
    }

private:
    static constexpr std::size_t page_bytes = 4096;   // of which the system makes a page of its own
    MemoryFile file_;
    void* mapping_ = nullptr;
};

}   // namespace tutti::arena
