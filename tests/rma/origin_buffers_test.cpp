// SPDX-License-Identifier: BSD-3-Clause
// Tests the checks of origin buffers in one-sided operations (--check).
#include "rma/local_accesses.hpp"

#include <array>

#include "p2p/engine.hpp"
#include "tests/p2p/world.hpp"

namespace tutti::rma {
namespace {

struct JobEnded {};

class CheckedOrigin : public testing::Test {
protected:
    static void run(std::function<void(p2p::test::Rank&, OriginBuffers&)> const& body) {
        Variables v = p2p::test::shared_wait();
        v.diagnosis = "full";
        p2p::test::run(
            1,
            [&](p2p::test::Rank& r) {
                OriginBuffers origins(r.process);
                body(r, origins);
            },
            v);
    }
    static std::string mistake_in(p2p::test::Rank& r, std::function<void()> const& body) {
        r.process.end_job = [](int, std::string const&) { throw JobEnded(); };
        testing::internal::CaptureStderr();
        std::string code;
        try {
            body();
        } catch (JobEnded const&) { code = r.process.rank_state().diagnostic.error.code; }
        testing::internal::GetCapturedStderr();
        return code;
    }
    static Local ints(void const* buffer, int n) {
        static Ref<Datatype> const type = TypeBuilder::predefined(Basic::int32);
        return Local::of(buffer, n, *type);
    }
};

TEST_F(CheckedOrigin, MustNotChangeBeforeItIsComplete) {
    run([](auto& r, OriginBuffers& origins) {
        std::array<int, 3> x = {1, 2, 3};
        origins.begin("w", 0, {ints(x.data(), 3)}, nullptr, false);
        x[2] = 4;
        EXPECT_EQ(mistake_in(r, [&] { origins.complete(1); }), "");
        EXPECT_EQ(mistake_in(r, [&] { origins.complete(0); }), "T10");
        x[2] = 3;
        origins.complete(0);
        x[2] = 4;
        EXPECT_EQ(mistake_in(r, [&] { origins.complete(-1); }), "");
    });
}

TEST_F(CheckedOrigin, GetsItsResultWhenItIsComplete) {
    run([](auto& r, OriginBuffers& origins) {
        std::array<int, 2> x = {1, 2};
        Local result = ints(x.data(), 1);
        auto const operation = origins.begin("w", 0, {}, &result, false);
        ASSERT_NE(result.buffer, x.data());
        *static_cast<int*>(result.buffer) = 7;
        EXPECT_EQ(x[0], 1);
        origins.complete(*operation);
        EXPECT_EQ(x, (std::array<int, 2>{7, 2}));
        x[0] = 8;
        EXPECT_EQ(mistake_in(r, [&] { origins.complete(-1); }), "");
        EXPECT_EQ(x[0], 8);
    });
}

TEST_F(CheckedOrigin, ResultsOfAccumulatesMayShareMemory) {
    run([](auto& r, OriginBuffers& origins) {
        int x = 0;
        Local first = ints(&x, 1), second = ints(&x, 1);
        origins.begin("w", 0, {}, &first, true);
        origins.begin("w", 0, {}, &second, true);
        *static_cast<int*>(first.buffer) = 1;
        *static_cast<int*>(second.buffer) = 2;
        EXPECT_EQ(mistake_in(r, [&] { origins.begin("w", 0, {ints(&x, 1)}, nullptr, false); }), "T11");
        EXPECT_EQ(mistake_in(r, [&] { origins.complete(0); }), "");
        EXPECT_EQ(x, 2);
    });
}

}   // namespace
}   // namespace tutti::rma
