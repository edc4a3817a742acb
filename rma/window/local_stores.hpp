// SPDX-License-Identifier: BSD-3-Clause
// --check: what a program stores itself into its part of a window where others access it between the same two fences
// (MPI 4.1, 12.7). The part is copied in each fence, when all have come and none may go on; in the next one it is
// compared where others only got something, and where one of them put something: then with what that one has found
// before and has left there. Loads leave no trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::rma {

struct Accessed;

class LocalStores {
public:
    static constexpr std::size_t most = 16 << 20;   ///< bytes of a part; a larger one is not watched

    /// An epoch begins: this is what is in the part. `call`: the site of the fence.
    void open(void const* base, std::int64_t bytes, std::uint64_t site);
    /// Nothing is known of the next epoch.
    void close() { is_open_ = false; }
    /// The accesses among `all`, of all ranks to the part in the epoch that ends, whose bytes the program has changed.
    /// They are in the order of their first bytes.
    std::vector<Accessed> changed(std::span<Accessed const> all) const;
    /// Of the fence that has opened the epoch.
    std::uint64_t site() const { return site_; }

private:
    bool has_changed(Accessed const& one) const;

    bool is_open_ = false;
    std::byte const* base_ = nullptr;
    std::uint64_t site_ = 0;
    std::vector<std::byte> before_;
};

}   // namespace tutti::rma
