// SPDX-License-Identifier: BSD-3-Clause
// Tests with XPMEM between ranks that are threads of one process: the fake library is loaded under the name by which a
// Process opens it, and all memory of the ranks lies outside of arenas.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "runtime/settings/variables.hpp"
#include "runtime/state/rank_state.hpp"

namespace tutti {

class WithFakeXpmem : public testing::Test {
protected:
    void SetUp() override {
        library_ = dlopen(FAKE_XPMEM, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library_, nullptr) << dlerror();
        *static_cast<int*>(dlsym(library_, "fake_attaches_left")) = 1000;
    }
    void TearDown() override { dlclose(library_); }

    static Variables variables(bool registration_cache) {
        Variables v;
        v.wait = "shared";
        v.arena = v.cma = false;
        v.registration_cache = registration_cache;
        return v;
    }
    int attached() const { return *static_cast<int*>(dlsym(library_, "fake_attached")); }

private:
    void* library_ = nullptr;
};

/// The mappings that a rank has counted since this object was made.
class CountedMappings {
public:
    explicit CountedMappings(Counters const& counters) : counters_(counters) {}
    std::uint64_t maps() const { return counters_.maps.read() - maps_; }
    std::uint64_t hits() const { return counters_.hits.read() - hits_; }
    std::uint64_t unmaps() const { return counters_.unmaps.read() - unmaps_; }

private:
    Counters const& counters_;
    std::uint64_t const maps_ = counters_.maps.read(), hits_ = counters_.hits.read(), unmaps_ = counters_.unmaps.read();
};

}   // namespace tutti
