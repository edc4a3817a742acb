// SPDX-License-Identifier: BSD-3-Clause
// A hash table in a window. Each rank has buckets, and an overflow of elements that chains behind buckets are made of.
// After Gerstenberger, Besta and Hoefler, "Enabling Highly-Scalable Remote Memory Access Programming with MPI-3 One
// Sided", SC13, section 4.1, with chains that are shared by all and never altered but at their end.
//
// Nobody locks. A bucket belongs to the key that is first swapped into it, an element to the rank that has counted the
// overflow's counter up to it. An element is put, and flushed, before its number is swapped into the link in front of
// it: whoever has fetched that number gets a whole element. Links and keys change once, from 0; values by atomic sums.
#pragma once

#include <cstdint>
#include <map>
#include <mpi.h>
#include <vector>

namespace hashtable {

using Key = std::uint64_t; // not 0, which is an empty bucket's

struct Element {
    Key key;
    std::int64_t value;
    std::int64_t next; // number of the next element in the chain; 0: none
};

class Table {
public:
    // Collective. Every rank has `buckets` of them and room for `overflow` elements in chains.
    Table(int buckets, int overflow, MPI_Comm comm);
    ~Table(); // collective
    Table(const Table &) = delete;
    Table &operator=(const Table &) = delete;

    // One more of `key`. False where its owner has no room.
    bool insert(Key key);
    // How often it has been inserted.
    std::int64_t find(Key key);

    // This rank's part, when all have met after their last insertion. A key that is twice in it, or in the wrong
    // bucket, has the value -1.
    std::map<Key, std::int64_t> own_part();
    std::int64_t in_chains() const { return elements_[0].value; } // of this rank

    int owner_of(Key key) const { return int(hash(key) % std::uint64_t(ranks_)); }

private:
    // Elements by number: 0 is nobody's, and its value counts the overflow; then the buckets; then the overflow.
    int bucket_of(Key key) const { return 1 + int(hash(key) / std::uint64_t(ranks_) % std::uint64_t(buckets_)); }
    static std::uint64_t hash(Key key);

    std::int64_t swap_if_zero(int rank, std::int64_t element, std::size_t field, std::int64_t value);
    std::int64_t add(int rank, std::int64_t element, std::int64_t more);
    std::int64_t next_of(int rank, std::int64_t element);
    Element get(int rank, std::int64_t element);
    std::int64_t make_element(int rank, Key key);

    int ranks_ = 0, buckets_, overflow_;
    Element *elements_ = nullptr;
    MPI_Win window_ = MPI_WIN_NULL;
};

} // namespace hashtable
