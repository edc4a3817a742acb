// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target without a fuzzer: passes it each file of a folder, then mutations of them, the same ones in each
// run.
// Usage: PROGRAM FOLDER MUTATIONS
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

std::vector<Input> read_all(char const* folder) {
    std::vector<std::filesystem::path> names;
    for (auto const& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path());
    std::sort(names.begin(), names.end());
    std::vector<Input> inputs;
    for (auto const& name : names) {
        std::ifstream file(name, std::ios::binary);
        inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return inputs;
}

constexpr std::array<std::uint8_t, 5> bounds = {0, 1, 0x7f, 0x80, 0xff};

void mutate(Input& input, std::vector<Input> const& all, std::mt19937& random) {
    auto const somewhere = [&] { return static_cast<std::ptrdiff_t>(random() % (input.size() + 1)); };
    switch (random() % 5) {
    case 0:   // a few bits
        for (int i = 0; i < 3 && !input.empty(); ++i)
            input[random() % input.size()] ^= static_cast<std::uint8_t>(1u << random() % 8);
        break;
    case 1:   // a boundary value
        if (!input.empty()) input[random() % input.size()] = bounds[random() % bounds.size()];
        break;
    case 2: input.resize(static_cast<std::size_t>(somewhere())); break;
    case 3: {   // appends another input without its first byte
        Input const& other = all[random() % all.size()];
        if (!other.empty()) input.insert(input.end(), other.begin() + 1, other.end());
        break;
    }
    case 4: input.insert(input.begin() + somewhere(), random() % 20, static_cast<std::uint8_t>(random())); break;
    }
}

}   // namespace

int main(int argc, char** argv) {
    if (argc != 3) return std::cerr << "usage: " << argv[0] << " FOLDER MUTATIONS\n", 2;
    std::vector<Input> const inputs = read_all(argv[1]);
    if (inputs.empty()) return std::cerr << "no file in " << argv[1] << '\n', 1;
    for (Input const& input : inputs) LLVMFuzzerTestOneInput(input.data(), input.size());
    std::mt19937 random(1);
    long const mutations = std::atol(argv[2]);
    for (long i = 0; i < mutations; ++i) {
        Input input = inputs[random() % inputs.size()];
        for (auto times = 1 + random() % 4; times > 0; --times) mutate(input, inputs, random);
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::cout << inputs.size() << " inputs and " << mutations << " mutations of them\n";
}
