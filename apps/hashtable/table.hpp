// SPDX-License-Identifier: BSD-3-Clause
// A hash table in a window. Each rank has buckets, and an overflow area with the elements of the chains behind
// buckets. After Gerstenberger, Besta and Hoefler, "Enabling Highly-Scalable Remote Memory Access Programming with
// MPI-3 One Sided", SC13, section 4.1, with chains that all ranks share and that change only at their end.
//
// No rank locks anything. A bucket belongs to the key that is swapped into it first; an element belongs to the rank
// that incremented the overflow counter to its number. An element is put, and flushed, before its number is swapped
// into the link that precedes it, so a rank that has fetched that number gets a complete element. Links and keys
// change once, from 0; values change by atomic sums.
#pragma once

#include <mpi.h>
#include <cstdint>
#include <map>
#include <vector>

namespace hashtable {

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

}   // namespace hashtable
