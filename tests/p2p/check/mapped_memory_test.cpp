// SPDX-License-Identifier: BSD-3-Clause
// Which addresses are mapped, from the system or from the cache.
#include "p2p/check/mapped_memory.hpp"

#include <memory>

#include <sys/mman.h>
#include <unistd.h>

#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

std::byte of_the_program[100'000];

TEST(MappedMemory, ContainsTheProgramsMemory) {
    run(1, [](Rank& r) {
        MappedMemory memory(r.process);
        std::byte on_the_stack[100];
        auto const on_the_heap = std::make_unique<std::byte[]>(1000);
        EXPECT_TRUE(memory.is_mapped(of_the_program, sizeof of_the_program));
        EXPECT_TRUE(memory.is_mapped(on_the_stack, sizeof on_the_stack));
        EXPECT_TRUE(memory.is_mapped(on_the_heap.get(), 1000));
        EXPECT_TRUE(memory.is_mapped(nullptr, 0));
        EXPECT_FALSE(memory.is_mapped(nullptr, 1));
        EXPECT_FALSE(memory.is_mapped(sbrk(0), std::size_t{1} << 40));
        EXPECT_FALSE(memory.is_mapped(on_the_heap.get(), std::size_t{1} << 46));
        EXPECT_FALSE(memory.is_mapped(of_the_program, ~std::size_t{0}));
    });
}

TEST(MappedMemory, MayBeUnmapped) {
    run(1, [](Rank& r) {
        auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        void* const pages = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(pages, MAP_FAILED);
        auto* const first = static_cast<std::byte*>(pages);
        MappedMemory memory(r.process);
        EXPECT_TRUE(memory.is_mapped(first, 3 * page));
        munmap(first + page, page);
        EXPECT_FALSE(memory.is_mapped(first + page - 1, 2));
        EXPECT_TRUE(memory.is_mapped(first + page - 1, 1));
        EXPECT_FALSE(memory.is_mapped(first, 3 * page));
        munmap(first, page);
        munmap(first + 2 * page, page);
    });
}

}   // namespace
}   // namespace tutti::p2p::test
