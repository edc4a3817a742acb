// SPDX-License-Identifier: BSD-3-Clause
// A transport that wraps another one forwards every call that it does not observe, also those with a default in
// Transport; and under --check a receive that finds no memory leaves its message in the queue.
#include "p2p/observed_transport.hpp"

#include <new>

#include "tests/coll/world/allocations.hpp"
#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

/// Records the calls and returns values that differ from the defaults of Transport.
struct Recorder final : Transport {
    explicit Recorder(std::vector<std::string>& into) : calls(into) {}
    template <class T>
    T called(char const* name, T result) const {
        calls.emplace_back(name);
        return result;
    }

    bool reaches(int) const override { return called("reaches", true); }
    bool try_send_small(int, Key const&, Data const&) override { return called("try_send_small", true); }
    SmallReceive try_receive_small(int, Key const&, Data const&, Status&, int) override {
        return called("try_receive_small", SmallReceive::received);
    }
    void begin(Send&) override { calls.emplace_back("begin"); }
    void cancel(Send&) override { calls.emplace_back("cancel"); }
    void reserve(Unexpected const&) override { calls.emplace_back("reserve"); }
    void receive_unexpected(Receive&, Unexpected&) override { calls.emplace_back("receive_unexpected"); }
    void announce(Receive&) noexcept override { calls.emplace_back("announce"); }
    bool withdraw(Receive&) noexcept override { return called("withdraw", false); }
    bool needs_polling() const override { return called("needs_polling", false); }
    bool poll() override { return called("poll", true); }
    bool poll_from(int) override { return called("poll_from", true); }
    int polls_in_a_row() const override { return called("polls_in_a_row", 3); }
    bool idle() const override { return called("idle", true); }
    void start_shutdown() override { calls.emplace_back("start_shutdown"); }
    bool is_shut_down() const override { return called("is_shut_down", false); }
    void add_open_peers(std::vector<int>& ranks) const override { ranks.push_back(called("add_open_peers", 5)); }
    void close() override { calls.emplace_back("close"); }
    void count_bytes(Segment const&, NetworkBytes&) const override { calls.emplace_back("count_bytes"); }

    std::vector<std::string>& calls;
};

TEST(ObservedTransport, ForwardsEveryCallOfTheLibrary) {
    Variables variables = shared_wait();
    variables.diagnosis = "full";
    World world(1, Layout::one_node, variables);
    Process& process = world.all[0]->process;
    std::vector<std::string> calls;
    CheckedTransport checked(std::make_unique<Recorder>(calls), *engine(process).checks());
    Transport& t = checked;
    Key const key{service_context, 0, 1};
    Data const data = Data::of_bytes(nullptr, 0);
    Send send;
    send.key = key;
    Receive receive;
    Unexpected message;
    Status status;
    std::vector<int> ranks;
    NetworkBytes bytes{};
    EXPECT_TRUE(t.reaches(0));
    EXPECT_TRUE(t.try_send_small(0, key, data));
    EXPECT_EQ(t.try_receive_small(0, key, data, status, 1), Transport::SmallReceive::received);
    t.begin(send);
    t.cancel(send);
    t.reserve(message);
    t.receive_unexpected(receive, message);
    t.announce(receive);
    EXPECT_FALSE(t.withdraw(receive));
    EXPECT_FALSE(t.needs_polling());
    EXPECT_TRUE(t.poll());
    EXPECT_TRUE(t.poll_from(0));
    EXPECT_EQ(t.polls_in_a_row(), 3);
    EXPECT_TRUE(t.idle());
    t.start_shutdown();
    EXPECT_FALSE(t.is_shut_down());
    t.add_open_peers(ranks);
    EXPECT_EQ(ranks, std::vector{5});
    t.close();
    t.count_bytes(process.segment, bytes);
    EXPECT_EQ(calls, (std::vector<std::string>{"reaches", "try_send_small", "try_receive_small", "begin", "cancel",
                                               "reserve", "receive_unexpected", "announce", "withdraw", "needs_polling",
                                               "poll", "poll_from", "polls_in_a_row", "idle", "start_shutdown",
                                               "is_shut_down", "add_open_peers", "close", "count_bytes"}));
}

/// Several offered messages of another node are received before any answer is sent. For each, allocations fail after 0,
/// 1, 2, … successes until its receive begins. A message that left the queue without being received would be lost.
TEST(ObservedTransport, AReceiveUnderCheckThatFindsNoMemoryLeavesItsMessageInTheQueue) {
    Variables variables = shared_wait();
    variables.diagnosis = "full";
    run(
        2,
        [](Rank& r) {
            constexpr int messages = 20;
            auto const type = TypeBuilder::predefined(Basic::int32);
            std::vector<int> const sent = numbers(100'000, 1);
            std::vector<Ref<Request>> requests(messages);
            std::vector<std::vector<int>> got(messages, std::vector<int>(sent.size()));
            if (r.me() == 1)
                for (int i = 0; i < messages; ++i)
                    requests[static_cast<std::size_t>(i)] =
                        isend(*r.comm, sent.data(), 100'000, *type, 0, i, Mode::standard);
            Status status;
            while (r.me() == 0 && !iprobe(*r.comm, 1, messages - 1, status)) {}
            for (int i = 0; r.me() == 0 && i < messages; ++i) {
                auto& request = requests[static_cast<std::size_t>(i)];
                for (std::size_t allowed = 0; !request; ++allowed) {
                    try {
                        coll::test::AllocationLimit const ends(allowed);
                        request = irecv(*r.comm, got[static_cast<std::size_t>(i)].data(), 100'000, *type, 1, i);
                    } catch (std::bad_alloc const&) {}
                    if (!request && !engine(r.process).find({r.comm->context, 1, i}))
                        throw std::logic_error("the message is lost");
                }
            }
            for (auto& request : requests) r.wait(*request);
            for (std::size_t i = 0; r.me() == 0 && i < got.size(); ++i) EXPECT_EQ(got[i], sent) << "message " << i;
        },
        variables, Layout::alternating);
}

}   // namespace
}   // namespace tutti::p2p::test
