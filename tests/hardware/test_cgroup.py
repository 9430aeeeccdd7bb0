"""Limits of nested control groups, read from fake trees."""

import pytest

from gpuexplain.hardware.cgroup import MemoryLimit, read_memory_limit, read_quota_cpus, read_throttled_s
from gpuexplain.hardware.cpu import count_usable_threads

V2_MOUNT = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
V1_MOUNTS = (
    "31 30 0:27 {root} /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "32 30 0:28 {root} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)
V1_MAX = "9223372036854771712"


def _v2(group: str, files: dict[str, str]) -> dict[str, str]:
    return {
        "proc/self/cgroup": f"0::{group}\n",
        "proc/self/mountinfo": V2_MOUNT,
        **{f"sys/fs/cgroup/{name}": text for name, text in files.items()},
    }


def _v1(group: str, files: dict[str, str], mount_root: str = "/") -> dict[str, str]:
    return {
        "proc/self/cgroup": f"4:memory:{group}\n3:cpu,cpuacct:{group}\n1:name=systemd:/\n0::/\n",
        "proc/self/mountinfo": V1_MOUNTS.format(root=mount_root),
        **{f"sys/fs/cgroup/{name}": text for name, text in files.items()},
    }


@pytest.mark.parametrize(
    ("tree", "quota"),
    [
        pytest.param({}, None, id="no cgroups at all"),
        pytest.param(_v2("/a/b", {"a/cpu.max": "max 100000", "a/b/cpu.max": "max 100000"}), None, id="v2 none"),
        pytest.param(_v2("/a/b", {"a/b/cpu.max": "250000 100000\n"}), 2.5, id="v2 own"),
        pytest.param(
            _v2("/a/b", {"a/cpu.max": "150000 100000", "a/b/cpu.max": "400000 100000"}),
            1.5,
            id="v2 parent tighter",
        ),
        pytest.param(_v2("/", {"cpu.max": "50000 100000"}), 0.5, id="v2 namespace root"),
        pytest.param(_v2("/../../other", {"cpu.max": "300000 100000"}), 3.0, id="v2 outside the namespace"),
        pytest.param(_v2("/gone/deep", {"cpu.max": "200000 100000"}), 2.0, id="v2 own folder not mounted"),
        pytest.param(
            _v1(
                "/docker/x",
                {"cpu,cpuacct/cpu.cfs_quota_us": "400000", "cpu,cpuacct/cpu.cfs_period_us": "100000"},
                mount_root="/docker/x",
            ),
            4.0,
            id="v1 bind mount of own group",
        ),
        pytest.param(
            _v1(
                "/p/c",
                {
                    "cpu,cpuacct/p/cpu.cfs_quota_us": "100000",
                    "cpu,cpuacct/p/cpu.cfs_period_us": "50000",
                    "cpu,cpuacct/p/c/cpu.cfs_quota_us": "-1",
                    "cpu,cpuacct/p/c/cpu.cfs_period_us": "100000",
                },
            ),
            2.0,
            id="v1 parent",
        ),
        pytest.param(
            _v1("/", {"cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpu.cfs_period_us": "100000"}),
            None,
            id="v1 none",
        ),
        pytest.param(_v2("/", {"cpu.max": "garbage"}), None, id="unreadable"),
    ],
)
def test_the_tightest_quota_of_the_path_counts(write_tree, tree, quota):
    """Every ancestor's quota binds; "max" and -1 are none."""
    assert read_quota_cpus(write_tree(tree)) == quota


@pytest.mark.parametrize(
    ("affinity", "quota", "threads"),
    [(192, 4.0, 4), (192, 4.9, 4), (2, 8.0, 2), (8, 0.5, 1), (8, None, 8), (1, 1.0, 1)],
)
def test_threads_are_the_smaller_of_affinity_and_whole_quota_at_least_one(affinity, quota, threads):
    """A quota below one CPU still gives one thread."""
    assert count_usable_threads(affinity, quota) == threads


@pytest.mark.parametrize(
    ("tree", "limit"),
    [
        pytest.param({}, None, id="no cgroups"),
        pytest.param(_v2("/a", {"a/memory.max": "max"}), None, id="v2 max"),
        pytest.param(_v1("/", {"memory/memory.limit_in_bytes": V1_MAX}), None, id="v1 sentinel"),
        pytest.param(
            _v2(
                "/a/b",
                {
                    "a/memory.max": "4000",
                    "a/memory.current": "3000",
                    "a/memory.stat": "anon 1\ninactive_file 500\n",
                    "a/b/memory.max": "9000",
                    "a/b/memory.current": "100",
                },
            ),
            MemoryLimit(limit_bytes=4000, free_bytes=1500),
            id="v2 parent, cache counts as room",
        ),
        pytest.param(
            _v1(
                "/",
                {
                    "memory/memory.limit_in_bytes": V1_MAX,
                    "memory/memory.usage_in_bytes": "800",
                    "memory/memory.stat": "hierarchical_memory_limit 1000\ntotal_inactive_file 100\n",
                },
            ),
            MemoryLimit(limit_bytes=1000, free_bytes=300),
            id="v1 limit of a hidden ancestor",
        ),
    ],
)
def test_the_tightest_memory_limit_of_the_path_counts(write_tree, tree, limit):
    """Room is what is left under the limit once reclaimable cache is given back."""
    assert read_memory_limit(write_tree(tree)) == limit


@pytest.mark.parametrize(
    ("tree", "seconds"),
    [
        pytest.param({}, None, id="none"),
        pytest.param(_v2("/a", {"a/cpu.stat": "usage_usec 9\nthrottled_usec 2500000\n"}), 2.5, id="v2"),
        pytest.param(_v1("/", {"cpu,cpuacct/cpu.stat": "nr_throttled 3\nthrottled_time 4000000000\n"}), 4.0, id="v1"),
    ],
)
def test_throttled_time_is_in_seconds_in_both_versions(write_tree, tree, seconds):
    """Version 2 counts microseconds, version 1 nanoseconds."""
    assert read_throttled_s(write_tree(tree)) == seconds
