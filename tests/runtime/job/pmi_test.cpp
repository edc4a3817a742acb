// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads, and a server that speaks PMI 1.1 or 2.0 as the published descriptions of both have it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/job/join_job.hpp"

namespace tutti {
namespace {

std::string message_of(auto&& call) {
    try {
        call();
    } catch (Error const& error) { return error.what(); }
    return "";
}

struct ServerSettings {
    int version = 1;
    int longest_value = 1024;
    std::string mapping = "(vector,(0,1,64))";   ///< empty: the server does not know it
    bool by_port = false;                        ///< PMI_PORT instead of PMI_FD
    bool fails_barriers = false;
};

/// One thread per rank answers its commands.
class PmiServer {
public:
    PmiServer(int size, ServerSettings settings) : settings_(std::move(settings)), size_(size), barrier_(size) {
        for (int rank = 0; rank < size; ++rank) connect_rank(rank);
    }
    ~PmiServer() {
        for (std::thread& thread : threads_) thread.join();
        for (int descriptor : descriptors_) close(descriptor);
    }

    PmiPlace place(int rank) const { return places_[static_cast<std::size_t>(rank)]; }
    std::vector<std::string> aborts() {
        std::lock_guard const lock(mutex_);
        return aborts_;
    }
    int longest_seen() const { return longest_seen_; }
    std::size_t longest_line() const { return longest_line_; }   ///< with its end

private:
    void connect_rank(int rank) {
        PmiPlace place{.job = "job7", .rank = rank, .size = size_};
        if (settings_.by_port) {
            int const listener = socket(AF_INET, SOCK_STREAM, 0);
            sockaddr_in address{};
            address.sin_family = AF_INET;
            address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            socklen_t length = sizeof address;
            auto* const generic = reinterpret_cast<sockaddr*>(&address);
            if (bind(listener, generic, length) || listen(listener, 1) || getsockname(listener, generic, &length))
                std::abort();
            place.port = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
            place.id = std::to_string(100 + rank);
            place.rank = place.size = -1;   // the server states them
            threads_.emplace_back([this, rank, listener] {
                int const descriptor = accept(listener, nullptr, nullptr);
                close(listener);
                serve(rank, descriptor);
                close(descriptor);
            });
        } else {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) std::abort();
            place.descriptor = pair[0];
            descriptors_.push_back(pair[1]);
            threads_.emplace_back([this, rank, descriptor = pair[1]] { serve(rank, descriptor); });
        }
        places_.push_back(place);
    }

    static std::string field(std::string const& message, std::string const& name, char end) {
        std::size_t const at = message.find(name + "=");
        if (at == std::string::npos) return "";
        std::size_t const from = at + name.size() + 1;
        return message.substr(from, message.find(end, from) - from);
    }

    /// Reads a line, or what follows six digits.
    static bool receive(int descriptor, bool framed, std::string& message) {
        message.clear();
        std::size_t wanted = framed ? 6 : 0;
        while (true) {
            char c;
            if (read(descriptor, &c, 1) != 1) return false;
            if (!framed && c == '\n') return true;
            message += c;
            if (!framed || message.size() < wanted) continue;
            if (wanted != 6) return true;
            wanted = 6 + static_cast<std::size_t>(std::stoi(message));
            framed = true;
            if (message.size() == wanted) return true;
            std::string rest(wanted - 6, '\0');
            for (std::size_t got = 0; got < rest.size();) {
                ssize_t const n = read(descriptor, rest.data() + got, rest.size() - got);
                if (n <= 0) return false;
                got += static_cast<std::size_t>(n);
            }
            message = rest;
            return true;
        }
    }

    void reply(int descriptor, bool framed, std::string text) const {
        if (framed) {
            char length[7];
            std::snprintf(length, sizeof length, "%6zu", text.size());
            text = length + text;
        } else {
            text += '\n';
        }
        // in two parts, as a network may deliver it
        std::size_t const half = text.size() / 2;
        if (write(descriptor, text.data(), half) < 0 || write(descriptor, text.data() + half, text.size() - half) < 0)
            return;
    }

    void serve(int rank, int descriptor) {
        bool framed = false;
        for (std::string message; receive(descriptor, framed, message);) {
            char const end = framed ? ';' : ' ';
            std::string const command = field(message, "cmd", end);
            std::string const key = field(message, "key", end), value = field(message, "value", end);
            if (!framed) {
                std::lock_guard const lock(mutex_);
                longest_line_ = std::max(longest_line_, message.size() + 1);
            }
            auto const say = [&](std::string const& text) { reply(descriptor, framed, text); };
            if (command == "initack") {
                EXPECT_EQ(field(message, "pmiid", ' '), std::to_string(100 + rank));
                say("cmd=initack rc=0");
                say("cmd=set size=" + std::to_string(size_));
                say("cmd=set rank=" + std::to_string(rank));
                say("cmd=set debug=0");
            } else if (command == "init") {
                bool const fits = field(message, "pmi_version", ' ') == std::to_string(settings_.version);
                say("cmd=response_to_init pmi_version=" + std::to_string(settings_.version) +
                    " pmi_subversion=" + (settings_.version == 1 ? "1" : "0") + " rc=" + (fits ? "0" : "-1"));
                framed = fits && settings_.version == 2;
            } else if (command == "fullinit") {
                EXPECT_EQ(field(message, "pmijobid", ';'), "job7");
                say("cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=" + field(message, "pmirank", ';') +
                    ";size=" + std::to_string(size_) + ";appnum=0;rc=0;");
            } else if (command == "get_maxes") {
                say("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=" + std::to_string(settings_.longest_value));
            } else if (command == "get_my_kvsname") {
                say("cmd=my_kvsname kvsname=space_1");
            } else if (command == "put" || command == "kvs-put") {
                std::lock_guard const lock(mutex_);
                longest_seen_ = std::max(longest_seen_, static_cast<int>(value.size()));
                bool const is_new = values_.emplace(key, value).second;
                std::string const result = is_new ? "0" : "-1";
                say(framed ? "cmd=kvs-put-response;rc=" + result + ";errmsg=twice;"
                           : "cmd=put_result rc=" + result + " msg=twice");
            } else if (command == "barrier_in" || command == "kvs-fence") {
                barrier_.arrive_and_wait();
                std::string const result = settings_.fails_barriers ? "-1" : "0";
                say(framed ? "cmd=kvs-fence-response;rc=" + result + ";" : "cmd=barrier_out rc=" + result);
            } else if (command == "get" || command == "kvs-get" || command == "info-getjobattr") {
                std::lock_guard const lock(mutex_);
                auto const at = values_.find(key);
                std::string found = at == values_.end() ? "" : at->second;
                if (key == "PMI_process_mapping") found = settings_.mapping;
                bool const is_there = !found.empty();
                if (framed)
                    say("cmd=" + command + "-response;rc=0;found=" + (is_there ? "TRUE" : "FALSE") + ";value=" + found +
                        ";");
                else
                    say(is_there ? "cmd=get_result rc=0 msg=success value=" + found
                                 : "cmd=get_result rc=-1 msg=unknown");
            } else if (command == "abort") {
                std::lock_guard const lock(mutex_);
                aborts_.push_back(message);
            } else if (command == "finalize") {
                say(framed ? "cmd=finalize-response;rc=0;" : "cmd=finalize_ack rc=0");
                return;
            } else {
                ADD_FAILURE() << "an unknown command: " << message;
                return;
            }
        }
    }

    ServerSettings const settings_;
    int const size_;
    std::barrier<> barrier_;
    std::mutex mutex_;
    std::map<std::string, std::string> values_;
    std::vector<std::string> aborts_;
    int longest_seen_ = 0;
    std::size_t longest_line_ = 0;
    std::vector<PmiPlace> places_;
    std::vector<int> descriptors_;
    std::vector<std::thread> threads_;
};

/// Runs `rank(server, number)` on each rank.
template <class Rank>
void run_ranks(PmiServer& server, int size, Rank rank) {
    std::vector<std::thread> threads;
    for (int r = 0; r < size; ++r)
        threads.emplace_back([&, r] {
            auto const job = connect_pmi(server.place(r));
            rank(*job, r);
            job->finish();
        });
    for (std::thread& thread : threads) thread.join();
}

class PmiVersions : public testing::TestWithParam<ServerSettings> {};

TEST_P(PmiVersions, RanksExchangeValuesOfAnyBytesAndLength) {
    constexpr int size = 3;
    PmiServer server(size, GetParam());
    auto const value_of = [](int rank) {
        std::string value =
            "a b=c;d\n" + std::string(1, '\0') + std::string(static_cast<std::size_t>(rank) * 5000, 'x');
        for (int i = 0; i < 256; ++i) value += static_cast<char>(i);
        return value;
    };
    run_ranks(server, size, [&](JobServer& job, int r) {
        EXPECT_EQ(job.rank(), r);
        EXPECT_EQ(job.size(), size);
        job.put(JobServer::Scope::job, "key", value_of(r));
        job.put(JobServer::Scope::node, "other", "1");
        job.exchange();
        for (int peer = 0; peer < size; ++peer) EXPECT_EQ(job.get(peer, "key"), value_of(peer));
        EXPECT_EQ(job.get(r, "other"), "1");
        EXPECT_THAT(message_of([&] { job.get(0, "absent"); }), testing::HasSubstr("rank 0 has not put the key absent"));
        job.put(JobServer::Scope::job, "late", std::to_string(r));
        job.exchange();
        EXPECT_EQ(job.get((r + 1) % size, "late"), std::to_string((r + 1) % size));
    });
    EXPECT_LT(server.longest_seen(), GetParam().longest_value);
    EXPECT_LT(server.longest_line(), 1024u) << "Slurm reads no more at a time";
}

INSTANTIATE_TEST_SUITE_P(All, PmiVersions,
                         testing::Values(ServerSettings{}, ServerSettings{.longest_value = 80},
                                         ServerSettings{.by_port = true}, ServerSettings{.version = 2},
                                         ServerSettings{.mapping = ""}, ServerSettings{.version = 2, .mapping = ""}));

TEST(Pmi, TheRanksOfANodeAreThoseOfTheServersMap) {
    constexpr int size = 5;
    for (int version : {1, 2}) {
        PmiServer server(size, {.version = version, .mapping = "(vector,(0,2,2),(0,1,1))"});
        run_ranks(server, size, [&](JobServer& job, int r) {
            if (r == 2 || r == 3) EXPECT_THAT(job.local_ranks(), testing::ElementsAre(2, 3));
            else EXPECT_THAT(job.local_ranks(), testing::ElementsAre(0, 1, 4));
        });
    }
}

TEST(Pmi, WithoutAMapTheRanksOfAHostFindEachOther) {
    PmiServer server(3, {.mapping = "none"});
    run_ranks(server, 3, [&](JobServer& job, int) { EXPECT_THAT(job.local_ranks(), testing::ElementsAre(0, 1, 2)); });
}

TEST(Pmi, AnAbortReachesTheServer) {
    for (int version : {1, 2}) {
        PmiServer server(1, {.version = version});
        run_ranks(server, 1, [&](JobServer& job, int) { job.abort(7, "no; reason\nat all"); });
        ASSERT_EQ(server.aborts().size(), 1u);
        EXPECT_THAT(server.aborts()[0], testing::HasSubstr(version == 1 ? "exitcode=7" : "msg=no  reason at all"));
    }
}

TEST(Pmi, AFailedBarrierIsAnError) {
    for (int version : {1, 2}) {
        PmiServer server(2, {.version = version, .fails_barriers = true});
        run_ranks(server, 2, [&](JobServer& job, int) {
            EXPECT_THAT(message_of([&] { job.exchange(); }), testing::HasSubstr("the server refuses it"));
        });
    }
}

TEST(Pmi, AServerThatDoesNotAnswerIsAnError) {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    PmiPlace const place{.descriptor = pair[0], .rank = 0, .size = 2, .patience = std::chrono::seconds(1)};
    EXPECT_THAT(message_of([&] { connect_pmi(place); }),
                testing::HasSubstr("has not answered within 1 s (TUTTI_START"));
    close(pair[1]);
}

TEST(Pmi, AServerThatEndsOrAnswersNonsenseIsAnError) {
    for (std::string const answer : {"", "nonsense\n", "cmd=response_to_init rc=0\ncmd=other\n"}) {
        int pair[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        ASSERT_EQ(write(pair[1], answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
        shutdown(pair[1], SHUT_WR);
        EXPECT_NE(message_of([&] { connect_pmi({.descriptor = pair[0], .rank = 0, .size = 2}); }), "") << answer;
        close(pair[1]);
    }
    EXPECT_THAT(message_of([] { connect_pmi({.port = "127.0.0.1:1", .id = "0"}); }),
                testing::HasSubstr("PMI_PORT=127.0.0.1:1: Connection refused"));
    EXPECT_THAT(message_of([] { connect_pmi({.port = "nowhere", .id = "0"}); }), testing::HasSubstr("has no port"));
}

}   // namespace
}   // namespace tutti
