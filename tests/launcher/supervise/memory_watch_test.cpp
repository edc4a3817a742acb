// SPDX-License-Identifier: BSD-3-Clause
// Both versions of control groups, read from artificial /proc and /sys.
#include "launcher/supervise/rank_exit.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

class MemoryWatchTest : public testing::Test {
protected:
    void SetUp() override {
        root = std::filesystem::temp_directory_path() / "tutti-memory-XXXXXX";
        ASSERT_NE(mkdtemp(root.data()), nullptr);
        write("/proc/meminfo", "MemTotal:       4194304 kB\nMemFree: 1 kB\n");
    }
    void TearDown() override { std::filesystem::remove_all(root); }

    void write(std::string const& path, std::string const& text) {
        std::filesystem::path const whole = root + path;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream(whole) << text;
    }

    std::string root;
};

TEST_F(MemoryWatchTest, reports_nothing_without_evidence) { EXPECT_EQ(MemoryMonitor(root).take_oom_cause(), ""); }

TEST_F(MemoryWatchTest, reads_version_2) {
    write("/proc/self/cgroup", "0::/jobs/mine\n");
    write("/sys/fs/cgroup/jobs/memory.events", "low 0\nmax 0\noom 0\noom_kill 0\n");
    write("/sys/fs/cgroup/jobs/memory.max", "536870912\n");
    write("/sys/fs/cgroup/jobs/memory.peak", "500000000\n");
    write("/sys/fs/cgroup/jobs/mine/memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\n");
    write("/sys/fs/cgroup/jobs/mine/memory.max", "max\n");
    MemoryMonitor watch(root);
    EXPECT_EQ(watch.take_oom_cause(), "") << "events before the start do not count";
    write("/sys/fs/cgroup/jobs/mine/memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n");
    EXPECT_EQ(watch.take_oom_cause(), "the machine's memory, 4096 MiB, was used up") << "no limit was reached";
    write("/sys/fs/cgroup/jobs/memory.peak", "536870912\n");
    write("/sys/fs/cgroup/jobs/mine/memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 3\n");
    EXPECT_EQ(watch.take_oom_cause(), "the memory limit of its cgroup, 512 MiB, was reached");
    EXPECT_EQ(watch.take_oom_cause(), "") << "reported already";
}

TEST_F(MemoryWatchTest, reads_version_2_of_kernels_without_the_highest_use) {
    write("/proc/self/cgroup", "0::/\n");
    write("/sys/fs/cgroup/memory.events", "oom 0\noom_kill 0\n");
    write("/sys/fs/cgroup/memory.max", "1073741824\n");
    MemoryMonitor watch(root);
    write("/sys/fs/cgroup/memory.events", "oom 1\noom_kill 1\n");
    EXPECT_EQ(watch.take_oom_cause(), "the memory limit of its cgroup, 1024 MiB, was reached");
}

TEST_F(MemoryWatchTest, reads_version_1_also_where_the_path_is_the_hosts) {
    write("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n");
    std::string const folder = "/sys/fs/cgroup/memory/memory.";
    auto kills = [&](int n) {
        write(folder + "oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill " + std::to_string(n) + "\n");
    };
    kills(4);
    write(folder + "limit_in_bytes", "67108864\n");
    write(folder + "max_usage_in_bytes", "67104768\n");
    MemoryMonitor watch(root);
    EXPECT_EQ(watch.take_oom_cause(), "") << "full, but no process was killed";
    kills(5);
    EXPECT_EQ(watch.take_oom_cause(), "the memory limit of its cgroup, 64 MiB, was reached");
    write(folder + "limit_in_bytes", "9223372036854771712\n");
    kills(6);
    EXPECT_EQ(watch.take_oom_cause(), "the machine's memory, 4096 MiB, was used up") << "there is no limit";
    write(folder + "memsw.limit_in_bytes", "134217728\n");
    write(folder + "memsw.max_usage_in_bytes", "134217728\n");
    kills(7);
    EXPECT_EQ(watch.take_oom_cause(), "the memory limit of its cgroup, 128 MiB, was reached") << "with swap";
}

TEST_F(MemoryWatchTest, finds_a_cgroup_of_a_container_by_the_hosts_path) {
    write("/proc/self/cgroup", "4:memory:/docker/abc/job\n");
    std::string const folder = "/sys/fs/cgroup/memory/job/memory.";
    write("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill 0\n");
    write(folder + "oom_control", "oom_kill 0\n");
    write(folder + "limit_in_bytes", "67108864\n");
    write(folder + "max_usage_in_bytes", "67108864\n");
    MemoryMonitor watch(root);
    write(folder + "oom_control", "oom_kill 1\n");
    EXPECT_EQ(watch.take_oom_cause(), "the memory limit of its cgroup, 64 MiB, was reached");
}

}   // namespace
}   // namespace tutti::launcher
