// SPDX-License-Identifier: BSD-3-Clause
// Reads the CPU quota of cgroup versions 1 and 2 from simulated /proc and /sys folders; also tests the real affinity
// mask.
#include "topo/this_machine.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "tests/topo/files.hpp"
#include "topo/binding.hpp"

namespace tutti::topo {
namespace {

class Quota : public Files {};

TEST_F(Quota, NothingToReadMeansNoLimit) {
    EXPECT_EQ(cgroup_cpu_quota(root), std::nullopt);
    EXPECT_EQ(usable_cores(6, root), 6);
}

TEST_F(Quota, Version2) {
    write("/proc/self/cgroup", "0::/job\n");
    write("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
    EXPECT_EQ(cgroup_cpu_quota(root), std::nullopt);
    write("/sys/fs/cgroup/job/cpu.max", "250000 100000\n");
    EXPECT_EQ(cgroup_cpu_quota(root), 2.5);
    EXPECT_EQ(usable_cores(8, root), 2);
    EXPECT_EQ(usable_cores(1, root), 1);
}

TEST_F(Quota, AncestorsCountToo) {
    write("/proc/self/cgroup", "0::/a/b/c\n");
    write("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
    write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    write("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
    EXPECT_EQ(cgroup_cpu_quota(root), 3.0);
}

TEST_F(Quota, InAContainerTheMountPointIsTheOwnGroup) {
    write("/proc/self/cgroup", "0::/docker/0123456789ab\n");   // the host's path, absent in the container
    write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    EXPECT_EQ(cgroup_cpu_quota(root), 1.5);
    write("/proc/self/cgroup", "0::/\n");
    EXPECT_EQ(cgroup_cpu_quota(root), 1.5);
}

TEST_F(Quota, InAContainerTheHostsPathIsTheBeginning) {
    write("/proc/self/cgroup", "0::/docker/0123456789ab/job\n");
    write("/sys/fs/cgroup/cpu.max", "300000 100000\n");
    write("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
    EXPECT_EQ(cgroup_cpu_quota(root), 1.5);
}

TEST_F(Quota, Version1) {
    write("/proc/self/cgroup", "12:cpuset:/x\n4:cpu,cpuacct:/job\n1:name=systemd:/\n");
    write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(cgroup_cpu_quota(root), std::nullopt);
    write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
    EXPECT_EQ(cgroup_cpu_quota(root), 4.0);
    EXPECT_EQ(usable_cores(64, root), 4);
}

TEST_F(Quota, OtherControllersHaveOtherGroups) {
    write("/proc/self/cgroup", "3:cpuset:/x\n2:cpuacct:/x\n1:memory:/x\n");
    write("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "100000\n");   // another process's group
    write("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(cgroup_cpu_quota(root), std::nullopt);
}

TEST_F(Quota, BothVersionsSideBySideTakeTheTighter) {
    write("/proc/self/cgroup", "2:cpuacct:/\n1:cpu:/\n0::/\n");
    write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
    write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(cgroup_cpu_quota(root), 3.0);
    write("/sys/fs/cgroup/unified/cpu.max", "100000 50000\n");
    EXPECT_EQ(cgroup_cpu_quota(root), 2.0);
}

TEST_F(Quota, LessThanOneCpuIsStillOne) {
    write("/proc/self/cgroup", "0::/\n");
    write("/sys/fs/cgroup/cpu.max", "20000 100000\n");
    EXPECT_EQ(usable_cores(8, root), 1);
}

TEST_F(Quota, InvalidTextIsNoLimit) {
    for (const char* text : {"", "\n", "max", "0 100000", "-5 100000", "100000 0", "hello world", "100000"}) {
        write("/proc/self/cgroup", "0::/\nnonsense\n::\n:\n0::relative\n");
        write("/sys/fs/cgroup/cpu.max", text);
        EXPECT_EQ(usable_cores(3, root), 3) << '"' << text << '"';
    }
}

TEST(Affinity, EqualsKernelMaskAndFollowsBinding) {
    // A separate thread, so that this process keeps its mask.
    std::thread([] {
        const std::vector<int> before = affinity_pus();
        ASSERT_FALSE(before.empty());
        ASSERT_EQ(apply_binding(std::vector{before.back()}), "");
        EXPECT_EQ(affinity_pus(), std::vector{before.back()});
        EXPECT_EQ(usable_cores(), 1);
        EXPECT_EQ(apply_binding({}), "");
        EXPECT_EQ(affinity_pus(), std::vector{before.back()});
    }).join();
}

TEST(Affinity, BindingToMissingUnitReturnsMessage) {
    std::thread([] {
        const std::string error = apply_binding(std::vector{100000, 100001, 100002});
        EXPECT_NE(error.find("100000-100002"), std::string::npos) << error;
    }).join();
}

}   // namespace
}   // namespace tutti::topo
