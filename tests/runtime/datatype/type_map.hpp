// SPDX-License-Identifier: BSD-3-Clause
// Datatypes as the standard defines them: a list of (kind, displacement), walked naively. Random types are constructed
// in both forms, so that the library's type can be compared with the definition.
#pragma once

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "runtime/datatype/builder.hpp"

namespace tutti::test {

struct NaiveType {
    struct Entry {
        std::int64_t size, at;
    };
    std::vector<Entry> entries;
    std::int64_t lb = 0, extent = 0;

    std::int64_t size() const {
        std::int64_t all = 0;
        for (Entry e : entries) all += e.size;
        return all;
    }
    /// Offsets of the packed bytes of `count` elements, in order.
    std::vector<std::int64_t> bytes(std::int64_t count) const {
        std::vector<std::int64_t> all;
        for (std::int64_t i = 0; i < count; ++i)
            for (Entry e : entries)
                for (std::int64_t b = 0; b < e.size; ++b) all.push_back(i * extent + e.at + b);
        return all;
    }
};

struct BothForms {
    Ref<Datatype> real;
    NaiveType naive;
};

/// Random nested types of moderate size. Constructors are chosen uniformly; strides and displacements may be negative.
class RandomTypes {
public:
    explicit RandomTypes(unsigned seed) : random_(seed) {}

    std::int64_t number(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }

    BothForms type(int depth) {
        if (depth == 0) return basic();
        switch (number(0, 5)) {
        case 0: return contiguous(type(depth - 1));
        case 1: return vector(type(depth - 1));
        case 2: return indexed(type(depth - 1));
        case 3: return structure(depth);
        case 4: return resized(type(depth - 1));
        default: return subarray(type(depth - 1));
        }
    }

private:
    BothForms basic() {
        constexpr Basic kinds[] = {Basic::int8,    Basic::int16,     Basic::int32,
                                   Basic::float64, Basic::complex64, Basic::short_int};
        BothForms made;
        Basic kind = kinds[number(0, 5)];
        made.real = TypeBuilder::predefined(kind);
        if (kind == Basic::short_int) made.naive.entries = {{2, 0}, {4, 4}};
        else made.naive.entries = {{made.real->size(), 0}};
        made.naive.extent = made.real->extent();
        return made;
    }

    static void place(NaiveType& into, NaiveType const& old, std::int64_t count, std::int64_t at) {
        for (std::int64_t i = 0; i < count; ++i)
            for (NaiveType::Entry e : old.entries) into.entries.push_back({e.size, at + i * old.extent + e.at});
    }

    /// Extents have their own tests; here the library's values are used.
    static BothForms finished(Ref<Datatype> real, NaiveType naive) {
        naive.lb = real->lb();
        naive.extent = real->extent();
        return {std::move(real), std::move(naive)};
    }

    BothForms contiguous(BothForms old) {
        std::int64_t count = number(0, 3);
        NaiveType naive;
        place(naive, old.naive, count, 0);
        return finished(TypeBuilder::contiguous(count, *old.real), naive);
    }

    BothForms vector(BothForms old) {
        std::int64_t count = number(1, 4), block = number(0, 3), stride = number(-3, 6) * 8 + number(0, 1);
        NaiveType naive;
        for (std::int64_t i = 0; i < count; ++i) place(naive, old.naive, block, i * stride);
        return finished(TypeBuilder::hvector(count, block, stride, *old.real), naive);
    }

    BothForms indexed(BothForms old) {
        std::vector<std::int64_t> blocks, places;
        NaiveType naive;
        bool regular = number(0, 2) == 0;
        for (std::int64_t n = number(0, 5), i = 0; i < n; ++i) {
            blocks.push_back(regular ? 1 : number(0, 3));
            places.push_back(regular ? 24 * i : number(-50, 100));
            place(naive, old.naive, blocks.back(), places.back());
        }
        return finished(TypeBuilder::hindexed(blocks, places, *old.real), naive);
    }

    BothForms structure(int depth) {
        std::vector<std::int64_t> blocks, places;
        std::vector<BothForms> parts;
        std::vector<Datatype const*> types;
        NaiveType naive;
        std::int64_t next = 0;
        for (std::int64_t n = number(1, 4), i = 0; i < n; ++i) {
            parts.push_back(type(depth - 1));
            blocks.push_back(number(0, 2));
            places.push_back(number(0, 1) ? next : number(-40, 80));
            next = places.back() + blocks.back() * parts.back().real->extent();
            place(naive, parts.back().naive, blocks.back(), places.back());
        }
        for (BothForms const& part : parts) types.push_back(part.real.get());
        return finished(TypeBuilder::structure(blocks, places, types), naive);
    }

    BothForms resized(BothForms old) {
        std::int64_t lb = number(-10, 10), extent = number(-20, 60);
        return finished(TypeBuilder::resized(*old.real, lb, extent), old.naive);
    }

    BothForms subarray(BothForms old) {
        std::int64_t const sizes[] = {number(1, 4), number(1, 5)};
        std::int64_t const parts[] = {number(1, sizes[0]), number(1, sizes[1])};
        std::int64_t const starts[] = {number(0, sizes[0] - parts[0]), number(0, sizes[1] - parts[1])};
        NaiveType naive;
        for (std::int64_t i = 0; i < parts[0]; ++i)
            place(naive, old.naive, parts[1], ((starts[0] + i) * sizes[1] + starts[1]) * old.naive.extent);
        return finished(TypeBuilder::subarray(sizes, parts, starts, *old.real), naive);
    }

    std::mt19937 random_;
};

}   // namespace tutti::test
