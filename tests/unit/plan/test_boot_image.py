# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The initramfs: which tool made it, whether it has the names of today, and whether it names the NICs at all."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.boot_image import names_nics, read_image

from tests.unit.fakes import FakePort

LINK = "/etc/systemd/network/09-railwright-rail0.link"
DEBIAN = "/boot/initrd.img-6.1.0"


@pytest.mark.parametrize(
    ("files", "rebuild", "lister"),
    [
        ((DEBIAN, "/usr/sbin/update-initramfs"), "update-initramfs -u -k all", "lsinitramfs"),
        ((DEBIAN, "/usr/bin/dracut"), "dracut --force --regenerate-all", "lsinitrd"),
        (("/boot/initramfs-6.1.0.img", "/usr/bin/dracut"), "dracut --force --regenerate-all", "lsinitrd"),
        (("/boot/initrd-6.1.0", "/usr/bin/dracut"), "dracut --force --regenerate-all", "lsinitrd"),
    ],
)
def test_the_tool_that_made_it(files, rebuild, lister):
    image = read_image(FakePort(dict.fromkeys(files, b"")), "6.1.0", ())
    assert (image.path, " ".join(image.rebuild.argv), image.lister) == (files[0], rebuild, lister)
    assert image.rebuild.timeout >= 600


@pytest.mark.parametrize(
    "files", [(DEBIAN,), ("/usr/sbin/update-initramfs",), (), ("/boot/initrd.img-5.10.0", "/usr/bin/dracut")]
)
def test_none_that_is_known(files):
    port = FakePort(dict.fromkeys(files, b""))
    assert read_image(port, "6.1.0", (LINK,)) is None
    assert port.calls == []
    assert read_image(FakePort({DEBIAN: b"", "/usr/bin/dracut": b""}), None, ()) is None


@pytest.mark.parametrize(
    ("reply", "newer"), [("", ()), (f"{LINK}\n", (LINK,)), ("hangs", (LINK,)), ((1, "no"), (LINK,)), (None, ())]
)
def test_files_that_changed_since(reply, newer):
    port = FakePort({DEBIAN: b"", "/usr/sbin/update-initramfs": b""}, {"find": reply})
    assert read_image(port, "6.1.0", (LINK,)).newer == newer
    assert port.calls == [f"find {LINK} -newer {DEBIAN}"]


@pytest.mark.parametrize(
    ("listing", "driver", "named"),
    [
        ("usr/lib/modules/6.1.0/kernel/drivers/net/ethernet/mellanox/mlx5/core/mlx5_core.ko.xz\n", "mlx5_core", True),
        ("usr/lib/modules/6.1.0/kernel/drivers/net/virtio-net.ko\n", "virtio_net", True),
        ("usr/lib/modules/6.1.0/kernel/drivers/net/mlx5_core.ko\n", "virtio_net", False),
        ("usr/lib/modules/6.1.0/kernel/mlx5_core.ko.d/README\n", "mlx5", False),
        ("", "mlx5_core", False),
        ("hangs", "mlx5_core", True),
        ((1, "no space"), "mlx5_core", True),
    ],
)
def test_whether_nics_come_up_in_it(listing, driver, named):
    files = {DEBIAN: b"", "/usr/sbin/update-initramfs": b"", f"/sys/module/{driver}/initstate": b"live\n"}
    port = FakePort(files, {"lsinitramfs": listing})
    assert names_nics(port, read_image(port, "6.1.0", ()), (driver,)) == named


def test_a_driver_that_is_built_in_is_in_every_image():
    port = FakePort({DEBIAN: b"", "/usr/sbin/update-initramfs": b"", "/sys/module/virtio_net/parameters": b""})
    assert names_nics(port, read_image(port, "6.1.0", ()), ("virtio_net",))
