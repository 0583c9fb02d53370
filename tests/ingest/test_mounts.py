"""Mounts: which file system a path lies on, and which of them tell of no changes."""

from __future__ import annotations

import pytest

from mindscape.ingest.mounts import kind_of, mount_point, mounted, parse, tells_nothing

TABLE = rb"""36 35 98:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
91 36 0:52 / /home/ana/NAS rw,relatime shared:40 - nfs4 nas:/vol/docs rw,vers=4.2
92 36 0:53 / /home/ana/Win\040Share rw - cifs //pc/share rw
93 36 0:54 / /home/ana/gdrive rw,nosuid,nodev - fuse.rclone gdrive: rw
94 36 0:55 / /mnt/auto rw master:1 propagate_from:2 - autofs systemd-1 rw
95 94 0:56 / /mnt/auto rw - 9p hostshare rw,trans=virtio
96 36 0:57 / /home/ana/NAS/local rw - ext4 /dev/vdb1 rw
not a line of this table
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (b"/home/ana/NAS/x.md", "nfs4"),
        (b"/home/ana/NAS", "nfs4"),
        (b"/home/ana/Win Share/y.txt", "cifs"),
        (b"/home/ana/NAS/local/z.md", "ext4"),
        (b"/home/ana/NASty/q.md", "ext4"),
        (b"/home/ana/gdrive/deep/a.md", "fuse.rclone"),
        (b"/mnt/auto/b.md", "9p"),
        (b"/", "ext4"),
    ],
)
def test_a_path_lies_on_the_longest_mount_point_above_it_the_latest_mount_counting(
    path: bytes, kind: str
) -> None:
    mounts = parse(TABLE)
    assert kind_of(mounts[mount_point(path, mounts)]) == kind


def test_what_is_mounted_is_part_of_what_a_mount_is_known_by() -> None:
    assert parse(TABLE)[b"/home/ana/NAS"] == "nfs4 nas:/vol/docs"


def test_network_shared_and_user_space_file_systems_tell_nothing_and_disks_do() -> None:
    kinds = ("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "vboxsf", "afs", "fuse.sshfs", "fuse", "webdav")
    assert [kind for kind in kinds if not tells_nothing(f"{kind} x")] == []
    disks = ("ext4", "btrfs", "xfs", "zfs", "vfat", "exfat", "fuseblk", "overlay", "tmpfs", "apfs")
    assert [kind for kind in disks if tells_nothing(f"{kind} x")] == []


def test_this_systems_own_mounts_are_known() -> None:
    assert b"/" in mounted()
