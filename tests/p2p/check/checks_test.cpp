// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point checks (--check): errors that they report, and correct programs that they do not affect.
#include "p2p/check/checks.hpp"

#include <algorithm>

#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

struct JobEnded {};

Variables full_diagnosis() {
    Variables v = shared_wait();
    v.diagnosis = "full";
    return v;
}

class Checked : public OnEveryLayout {
protected:
    static void run(unsigned ranks, std::function<void(Rank&)> const& body) {
        test::run(ranks, body, full_diagnosis(), GetParam());
    }
};
INSTANTIATE_TEST_SUITE_P(Layouts, Checked, every_layout, layout_name);

/// Returns the diagnosis code of the error that ends the job in `body`; empty: none.
std::string error_in(Rank& r, std::function<void()> const& body) {
    r.process.end_job = [](int, std::string const&) { throw JobEnded(); };
    testing::internal::CaptureStderr();
    std::string code;
    try {
        body();
    } catch (JobEnded const&) { code = r.process.rank_state().diagnostic.error.code; }
    testing::internal::GetCapturedStderr();
    return code;
}

Ref<Request> isend_ints(Rank& r, std::vector<int> const& v, int dest, int tag, Mode mode = Mode::standard) {
    static Ref<Datatype> const type = TypeBuilder::predefined(Basic::int32);
    return p2p::isend(*r.comm, v.data(), static_cast<std::int64_t>(v.size()), *type, dest, tag, mode);
}
Ref<Request> irecv_ints(Rank& r, std::vector<int>& v, int source, int tag) {
    static Ref<Datatype> const type = TypeBuilder::predefined(Basic::int32);
    return p2p::irecv(*r.comm, v.data(), static_cast<std::int64_t>(v.size()), *type, source, tag);
}

/// An inline message, an eager one, an offered one.
std::vector<std::size_t> const checked_sizes = {1, 1000, 50'000};

TEST_P(Checked, StandardSendsWaitForTheirReceives) {
    run(2, [](Rank& r) {
        if (r.me() == 0) {
            std::vector<int> const v = {1};
            auto request = isend_ints(r, v, 1, 3);
            r.process.waiter.progress();
            EXPECT_FALSE(request->complete);
            r.barrier();
            r.wait(*request);
            request->finalize();
        } else {
            r.barrier();
            EXPECT_EQ(r.recv(1, 0, 3), std::vector<int>{1});
        }
    });
}

TEST_P(Checked, MessagesAreInTheirBuffersAtCompletion) {
    run(2, [](Rank& r) {
        for (std::size_t n : checked_sizes) {
            std::vector<int> in(n + 1, -1);
            auto const out = numbers(n, r.me());
            auto receive = irecv_ints(r, in, 1 - r.me(), 3);
            auto send = isend_ints(r, out, 1 - r.me(), 3);
            r.wait(*receive);
            r.wait(*send);
            EXPECT_TRUE(receive->needs_finalize && send->needs_finalize);
            receive->finalize();
            send->finalize();
            auto expected = numbers(n, 1 - r.me());
            expected.push_back(-1);
            EXPECT_EQ(in, expected);
        }
    });
}

TEST_P(Checked, AbandonedReceivesGetTheirMessages) {
    run(2, [](Rank& r) {
        for (std::size_t n : checked_sizes) {
            std::vector<int> in(n, -1);
            if (r.me() == 0) {
                auto receive = irecv_ints(r, in, 1, 3);
                receive->abandon();
                receive = {};
                r.recv(1, 1, 4);
                EXPECT_EQ(in, numbers(n, 1));
            } else {
                r.send(numbers(n, 1), 0, 3);
                r.send({0}, 0, 4);
            }
        }
    });
}

TEST(CheckedBuffers, MustNotChangeDuringASend) {
    run(
        1,
        [](Rank& r) {
            std::vector<int> out = {1, 2, 3};
            auto send = isend_ints(r, out, 0, 1);
            out[2] = 4;
            EXPECT_EQ(r.recv(3, 0, 1).size(), 3u);
            EXPECT_TRUE(send->complete);
            EXPECT_EQ(error_in(r, [&] { send->finalize(); }), "T10");
        },
        full_diagnosis());
}

TEST(CheckedBuffers, MustNotBeWrittenDuringAReceive) {
    run(
        1,
        [](Rank& r) {
            std::vector<int> in(3);
            auto receive = irecv_ints(r, in, 0, 1);
            in[1] = 4;
            EXPECT_EQ(error_in(r, [&] { r.send({1, 2, 3}, 0, 1); }), "T11");
        },
        full_diagnosis());
}

TEST(CheckedBuffers, MustBelongToOneReceiveAtATime) {
    run(
        1,
        [](Rank& r) {
            std::vector<int> in(3);
            auto receive = irecv_ints(r, in, 0, 1);
            Receive other;
            other.data = Data::of_bytes(in.data() + 2, sizeof(int));
            other.key = {r.comm->context, 0, 2};
            Checks& checks = *engine(r.process).checks();
            EXPECT_EQ(error_in(r, [&] { checks.on_receive(other); }), "T11");
            EXPECT_EQ(error_in(r, [&] { isend_ints(r, in, 0, 3); }), "T11");
            r.send({1, 2, 3}, 0, 1);
            receive->finalize();
            EXPECT_EQ(error_in(r, [&] { checks.on_receive(other); }), "");
            EXPECT_EQ(in, (std::vector<int>{1, 2, 3}));
        },
        full_diagnosis());
}

/// The checks of an operation with several buffers, whose result arrives in the memory to which it is redirected.
class CheckedOperation {
public:
    CheckedOperation(Rank& r, std::vector<int> const& out, std::vector<int>& in)
        : checks_(*engine(r.process).checks()),
          buffers_(OperationBuffers::Kind::collective, "a communicator", {Data::of_bytes(out.data(), 4 * out.size())},
                   {Data::of_bytes(in.data(), 4 * in.size())}),
          result_(reinterpret_cast<int*>(reinterpret_cast<std::byte*>(in.data()) + buffers_.redirect_receives())) {
        checks_.on_begin(buffers_);
    }
    void arrives(int value) {
        result_[0] = value;
        checks_.on_arrived(buffers_);
    }
    void complete() { checks_.before_completion(buffers_); }
    ~CheckedOperation() { checks_.release(buffers_); }

private:
    Checks& checks_;
    OperationBuffers buffers_;
    int* const result_;
};

TEST(CheckedOperations, StoreTheirResultsInTheProgramsMemory) {
    run(
        1,
        [](Rank& r) {
            std::vector<int> out = {1, 2}, in = {3, 4};
            for (int i = 0; i < 2; ++i) {
                CheckedOperation operation(r, out, in);
                operation.arrives(5 + i);
                EXPECT_EQ(in, (std::vector<int>{5 + i, 4}));
                EXPECT_EQ(error_in(r, [&] { operation.complete(); }), "");
                out[0] = in[1] = 4;
                EXPECT_EQ(error_in(r, [&] { operation.complete(); }), "");
            }
        },
        full_diagnosis());
}

TEST(CheckedOperations, MustNotShareTheirBuffers) {
    run(
        1,
        [](Rank& r) {
            std::vector<int> out = {1, 2}, in = {3, 4}, other = {5, 6};
            CheckedOperation operation(r, out, in);
            EXPECT_EQ(error_in(r, [&] { CheckedOperation(r, out, other); }), "");
            EXPECT_EQ(error_in(r, [&] { CheckedOperation(r, in, other); }), "T11");
            EXPECT_EQ(error_in(r, [&] { CheckedOperation(r, other, out); }), "T11");
            EXPECT_EQ(error_in(r, [&] { isend_ints(r, in, 0, 3); }), "T11");
            in[1] = 7;
            EXPECT_EQ(error_in(r, [&] { operation.arrives(1); }), "T11");
            in[1] = 4;
            operation.arrives(1);
            in[0] = 2;
            EXPECT_EQ(error_in(r, [&] { operation.complete(); }), "T11");
            in[0] = 1;
            out[1] = 3;
            EXPECT_EQ(error_in(r, [&] { operation.complete(); }), "T10");
        },
        full_diagnosis());
}

TEST(CheckedSends, ToSelfNeedAReceive) {
    run(
        1, [](Rank& r) { EXPECT_EQ(error_in(r, [&] { r.send({1}, 0, 1); }), "T01"); }, full_diagnosis());
}

}   // namespace
}   // namespace tutti::p2p::test
