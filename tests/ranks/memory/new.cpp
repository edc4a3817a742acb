// SPDX-License-Identifier: BSD-3-Clause
// ranks: 2
// C++: all kinds of operator new, containers, and objects that exist before main and after MPI_Finalize.
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tests/ranks/memory/arena_check.h"

namespace {

std::vector<double> global(100000, 1.5);
std::string text(100000, 'x');

struct alignas(128) Wide {
    char bytes[100000];
};

}   // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    CHECK_SHARED(global.data());
    CHECK_SHARED(text.data());
    auto wide = std::make_unique<Wide>();
    CHECK(reinterpret_cast<uintptr_t>(wide.get()) % 128 == 0, "alignment of %p", static_cast<void*>(wide.get()));
    CHECK_SHARED(wide.get());
    for (int i = 0; i < 2000000; ++i) global.push_back(i);
    CHECK(global.size() == 2100000 && global[0] == 1.5 && global.back() == 1999999, "size %zu", global.size());
    std::unique_ptr<std::vector<int>> made_elsewhere;
    std::thread([&] { made_elsewhere = std::make_unique<std::vector<int>>(300000, 7); }).join();
    CHECK_SHARED(made_elsewhere->data());
    made_elsewhere.reset();   // freed in another thread than the one that made it, which has ended
    std::vector<double> sum(global.size());
    MPI_Allreduce(global.data(), sum.data(), static_cast<int>(sum.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum[0] == 3 && sum.back() == 2 * 1999999.0, "%g", sum.back());
    bool refused = !uses_tutti_allocator;   // a sanitizer ends the program instead
    if (!refused) try {
            std::vector<char> all(std::size_t{1} << 60);
        } catch (std::bad_alloc const&) { refused = true; }
    CHECK(refused, "too much");
    MPI_Finalize();
    return 0;
}
