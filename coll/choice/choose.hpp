// SPDX-License-Identifier: BSD-3-Clause
// Selection of the algorithm for a call: the first of these that can do the call. The user's setting (an info key of
// the communicator, TUTTI_COLL_<COLLECTIVE>, TUTTI_COLL); the matching rules of the tuning file; the matching rules of
// the default table; the algorithms of the list, in its order. The decision is made once per communicator, collective
// and size class, and then cached.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coll/algorithms/algorithm.hpp"
#include "runtime/state/call_statistics.hpp"

namespace tutti {
struct Variables;
}

namespace tutti::coll {

/// Where a row of a table applies: to communicators of one node, of one node with more ranks than cores, of several
/// nodes, or to intercommunicators.
enum class CommKind { any_kind, one_node, shared_cores, several_nodes, between_groups };
/// Returns "one_node", "shared_cores", "several_nodes", "between_groups" or "any".
char const* name_of(CommKind comm_kind);

/// An algorithm of any collective, without its argument type: the row from which lists, help and tests are made.
struct AlgorithmRow {
    Collective collective;
    char const* name;
    char const* description;
    Family family;
    char const* source;
    unsigned requirements;
    std::span<Parameter const> parameters;
    bool runs_on_one_node, runs_on_multiple_nodes;   ///< whether it runs on one node; on several
    char const* file;                                ///< relative to the root of the source tree
    Cost cost;
    void const* record;   ///< the Algorithm<Args>; the collective determines Args

    /// Returns true if there are communicators of this kind on which the algorithm runs.
    bool runs_on(CommKind comm_kind) const;
};
std::span<AlgorithmRow const> all_algorithms();

/// One algorithm with the values of its parameters.
struct Setting {
    AlgorithmRow const* algorithm = nullptr;   ///< null: the user requested none
    Values values;
    bool has_levels = false;    ///< uses a hierarchy of its own instead of the communicator's
    topo::LevelChoice levels;   ///< that hierarchy
};
Setting defaults(AlgorithmRow const& algorithm);
/// Returns "xhc:hierarchy=numa+socket,chunk=16K", listing only the parameters that differ from their defaults.
std::string text_of(Setting const& setting);
/// Return a size (such as "16K"), the value of a parameter, and its default, as a user would write them.
std::string text_of(std::size_t bytes);
std::string text_of_value(Setting const& setting, std::size_t parameter);
std::string text_of_default(Parameter const& parameter);
/// Returns "1 to 4096", "1 to 1T" or "one|packed|apart".
std::string range_of(Parameter const& parameter);

/// A rule for calls of a collective on communicators of kind `comm_kind`, with at most `ranks` ranks, at least `levels`
/// levels and at most `bytes` bytes.
struct Rule {
    Collective collective;
    CommKind comm_kind;
    std::size_t ranks, levels, bytes;
    Setting setting;
    int line = 0;   ///< in its file
};

/// The settings from which a decision is made: the algorithm that the user requested for each collective, if any, and
/// the rules of the tuning file.
struct Settings {
    std::array<Setting, collectives> requested;
    std::array<std::string, collectives> origins;   ///< what requested it: "TUTTI_COLL", "info key tutti_coll"
    std::vector<Rule> tuned;

    /// Parses "allreduce=xhc:hierarchy=numa+socket,chunk=16K,bcast=slots" and overrides the present settings. An item
    /// that names no collective is a further parameter of the preceding algorithm. Items that cannot be parsed or that
    /// name nothing are ignored; for each of them, a message that begins with `origin` and lists the valid names is
    /// added to `diagnostics`.
    void parse(std::string_view text, std::string_view origin, std::vector<std::string>& diagnostics);
    /// Parses the setting of one collective, "xhc:hierarchy=numa+socket,chunk=16K".
    void parse(Collective collective, std::string_view text, std::string_view origin,
               std::vector<std::string>& diagnostics);
};

/// Returns the settings of a job: TUTTI_COLL for all collectives, TUTTI_COLL_<COLLECTIVE> for one, and the rules of the
/// tuning file. In deterministic mode, results depend on their inputs alone, so the file is ignored.
Settings read_settings(Variables const& variables, std::string_view tuning_name, std::string_view tuning_text,
                       std::vector<std::string>& diagnostics);

/// A name for an algorithm with parameters that a paper uses.
struct Preset {
    std::string_view name;
    char const* algorithm;    ///< of every collective that has it
    char const* parameters;   ///< as after the algorithm's name
};
std::span<Preset const> presets();

/// Parses "xhc:chunk=16K", or a preset with further parameters: "xhc-tree:chunk=16K". On error, returns an empty
/// setting and adds a message to `diagnostics`.
Setting parse_setting(Collective collective, std::string_view text, std::string_view origin,
                      std::vector<std::string>& diagnostics);
/// Parses the text after the algorithm's name, "hierarchy=numa+socket,chunk=16K", and overrides these parameters.
void parse_parameters(std::string_view text, Setting& setting, std::string_view origin,
                      std::vector<std::string>& diagnostics);
/// Returns false if no collective has this name.
bool find_collective(std::string_view name, Collective& collective);

/// Returns the rules of coll/choice/table.def with their settings parsed.
std::span<Rule const> default_table();

// Tuning files: tables of choices as text that people can edit. A line applies to calls of a collective within its
// limits:
//     allreduce  one_node  ranks<=8  levels>=2  bytes<=64K  hierarchical:chunk=16K     # a comment
// Limits are optional and may be in any order; that of bytes is a power of two or one less. The kind of communicator is
// one_node, shared_cores, several_nodes or between_groups; without it the line applies to all kinds. The first line
// that matches a call, and whose algorithm can do it, is used.

/// The value of a limit that a line does not mention.
inline constexpr std::size_t no_limit = ~std::size_t{0};

/// Parses the rules of a text. Invalid lines are left out and reported in `diagnostics` as "NAME:12: …".
std::vector<Rule> parse_rules(std::string_view text, std::string_view name, std::vector<std::string>& diagnostics);
/// Writes a rule as a line in columns, without a line break.
std::string text_of(Rule const& rule);

/// The properties of a call that are compared with an algorithm's requirements.
struct CallTraits {
    int ranks;
    int levels;          ///< of the hierarchy
    std::size_t bytes;   ///< message size that every rank knows; ~0: there is none
    std::size_t slot_bytes;
    bool commutative;                  ///< the operator is commutative
    bool commutative_or_consecutive;   ///< the operator is commutative, or teams hold consecutive ranks
    bool has_kernels;                  ///< meets requires_kernels
    bool equal_parts;                  ///< meets requires_equal_parts
    bool intercommunicator = false;    ///< on an intercommunicator
    bool several_nodes = false;
    bool shared_cores = false;          ///< the node has more ranks than cores
    bool allows_reassociation = true;   ///< operands need not be combined one by one from the lowest rank on
    bool loadable_buffers = true;       ///< buffers may meet requires_loadable_buffers
    bool copyable_buffers = true;       ///< buffers may meet requires_copyable_buffers
    bool kernel_copies = true;          ///< meets requires_kernel_copies
    bool consecutive_teams = true;      ///< meets requires_consecutive_teams
    int parts = 1;                      ///< number of messages of `bytes` bytes that all ranks have together

    /// The value of `bytes` for calls whose size not every rank knows.
    static constexpr std::size_t unknown_size = ~std::size_t{0};

    /// The traits of a call of `size` bytes without an operator and with equal parts. `tree`: of the communicator.
    static CallTraits plain(topo::Hierarchy const& tree, std::size_t slot_bytes, std::size_t size) {
        return {.ranks = tree.size(),
                .levels = tree.levels(),
                .bytes = size,
                .slot_bytes = slot_bytes,
                .commutative = true,
                .commutative_or_consecutive = true,
                .has_kernels = true,
                .equal_parts = true,
                .consecutive_teams = tree.consecutive()};
    }
    /// The same for data movements with a part for each rank. In forms with equal parts every rank knows the size of a
    /// part; in the other forms no rank knows all sizes.
    CallTraits with_parts(bool equal) const {
        CallTraits traits = *this;
        if (!equal) traits.bytes = unknown_size;
        traits.equal_parts = equal;
        traits.parts = ranks;
        return traits;
    }
    /// The same for reductions of all kinds.
    CallTraits with_operator(topo::Hierarchy const& tree, bool is_commutative, bool kernels, bool deterministic) const {
        CallTraits traits = *this;
        traits.commutative = is_commutative;
        traits.commutative_or_consecutive = is_commutative || tree.consecutive();
        traits.has_kernels = kernels;
        traits.allows_reassociation = !deterministic;
        return traits;
    }

    /// Returns the requirements that the call does not meet. requires_intercommunicator is compared in both directions:
    /// an algorithm without it requires an intracommunicator.
    unsigned unmet(unsigned requirements) const;
    /// Returns the largest value of `bytes` that meets requires_bounded_gather.
    std::size_t bounded_gather_limit() const;
    bool meets(unsigned requirements) const { return unmet(requirements) == requires_nothing; }
    bool runs_on_its_nodes(AlgorithmRow const& a) const {
        return several_nodes ? a.runs_on_multiple_nodes : a.runs_on_one_node;
    }
    /// Returns true if the algorithm can do the call.
    bool suits(AlgorithmRow const& a) const { return runs_on_its_nodes(a) && meets(a.requirements); }
    /// Returns true if the call is made on a communicator of this kind.
    bool is_on(CommKind comm_kind) const {
        if (comm_kind == CommKind::shared_cores) return shared_cores && is_on(CommKind::one_node);
        return comm_kind == CommKind::any_kind || comm_kind == (intercommunicator ? CommKind::between_groups
                                                                : several_nodes   ? CommKind::several_nodes
                                                                                  : CommKind::one_node);
    }
};
/// Describes requirements: "a message that fits into a slot; an intercommunicator".
std::string text_of_requirements(unsigned requirements);

struct CollectiveCounters;

/// The algorithm for a call, with its setting, and the counters of its calls.
struct Decision {
    AlgorithmRow const* algorithm = nullptr;
    Setting const* setting = nullptr;          ///< owned by the settings or the tables
    Trees const* trees = nullptr;              ///< the communicator's, or those of the setting's own levels
    CallStatisticsRow* statistics = nullptr;   ///< where its calls are recorded; null: not recorded
    CollectiveCounters* counters = nullptr;    ///< the communicator's counters for the collective
};

/// Describes why the algorithm cannot do the call: "runs on several nodes only and needs parts of equal size". Returns
/// an empty string if it can.
std::string unmet_requirement(AlgorithmRow const& algorithm, CallTraits const& traits);

/// Returns the trees of a communicator: its own, or those of other levels.
using TreesLookup = std::function<Trees const&(topo::LevelChoice const*)>;   // null: its own

/// Returns the traits of the call for an algorithm with the levels of this setting.
CallTraits traits_for(Setting const& setting, CallTraits const& traits, TreesLookup const& trees_of);
/// Always finds an algorithm, because each collective has one without requirements.
Decision decide(Collective collective, CallTraits const& traits, Settings const& settings, TreesLookup const& trees_of);

/// A setting that the choice considers for a call.
struct Candidate {
    enum class Origin { request, tuning_file, default_table, list };
    Origin origin;
    Rule const* rule;   ///< of the tuning file or the default table; else null
    Setting const* setting;
    std::string obstacle;   ///< why it cannot do the call; empty: it can
};
/// Returns all candidates for a call, in order of preference. decide() returns the first one without an obstacle. They
/// refer to `settings`.
std::vector<Candidate> candidates_for(Collective collective, CallTraits const& traits, Settings const& settings,
                                      TreesLookup const& trees_of);

/// The decisions that have been made, per collective, size class and traits of the call. Each power of two is a size
/// class of its own, and all sizes between two consecutive powers are one: programs send powers of two, and the kind of
/// memory changes there (buffers of 8 KiB or more are in arenas).
class DecisionCache {
public:
    /// Returns the entry, whose `algorithm` is null until the decision is made. It keeps its address until clear().
    Decision& at(Collective collective, CallTraits const& traits) { return entries_[key(collective, traits)]; }
    /// Discards all entries. Invalidates the references that at() returned.
    void clear() {
        entries_.clear();
        ++epoch_;
    }
    /// Changes with each clear() and is never 0: a reference is valid as long as this has not changed.
    std::uint32_t epoch() const { return epoch_; }

private:
    /// All sizes of one class must lead to one algorithm; therefore the limits in tables are powers of two or one less,
    /// and slot sizes count as powers of two.
    static std::uint32_t key(Collective collective, CallTraits const& o) {
        unsigned const bits = std::min(static_cast<unsigned>(std::bit_width(o.bytes)), 32u);
        bool const power = (o.bytes & (o.bytes - 1)) == 0;
        return ((static_cast<unsigned>(collective) * 64 + bits) * 2 + power) * 64 + o.loadable_buffers * 32u +
               o.copyable_buffers * 16u + o.commutative * 8u + o.commutative_or_consecutive * 4u + o.has_kernels * 2u +
               o.equal_parts;
    }

    std::unordered_map<std::uint32_t, Decision> entries_;
    std::uint32_t epoch_ = 1;
};

}   // namespace tutti::coll
