// SPDX-License-Identifier: BSD-3-Clause
// Writes a rank's trace. All methods must be called with the rank's lock held. Only the constructor throws: an event
// whose strings or communicator cannot be stored for lack of memory is dropped.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/base/function.hpp"
#include "runtime/state/trace.hpp"

namespace tutti {

class Tracer {
public:
    /// `trace` must be zeroed except for its capacity, and stay valid as long as the tracer.
    explicit Tracer(Trace& trace);

    /// Records that a call of `function` begins in this thread; `site` is its return address.
    void enter(Function function, void const* site);
    /// Records that this thread's innermost open call has ended.
    void leave();
    /// Adds waiting time to this thread's open call.
    void waited(std::int64_t nanoseconds);

    /// Returns the time of an event at the beginning of a call. As long as nothing has happened in the call, that
    /// is the beginning of the call itself, close enough to save a clock read.
    std::int64_t begin_time();
    /// Records that a message to a rank of the world was sent at time `when` (now_ns()). Context, source (rank in the
    /// communicator) and tag are those of the message.
    void sent(std::int64_t when, std::uint64_t context, int source, int tag, int world_dest, std::size_t bytes);
    /// Records that a message was matched with its receive. `receive_first`: the receive was posted before the
    /// message arrived.
    void received(std::uint64_t context, int source, int tag, std::size_t bytes, bool receive_first);
    /// Records the beginning of a collective operation. `describe_operation()` returns its description with the
    /// algorithm, such as "bcast|numa+node|pipelined_chain"; it must be the same for equal `key`, a pointer that is
    /// valid as long as the process.
    template <class Describe>
    void collective(std::uint64_t context, int root, std::size_t bytes, void const* key,
                    Describe const& describe_operation) {
        unless_out_of_memory([&] {
            Text const text = text_of(key, [&] { return Text{new_text(describe_operation()), false}; });
            return begin_collective(context, root, bytes, text.number), true;
        });
    }
    /// Records a new communicator or a new name of a known one. `members`: world ranks, by rank.
    void communicator(std::uint64_t context, int rank, std::span<int const> members, std::string_view name);

private:
    struct Text {
        std::uint16_t number;
        bool local;   ///< a call that neither communicates nor waits: not traced
    };
    /// Direct-mapped cache of the last lookups: programs repeat the same operations.
    template <class Key, class Value>
    struct Recent {
        Key key{};
        Value value{};
    };
    static constexpr unsigned slot_bits = 6;
    template <class Key, class Value>
    using RecentTable = std::array<Recent<Key, Value>, 1U << slot_bits>;

    static std::size_t slot_of(std::uint64_t key) { return key * 0x9e3779b97f4a7c15 >> (64 - slot_bits); }
    /// Returns the text for `key`; `make()` creates it at the first use.
    template <class Make>
    Text text_of(void const* key, Make const& make) {
        auto& recent = recent_texts_[slot_of(reinterpret_cast<std::uintptr_t>(key))];
        if (recent.key != key) [[unlikely]] {
            auto const known = texts_.find(key);
            recent = {key, known != texts_.end() ? known->second : texts_.emplace(key, make()).first->second};
        }
        return recent.value;
    }

    void begin_collective(std::uint64_t context, int root, std::size_t bytes, std::uint16_t text);
    void message(TraceEvent event, std::uint64_t key, std::uint64_t context, int tag, std::size_t bytes);
    void describe(OpenCall& call, Function function, void const* site);
    void add_communicator(std::uint64_t context, int rank, std::span<int const> members, std::string_view name);
    void add(TraceEvent const& event);
    OpenCall* open_call();
    std::int64_t count(std::uint64_t key);
    std::uint16_t new_text(std::string_view text);
    bool is_program_code(std::uint64_t address);
    std::uint64_t program_call_site(std::uint64_t site);
    void read_maps();
    std::uint32_t thread_number();
    bool merge_poll(OpenCall const& call, std::int64_t now);

    Trace& trace_;
    std::uint64_t events_ = 0;
    std::uint64_t next_ = 0;   ///< index of the next event in the ring
    unsigned open_calls_ = 0;
    OpenCall* newest_call_ = nullptr;   ///< the call that has begun last, complete or not
    std::unordered_map<void const*, Text> texts_;
    RecentTable<void const*, Text> recent_texts_{};
    std::unordered_map<std::uint64_t, std::int64_t> counts_;   ///< of equal messages and collectives, by hash
    RecentTable<std::uint64_t, std::int64_t*> recent_counts_{};
    std::unordered_map<std::uint64_t, std::uint32_t> comms_;   ///< context → index in the trace
    std::vector<std::uintptr_t> threads_;
    std::uintptr_t last_thread_ = 0;   ///< an element of threads_, and its number
    std::uint32_t last_thread_number_ = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> code_;   ///< address ranges of the program and its libraries
    std::unordered_set<std::uint64_t> unknown_;                   ///< addresses outside of all these ranges
    std::pair<std::uint64_t, std::uint64_t> last_code_{};
};

}   // namespace tutti
