// SPDX-License-Identifier: BSD-3-Clause
// Derives the cases from the list of algorithms. Not the whole cross product: each algorithm runs with every size,
// kind, operator, root, form and way of passing buffers, in combinations that vary with the world and the seed.
// Algorithms that exist for comparison run a third of the cases, another third in the next world; with sanitizers all
// algorithms run fewer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "tests/coll/world/cases.hpp"

namespace tutti::coll::test {
namespace {

inline bool reduces(Collective c) {
    return c == Collective::reduce || c == Collective::allreduce || c == Collective::reduce_scatter ||
           c == Collective::scan || c == Collective::exscan;
}
inline bool has_root(Collective c) {
    return c == Collective::bcast || c == Collective::reduce || c == Collective::gather || c == Collective::scatter;
}

class CaseList {
public:
    CaseList(Suite& suite, unsigned seed) : s_(suite), seed_(seed) {}

    void add_all() {
        for (AlgorithmRow const& row : all_algorithms()) {
            if (!(s_.several_nodes ? row.runs_on_multiple_nodes : row.runs_on_one_node) || !wanted(row)) continue;
            if (row.requirements & requires_intercommunicator && s_.ranks < 2) continue;
            if (row.requirements & requires_consecutive_teams && !s_.consecutive) continue;
            std::size_t const before = s_.cases.size();
            left_out_.reset();
            add(row);
            if (s_.cases.size() == before && left_out_) s_.cases.push_back(*left_out_);
            EXPECT_GT(s_.cases.size(), before)
                << "no case among " << s_.ranks << " ranks fits " << name_of(row.collective) << " " << row.name;
        }
    }

private:
    std::vector<std::size_t> sizes() const {
        std::size_t const p = static_cast<std::size_t>(s_.ranks), slot = s_.slot_bytes;
        std::vector<std::size_t> all{
            0,        8,     48,    56,    64,    1000,  slot / p / 8 * 8, slot / p / 8 * 8 + 8, slot - 8, slot,
            slot + 8, 20000, 32768, 65536, 65544, 200000};
        std::erase_if(all, [&](std::size_t n) {
            return n * p * p > most_bytes || n > largest || (s_.ranks > 8 && n % 3 == seed_ % 3);
        });
        return all;
    }

    // One case in `thinning` runs; `largest` and `most_bytes` limit the bytes of one rank and of all ranks. Tests run
    // ten times slower under ThreadSanitizer, and races depend on the protocol, not on the size.
#if defined(__SANITIZE_THREAD__)
    static constexpr unsigned thinning = 48;
    static constexpr std::size_t most_bytes = 1 << 20, largest = 65544;
#elif defined(__SANITIZE_ADDRESS__)
    static constexpr unsigned thinning = 9;
    static constexpr std::size_t most_bytes = 4 << 20, largest = most_bytes;
#else
    static constexpr unsigned thinning = 1;
    static constexpr std::size_t most_bytes = 4 << 20, largest = most_bytes;
#endif

    /// For the author of an algorithm: TUTTI_TEST_ALGORITHMS=allreduce/xhc,bcast/xhc runs every case of these
    /// algorithms only.
    static char const* named() { return std::getenv("TUTTI_TEST_ALGORITHMS"); }
    static bool wanted(AlgorithmRow const& row) {
        if (!named()) return true;
        std::string const list = std::string(",") + named() + ",";
        return list.find("," + std::string(name_of(row.collective)) + "/" + row.name + ",") != std::string::npos;
    }

    unsigned next() { return turn_++ * 7 + seed_; }

    void add(AlgorithmRow const& row) {
        if (row.collective == Collective::barrier) {
            for (int i = 0; i < 12; ++i) add({.algorithm = &row, .bytes = 0});
            return;
        }
        for (std::size_t bytes : sizes()) add_size(row, bytes);
        add_kinds(row);
        add_roots(row);
    }

    void add(Case c) {
        bool const two_groups = c.algorithm->requirements & requires_intercommunicator;
        if (two_groups) {
            c.first_group_size = 1 + static_cast<int>(next()) % (s_.ranks - 1);
            c.in_place = false;
        }
        Kind const& kind = s_.kind(c);
        if (reduces(c.algorithm->collective) && !s_.op(c).fits(kind)) {
            for (c.op = 0; !s_.op(c).fits(kind);) ++c.op;
        }
        c.seed = next();
        CallTraits const traits{
            .ranks = s_.ranks,
            .levels = s_.levels,
            .bytes = message_bytes(c),
            .slot_bytes = s_.slot_bytes,
            .commutative = s_.op(c).op->commutative,
            .commutative_or_consecutive = s_.op(c).op->commutative || s_.consecutive,
            .has_kernels = nary_kernel(s_.op(c).op->builtin, kind.type->basic()) != nullptr && kind.type->dense(2),
            .equal_parts = c.form == Form::equal,
            .intercommunicator = two_groups,
            .several_nodes = s_.several_nodes,
            .consecutive_teams = s_.consecutive};
        if (!traits.meets(c.algorithm->requirements)) return;   // expect_suits() checks whether the library agrees
        unsigned const every = named() ? 1 : c.algorithm->family == Family::tutti ? thinning : 3 * thinning;
        if (++offered_ % every == seed_ % every) s_.cases.push_back(c);
        else left_out_ = c;
    }

    /// The bytes that the slots must hold: all shares of reduce_scatter, which between groups are as long as in the
    /// plain form.
    std::size_t message_bytes(Case const& c) const {
        std::int64_t count = s_.count_of(c);
        if (c.algorithm->collective == Collective::reduce_scatter) {
            std::int64_t const each = count;
            count = 0;
            for (int i = 0; i < s_.ranks; ++i) count += c.first_group_size > 0 ? each : count_between(s_, c, i, 0);
        }
        return static_cast<std::size_t>(count * s_.kind(c).type->size());
    }

    /// Every operator with the kinds that it accepts, in turn, in each form of the collective.
    void add_size(AlgorithmRow const& row, std::size_t bytes) {
        int const ops = reduces(row.collective) ? static_cast<int>(s_.operators.size()) : 2;
        for (int op = 0; op < ops; ++op) {
            Case c{.algorithm = &row,
                   .bytes = bytes,
                   .kind = static_cast<int>(next() % 5),
                   .op = op,
                   .root = static_cast<int>(next()) % s_.ranks,
                   .in_place = next() % 3 == 0,
                   .form = form(row, next()),
                   .small_parameters = next() % 2 == 0 && bytes <= 20000};
            if (c.form == Form::types) c.kind = 2;
            if (!reduces(row.collective)) c.op = 0;
            else if (s_.operators[static_cast<std::size_t>(op)].op->builtin == BuiltinOp::minloc) c.kind = 6;
            else if (s_.operators[static_cast<std::size_t>(op)].op->builtin != BuiltinOp::none)
                c.kind = static_cast<int>(next() % 2);
            add(c);
        }
    }

    void add_kinds(AlgorithmRow const& row) {
        for (int kind = 0; kind < static_cast<int>(s_.kinds.size()); ++kind) {
            for (bool in_place : {false, true}) {
                for (std::size_t bytes : {std::size_t{40}, std::size_t{3000}, std::size_t{20000}}) {
                    if (s_.ranks > 5 && (turn_ + seed_) % 3 != 0) {
                        ++turn_;
                        continue;
                    }
                    if (s_.kinds[static_cast<std::size_t>(kind)].name == "huge" && (s_.ranks > 4 || bytes != 40))
                        continue;
                    add({.algorithm = &row,
                         .bytes = bytes,
                         .kind = kind,
                         .op = static_cast<int>(next() % 5),
                         .root = static_cast<int>(next()) % s_.ranks,
                         .in_place = in_place,
                         .small_parameters = next() % 2 == 0});
                }
            }
        }
    }

    void add_roots(AlgorithmRow const& row) {
        if (!has_root(row.collective)) return;
        for (int root = 0; root < s_.ranks; ++root)
            for (std::size_t bytes : {std::size_t{8}, std::size_t{12000}})
                add({.algorithm = &row,
                     .bytes = bytes,
                     .kind = 1,
                     .root = root,
                     .in_place = root % 2 == 0,
                     .small_parameters = root % 3 == 0});
    }

    static Form form(AlgorithmRow const& row, unsigned turn) {
        switch (row.collective) {
        case Collective::alltoall:
        case Collective::neighbor_alltoall: return static_cast<Form>(turn % 3);
        case Collective::gather:
        case Collective::scatter:
        case Collective::allgather:
        case Collective::reduce_scatter:
        case Collective::neighbor_allgather: return static_cast<Form>(turn % 2);
        default: return Form::equal;
        }
    }

    Suite& s_;
    unsigned seed_, turn_ = 0, offered_ = 0;
    std::optional<Case> left_out_;   ///< a case that fits the algorithm but was not selected
};

}   // namespace

void add_cases(Suite& suite, unsigned seed) { CaseList(suite, seed).add_all(); }

}   // namespace tutti::coll::test
