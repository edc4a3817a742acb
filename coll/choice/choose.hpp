// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm runs: the user's word (an info key of the communicator, TUTTI_COLL_<COLLECTIVE>, TUTTI_COLL), else
// the first rule of the tuning table that fits, else the first of the default table, else the first algorithm of the
// list that can do it. Looked up once per communicator, collective and size class, then cached.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coll/algorithms/algorithm.hpp"
#include "runtime/counters/call_statistics.hpp"

namespace tutti::coll {

/// Where a row of a table holds: on communicators of one node, of one node with more ranks than cores, of several
/// nodes, or on intercommunicators.
enum class Where { anywhere, one_node, shared_cores, several_nodes, between_groups };
/// "one_node", "shared_cores", "several_nodes", "between_groups"; "any".
char const* name_of(Where where);

/// An algorithm of any collective as a row: what lists, help and tests see.
struct AlgorithmRow {
    Collective collective;
    char const* name;
    char const* sentence;
    Family family;
    char const* source;
    unsigned requirements;
    std::span<Parameter const> parameters;
    bool on_node, on_nodes;   ///< does it run on one node, on several?
    void const* record;       ///< the Algorithm<Args> itself; who calls it knows the type from the collective

    /// Are there communicators of this kind on which it runs?
    bool runs(Where where) const;
};
std::span<AlgorithmRow const> all_algorithms();

/// One algorithm with the values of its parameters.
struct Setting {
    AlgorithmRow const* algorithm = nullptr;   ///< null: none is wished for
    Values values;
    bool has_levels = false;    ///< follows a tree of its own, not the communicator's
    topo::LevelChoice levels;   ///< which one
};
Setting defaults(AlgorithmRow const& algorithm);
/// "xhc:hierarchy=numa+socket,chunk=16K", with those parameters alone that differ from their fallbacks.
std::string text_of(Setting const& setting);
/// 16K, and a parameter's fallback as a user would write it.
std::string text_of(std::size_t bytes);
std::string text_of_fallback(Parameter const& parameter);
/// "1 to 4096", "1 to 1T", "one|packed|apart".
std::string range_of(Parameter const& parameter);

/// For calls of a collective there, with at most so many ranks, at least so many levels, and at most so many bytes.
struct Rule {
    Collective collective;
    Where where;
    std::size_t ranks, levels, bytes;
    Setting setting;
};

/// What is chosen for whom: one algorithm per collective, where the user has named one, and the tuning table.
struct Settings {
    std::array<Setting, collectives> of;
    std::vector<Rule> tuned;

    /// Takes "allreduce=xhc:hierarchy=numa+socket,chunk=16K,bcast=slots" over what is there. A word that names no
    /// collective is one more parameter of the algorithm before it. What does not parse or names nothing is ignored and
    /// becomes a sentence in `complaints` with the valid names; each begins with `origin`.
    void take(std::string_view text, std::string_view origin, std::vector<std::string>& complaints);
    /// The same for one collective: "xhc:hierarchy=numa+socket,chunk=16K".
    void take(Collective collective, std::string_view text, std::string_view origin,
              std::vector<std::string>& complaints);
};

/// "xhc:chunk=16K"; an empty setting and a complaint when it is none.
Setting parse_setting(Collective collective, std::string_view text, std::string_view origin,
                      std::vector<std::string>& complaints);
/// The words behind the algorithm's name, "hierarchy=numa+socket,chunk=16K", over what is there.
void take_parameters(std::string_view text, Setting& setting, std::string_view origin,
                     std::vector<std::string>& complaints);
/// A number of bytes such as 4096, 16K or 2M.
bool parse_bytes(std::string_view text, std::size_t& bytes);
/// False: no collective has this name.
bool find_collective(std::string_view name, Collective& collective);

/// coll/choice/table.def with its settings parsed.
std::span<Rule const> default_table();

/// What a call offers, against which needs are held.
struct CallTraits {
    int ranks;
    int levels;          ///< of the hierarchy
    std::size_t bytes;   ///< the size that every rank knows; ~0 when there is none
    std::size_t slot_bytes;
    bool commutes;   ///< the operator
    bool ordered;    ///< the operator commutes, or teams hold consecutive ranks
    bool one_kind;
    bool equal_parts;
    bool two_groups = false;   ///< an intercommunicator's
    bool several_nodes = false;
    bool shared_cores = false;   ///< the node has more ranks than cores
    bool grouping = true;        ///< operands may be grouped otherwise than one by one from the lowest rank on
    int parts = 1;               ///< messages of `bytes` bytes that all ranks have together

    /// requires_two_groups speaks of intracommunicators, too: without it, an algorithm needs one.
    unsigned unmet(unsigned requirements) const;
    /// As bytes, the most that requires_room takes.
    std::size_t most_with_room() const;
    bool meets(unsigned requirements) const { return unmet(requirements) == requires_nothing; }
    bool on_its_nodes(AlgorithmRow const& a) const { return several_nodes ? a.on_nodes : a.on_node; }
    /// Can the algorithm do it?
    bool suits(AlgorithmRow const& a) const { return on_its_nodes(a) && meets(a.requirements); }
    /// Is it made on such a communicator?
    bool is_on(Where where) const {
        if (where == Where::shared_cores) return shared_cores && is_on(Where::one_node);
        return where == Where::anywhere || where == (two_groups      ? Where::between_groups
                                                     : several_nodes ? Where::several_nodes
                                                                     : Where::one_node);
    }
};
/// What a call must offer, in words: "a message that fits into a slot; an intercommunicator".
std::string text_of_requirements(unsigned requirements);

struct Use;

struct Decision {
    AlgorithmRow const* algorithm = nullptr;
    Setting const* setting = nullptr;    ///< lives with the settings or the tables
    Trees const* trees = nullptr;        ///< the communicator's, or of the setting's own levels
    CallStatisticsRow* line = nullptr;   ///< where its calls are recorded; null: nowhere
    Use* use = nullptr;                  ///< the communicator's, of the collective
};

/// Why the algorithm cannot do the call, "runs on several nodes only and needs parts of one size"; empty: it can.
std::string hindrance(AlgorithmRow const& algorithm, CallTraits const& traits);

/// The trees of a communicator: its own, or those of other levels.
using TreesOf = std::function<Trees const&(topo::LevelChoice const*)>;   // null: its own

/// What the call offers to an algorithm with these levels.
CallTraits traits_for(Setting const& setting, CallTraits const& traits, TreesOf const& trees_of);
/// Never without an algorithm: each collective has one that needs nothing.
Decision decide(Collective collective, CallTraits const& traits, Settings const& settings, TreesOf const& trees_of);

/// The cache: per collective and size class (each power of two by itself, and what lies between two of them; programs
/// send powers of two, and memory changes there: from 8 KiB on it lies in arenas), and what the call offers besides.
class Choices {
public:
    /// Null: it is to be decided, or not where it is looked for first.
    Decision* find(std::uint32_t wanted) const {
        Entry* const entry = table_[place(wanted)];
        return entry && entry->key == wanted ? &entry->decision : nullptr;
    }
    /// Without an algorithm: to be decided. It stays where it is until all are forgotten.
    Decision& at(Collective collective, CallTraits const& traits) { return find_or_add(key(collective, traits)); }
    void forget();

    /// What is looked for, never 0. Sizes of one class must get one algorithm: the tables' limits are powers of two or
    /// one less, slots powers of two.
    static std::uint32_t key(Collective collective, CallTraits const& o) {
        unsigned const bits = std::min(static_cast<unsigned>(std::bit_width(o.bytes)), 32u);
        bool const power = (o.bytes & (o.bytes - 1)) == 0;
        return ((static_cast<unsigned>(collective) * 64 + bits) * 2 + power) * 16 + o.commutes * 8u + o.ordered * 4u +
               o.one_kind * 2u + o.equal_parts;
    }

private:
    struct Entry {
        std::uint32_t key;
        Decision decision;
    };

    std::size_t place(std::uint32_t key) const { return key * 0x9E37'79B9u >> shift_; }   // Fibonacci hashing
    Decision& find_or_add(std::uint32_t key);
    void insert(Entry& entry);
    void grow();

    static constexpr unsigned least_bits = 2;
    std::vector<Entry*> table_ = std::vector<Entry*>(1u << least_bits);   ///< open, at most half full
    unsigned shift_ = 32 - least_bits;
    std::forward_list<Entry> entries_;
    std::size_t count_ = 0;
};

}   // namespace tutti::coll
