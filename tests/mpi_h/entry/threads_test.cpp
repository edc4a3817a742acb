// SPDX-License-Identifier: BSD-3-Clause
// Tests which threads may call MPI at each thread level, and which calls may run at the same time.
#include "mpi_h/entry/usage_checks.hpp"

#include <thread>

#include <gtest/gtest.h>
#include <pthread.h>

#include "mpi_h/include/mpi.h"

namespace tutti {
namespace {

struct JobEnded {};

class CallsOfThreads : public testing::Test {
protected:
    CallsOfThreads() : segment_(Segment::create(1)), process_(segment_, 0, {}) {
        process_.end_job = [](int, std::string const&) { throw JobEnded(); };
    }
    ThreadCheck at(int level) { return ThreadCheck(process_, level, static_cast<std::uint64_t>(pthread_self())); }
    /// Returns true if a call from another thread ends the job.
    static bool refused(ThreadCheck& check) {
        bool ended = false;
        std::thread([&] {
            try {
                check.enter("MPI_Send", nullptr);
                check.leave();
            } catch (JobEnded const&) { ended = true; }
        }).join();
        return ended;
    }

    Segment segment_;
    Process process_;
};

TEST_F(CallsOfThreads, MustComeFromTheMainThreadBelowSerialized) {
    testing::internal::CaptureStderr();
    for (int level : {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED}) {
        ThreadCheck check = at(level);
        check.enter("MPI_Recv", nullptr);
        check.leave();
        EXPECT_TRUE(refused(check)) << level;
        EXPECT_STREQ(process_.rank_state().diagnostic.error.code, "T18");
    }
    testing::internal::GetCapturedStderr();
}

TEST_F(CallsOfThreads, MustNotOverlapIfSerialized) {
    testing::internal::CaptureStderr();
    ThreadCheck check = at(MPI_THREAD_SERIALIZED);
    EXPECT_FALSE(refused(check));
    check.enter("MPI_Recv", nullptr);
    check.enter("MPI_Comm_rank", nullptr);   // a callback that calls MPI
    check.leave();
    EXPECT_TRUE(refused(check));
    check.leave();
    EXPECT_FALSE(refused(check));
    testing::internal::GetCapturedStderr();
}

}   // namespace
}   // namespace tutti
