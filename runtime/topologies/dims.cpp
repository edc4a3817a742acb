// SPDX-License-Identifier: BSD-3-Clause
// Balanced grid sizes by a search over divisors. With smallest factor m, the largest of k factors is at least the
// (k−1)-th root of n/m, so few m need a look; for each, largest factors are tried upwards until the rest fits between.
#include "runtime/topologies/dims.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/base/error.hpp"

namespace tutti {
namespace {

using Factor = std::int64_t;

/// base^exponent, or more than any int when it is.
Factor power(Factor base, int exponent) {
    constexpr Factor enough = Factor{1} << 31;
    Factor result = 1;
    for (int i = 0; i < exponent && result < enough; ++i) result *= base;
    return std::min(result, enough);
}

std::vector<Factor> divisors_of(Factor n) {
    std::vector<Factor> low, high;
    for (Factor d = 1; d * d <= n; ++d) {
        if (n % d != 0) continue;
        low.push_back(d);
        if (d != n / d) high.push_back(n / d);
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
}

class Search {
public:
    Search(Factor n, int k) : n_(n), k_(k), divisors_(divisors_of(n)), best_(static_cast<std::size_t>(k)) {}

    /// The best k factors of n, non-increasing.
    std::vector<int> run() {
        for (auto smallest = divisors_.rbegin(); smallest != divisors_.rend(); ++smallest) {
            if (power(*smallest, k_) > n_) continue;
            if (hopeless(*smallest)) break;
            try_smallest(*smallest);
        }
        return best_;
    }

private:
    /// Smaller smallest factors only need larger largest ones.
    bool hopeless(Factor smallest) const {
        Factor enough = smallest + difference_ - 1;   // the largest factor that would be an improvement
        return k_ > 1 && difference_ != none && power(enough, k_ - 1) < n_ / smallest;
    }

    void try_smallest(Factor smallest) {
        std::vector<int> factors(static_cast<std::size_t>(k_));
        factors.back() = static_cast<int>(smallest);
        if (k_ == 1) {
            if (smallest == n_) best_ = factors;
            return;
        }
        for (Factor largest : divisors_) {
            if (largest < smallest || power(largest, k_ - 1) < n_ / smallest) continue;
            if (largest - smallest >= difference_) return;
            factors.front() = static_cast<int>(largest);
            if (n_ / smallest % largest == 0 && fill(factors, k_ - 2, n_ / smallest / largest)) {
                difference_ = largest - smallest;
                best_ = factors;
                return;
            }
        }
    }

    /// Puts factors of `rest` into the places from `place` down to 1, the greatest possible first.
    bool fill(std::vector<int>& factors, int place, Factor rest) const {
        if (place <= 0) return rest == 1;
        Factor low = factors[static_cast<std::size_t>(place) + 1], high = factors.front();
        for (auto d = divisors_.rbegin(); d != divisors_.rend() && *d >= low; ++d) {
            if (*d > high || rest % *d != 0 || power(*d, place) > rest || power(high, place - 1) < rest / *d) continue;
            factors[static_cast<std::size_t>(place)] = static_cast<int>(*d);
            if (fill(factors, place - 1, rest / *d)) return true;
        }
        return false;
    }

    static constexpr Factor none = std::numeric_limits<int>::max();

    Factor const n_;
    int const k_;
    std::vector<Factor> const divisors_;
    std::vector<int> best_;
    Factor difference_ = none;
};

}   // namespace

void balance_dims(int nodes, std::span<int> dims) {
    if (nodes < 1) fail(ErrorClass::arg, "nnodes is ", nodes, " but must be at least 1");
    Factor given = 1;
    int open = 0;
    for (int d : dims) {
        if (d < 0) fail(ErrorClass::dims, "dims contains ", d, ": must be 0 (to be chosen) or more");
        if (d == 0) ++open;
        else given = std::min(given * d, Factor{1} << 32);
    }
    if (nodes % given != 0 || (open == 0 && given != nodes))
        fail(ErrorClass::dims, "the given dimensions multiply to ", given, ", which does not make ", nodes, " nodes");
    if (open == 0) return;
    std::vector<int> chosen = Search(nodes / given, open).run();
    auto next = chosen.begin();
    for (int& d : dims)
        if (d == 0) d = *next++;
}

}   // namespace tutti
