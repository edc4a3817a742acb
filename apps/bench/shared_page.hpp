// SPDX-License-Identifier: BSD-3-Clause
// A barrier of the benchmark's own, over memory that all ranks of the node share: it is the same under every MPI, and
// it leaves the ranks much closer together in time than a barrier that is itself being measured.
// Each rank writes only its own line; lines count up. Needs all ranks on one node.
#pragma once

#include <atomic>
#include <mpi.h>

namespace bench {

class SharedPage {
public:
    explicit SharedPage(MPI_Comm comm); // collective
    ~SharedPage();
    SharedPage(const SharedPage &) = delete;
    SharedPage &operator=(const SharedPage &) = delete;

    void barrier();
    // What rank 0 says before a barrier is what all ranks read after it.
    void say(bool word) { lines_[0].word.store(word, std::memory_order_relaxed); }
    bool heard() const { return lines_[0].word.load(std::memory_order_relaxed); }

private:
    struct alignas(128) Line {
        std::atomic<long> arrived;
        std::atomic<bool> word;
    };

    int rank_, ranks_;
    bool crowded_; // more ranks than cores: give the core away while waiting
    Line *lines_;
    long count_ = 0;
};

} // namespace bench
