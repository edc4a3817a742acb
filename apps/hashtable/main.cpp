// SPDX-License-Identifier: BSD-3-Clause
// tutti-hashtable: a distributed hash table by one-sided operations. A plain MPI program: it builds with any MPI.
#include "../application.hpp"

#include <mpi.h>
#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace hashtable {
namespace {

// A hash table in a window. Each rank has buckets, and an overflow area with the elements of the chains behind
// buckets. After Gerstenberger, Besta and Hoefler, "Enabling Highly-Scalable Remote Memory Access Programming with
// MPI-3 One Sided", SC13, section 4.1, with chains that all ranks share and that change only at their end.
//
// No rank locks anything. A bucket belongs to the key that is swapped into it first; an element belongs to the rank
// that incremented the overflow counter to its number. An element is put, and flushed, before its number is swapped
// into the link that precedes it, so a rank that has fetched that number gets a complete element. Links and keys
// change once, from 0; values change by atomic sums.

using Key = std::uint64_t;   ///< not 0, which marks an empty bucket

struct Element {
    Key key;
    std::int64_t value;
    std::int64_t next;   ///< number of the next element in the chain; 0: none
};

class Table {
public:
    /// Collective. Every rank has this number of buckets, and room for `overflow` elements in chains.
    Table(int buckets, int overflow, MPI_Comm comm);
    ~Table();   ///< collective
    Table(Table const&) = delete;
    Table& operator=(Table const&) = delete;

    /// Adds 1 to the count of `key`. Returns false if its owner has no room.
    bool insert(Key key);
    /// Returns how often the key has been inserted.
    std::int64_t find(Key key);

    /// Returns this rank's part. All ranks must have synchronized after their last insertion. A key that occurs twice,
    /// or in the wrong bucket, has the value -1.
    std::map<Key, std::int64_t> own_part();
    std::int64_t in_chains() const { return elements_[0].value; }   ///< of this rank

    int owner_of(Key key) const { return int(hash(key) % std::uint64_t(ranks_)); }

private:
    /// Numbers of elements: 0 belongs to no bucket, and its value is the overflow counter; then the buckets; then the
    /// overflow area.
    int bucket_of(Key key) const { return 1 + int(hash(key) / std::uint64_t(ranks_) % std::uint64_t(buckets_)); }
    static std::uint64_t hash(Key key);

    std::int64_t swap_if_zero(int rank, std::int64_t element, std::size_t field, std::int64_t value);
    std::int64_t add(int rank, std::int64_t element, std::int64_t more);
    std::int64_t next_of(int rank, std::int64_t element);
    Element get(int rank, std::int64_t element);
    std::int64_t create_element(int rank, Key key);

    int ranks_ = 0, buckets_, overflow_;
    Element* elements_ = nullptr;
    MPI_Win window_ = MPI_WIN_NULL;
};

/// Returns the displacement of an element's field in the owner's window.
MPI_Aint displacement(std::int64_t element, std::size_t field) {
    return MPI_Aint(std::size_t(element) * sizeof(Element) + field);
}

Table::Table(int buckets, int overflow, MPI_Comm comm) : buckets_(buckets), overflow_(overflow) {
    MPI_Comm_size(comm, &ranks_);
    const std::size_t count = 1 + std::size_t(buckets) + std::size_t(overflow);
    // Whole pages: otherwise MPICH 4.0.2, with more than one rank, puts data beside the place to which it
    // accumulates.
    const std::size_t page = 4096, bytes = (count * sizeof(Element) + page - 1) / page * page;
    MPI_Win_allocate(MPI_Aint(bytes), 1, MPI_INFO_NULL, comm, &elements_, &window_);
    std::fill(elements_, elements_ + count, Element{});
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);   // no rank locks exclusively
    MPI_Win_sync(window_);
    MPI_Barrier(comm);   // no insertion before all elements are empty
}

Table::~Table() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
}

/// The finalizer of MurmurHash3 (Appleby, public domain): adjacent keys get unrelated hashes.
std::uint64_t Table::hash(Key key) {
    key = (key ^ key >> 33) * 0xff51afd7ed558ccd;
    key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53;
    return key ^ key >> 33;
}

bool Table::insert(Key key) {
    int const owner = owner_of(key);
    std::int64_t at = bucket_of(key), created = 0;
    const Key there = Key(swap_if_zero(owner, at, offsetof(Element, key), std::int64_t(key)));
    bool found = there == 0 || there == key;
    while (!found) {
        std::int64_t next = next_of(owner, at);
        if (next == 0) {
            if (created == 0 && (created = create_element(owner, key)) == 0) return false;
            next = swap_if_zero(owner, at, offsetof(Element, next), created);   // another rank may have been faster
            if (next == 0) next = created;
        }
        at = next;
        found = at == created || get(owner, at).key == key;
    }
    add(owner, at, 1);   // an element made for a key that another rank has inserted meanwhile stays unused
    return true;
}

std::int64_t Table::find(Key key) {
    int const owner = owner_of(key);
    std::int64_t at = bucket_of(key);
    for (Element element = get(owner, at);; element = get(owner, at)) {
        if (element.key == key) return element.value;
        if (element.next == 0) return 0;
        at = element.next;
    }
}

std::map<Key, std::int64_t> Table::own_part() {
    MPI_Win_sync(window_);
    std::map<Key, std::int64_t> part;
    for (int bucket = 1; bucket <= buckets_; ++bucket)
        for (std::int64_t at = bucket; at != 0; at = elements_[at].next) {
            Element const& element = elements_[at];
            if (element.key == 0) continue;
            bool const wrong = bucket_of(element.key) != bucket || !part.emplace(element.key, element.value).second;
            if (wrong) part[element.key] = -1;
        }
    return part;
}

/// Returns the previous value: 0 if the swap succeeded.
std::int64_t Table::swap_if_zero(int rank, std::int64_t element, std::size_t field, std::int64_t value) {
    const std::int64_t zero = 0;
    std::int64_t before;
    MPI_Compare_and_swap(&value, &zero, &before, MPI_INT64_T, rank, displacement(element, field), window_);
    MPI_Win_flush(rank, window_);
    return before;
}

/// Returns the previous value.
std::int64_t Table::add(int rank, std::int64_t element, std::int64_t more) {
    std::int64_t before;
    MPI_Fetch_and_op(&more, &before, MPI_INT64_T, rank, displacement(element, offsetof(Element, value)), MPI_SUM,
                     window_);
    MPI_Win_flush(rank, window_);
    return before;
}

/// Must be atomic, because other ranks may swap the link at the same time.
std::int64_t Table::next_of(int rank, std::int64_t element) {
    std::int64_t next;
    MPI_Fetch_and_op(nullptr, &next, MPI_INT64_T, rank, displacement(element, offsetof(Element, next)), MPI_NO_OP,
                     window_);
    MPI_Win_flush(rank, window_);
    return next;
}

/// The key of an element in a chain is final; value and link may be slightly outdated.
Element Table::get(int rank, std::int64_t element) {
    Element copy;
    MPI_Get(&copy, sizeof copy, MPI_BYTE, rank, displacement(element, 0), sizeof copy, MPI_BYTE, window_);
    MPI_Win_flush(rank, window_);
    return copy;
}

/// Creates an element that is not in a chain yet. Returns its number, or 0 if the overflow area is full.
std::int64_t Table::create_element(int rank, Key key) {
    const std::int64_t used = add(rank, 0, 1);
    if (used >= overflow_) return 0;
    const std::int64_t number = 1 + buckets_ + used;
    const Element element{key, 0, 0};
    MPI_Put(&element, sizeof element, MPI_BYTE, rank, displacement(number, 0), sizeof element, MPI_BYTE, window_);
    MPI_Win_flush(rank, window_);   // complete before another rank can find it
    return number;
}

// The program: its options, the insertions and look-ups, and the check of the table.

struct Options {
    int insertions = 20000;   ///< by each rank
    int buckets = 8192;       ///< of each rank
    int keys = 10000;         ///< number of distinct keys per rank; all ranks insert keys of the whole range
};

/// Describes the program, whose options are stored in `o`.
apps::Application describe(Options& o) {
    constexpr int most = 10000000;
    return {"tutti-hashtable",
            "A hash table that is distributed over all ranks. Each rank inserts keys by one-sided operations alone: no "
            "rank receives a message. The value of a key is the number of its insertions.",
            {
                apps::number_option("--insertions", "N", o.insertions, 1, most, "by each rank"),
                apps::number_option("--buckets", "N", o.buckets, 1, most,
                                    "of each rank; elements whose bucket is occupied go to a chain behind it"),
                apps::number_option("--keys", "N", o.keys, 1, most,
                                    "number of different keys per rank; each rank inserts any of them"),
            },
            "Prints insertions and look-ups per second, and the number of elements in chains. Then every rank compares "
            "its part of the table with the insertions of all ranks. The exit code is 1 if they differ."};
}

/// Returns the key that `rank` inserts as its insertion `number`. Every rank can compute the keys of all ranks.
Key key_of(int rank, int number, std::uint64_t keys) {
    std::uint64_t mixed = (std::uint64_t(rank) << 32 | std::uint32_t(number)) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    return 1 + (mixed ^ mixed >> 31) % keys;
}

struct Job {
    Options const& options;
    MPI_Comm comm;
    int rank, ranks;
    std::uint64_t keys() const { return std::uint64_t(options.keys) * std::uint64_t(ranks); }
};

/// Returns the keys of all ranks' insertions that this rank owns.
std::map<Key, std::int64_t> expected_part(Job const& job, Table const& table) {
    std::map<Key, std::int64_t> part;
    for (int rank = 0; rank < job.ranks; ++rank)
        for (int number = 0; number < job.options.insertions; ++number) {
            const Key key = key_of(rank, number, job.keys());
            if (table.owner_of(key) == job.rank) ++part[key];
        }
    return part;
}

/// Calls `act` with each of this rank's keys. Returns the slowest rank's seconds, on rank 0. Sets `right` to false if
/// a call failed.
template <class Act>
double timed(Job const& job, bool& right, Act act) {
    MPI_Barrier(job.comm);
    double const start = MPI_Wtime();
    for (int number = 0; right && number < job.options.insertions; ++number)
        right = act(key_of(job.rank, number, job.keys()));
    double const mine = MPI_Wtime() - start;
    double slowest = 0;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, job.comm);
    MPI_Barrier(job.comm);
    return slowest;
}

/// Returns whether all results were right.
bool run(Options const& options, MPI_Comm comm) {
    Job job{options, comm, 0, 0};
    MPI_Comm_rank(comm, &job.rank);
    MPI_Comm_size(comm, &job.ranks);
    // An owner may have more keys than its share, and each rank may have created one element for each of them that
    // turned out not to be needed.
    Table table(options.buckets, 4 * options.keys + 64 * job.ranks, comm);
    bool right = true;
    double const inserting = timed(job, right, [&](Key key) { return table.insert(key); });
    bool const room = right;
    double const finding = timed(job, right, [&](Key key) { return table.find(key) > 0; });
    right = right && table.own_part() == expected_part(job, table);
    std::int64_t mine[] = {table.in_chains(), right, room}, sums[3];
    MPI_Allreduce(mine, sums, 3, MPI_INT64_T, MPI_SUM, comm);
    if (job.rank == 0) {
        double const all = double(options.insertions) * job.ranks * 1e-6;
        std::printf("%d ranks, %d insertions by each, %d buckets on each\n", job.ranks, options.insertions,
                    options.buckets);
        std::printf("insertions         %.3f million per second, %.2f us each\n", all / inserting,
                    inserting / options.insertions * 1e6);
        std::printf("look-ups           %.3f million per second, %.2f us each\n", all / finding,
                    finding / options.insertions * 1e6);
        std::printf("in chains          %" PRId64 " elements\n", sums[0]);
        std::puts(sums[2] < job.ranks   ? "FAILED: a rank's part of the table is full"
                  : sums[1] < job.ranks ? "FAILED: the table does not hold what was inserted"
                                        : "PASSED");
    }
    return sums[1] == job.ranks;
}

}   // namespace
}   // namespace hashtable

int main(int argc, char** argv) {
    hashtable::Options options;
    return apps::run_application(argc, argv, hashtable::describe(options),
                                 [&] { return hashtable::run(options, MPI_COMM_WORLD) ? 0 : 1; });
}
