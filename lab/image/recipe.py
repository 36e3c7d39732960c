"""What goes into the image. Its text is part of the cache key, as is all of this package."""

from __future__ import annotations

# linux-image-amd64 and not its cloud flavour, which has no soft RoCE.
BASE_PACKAGES = (
    "linux-image-amd64", "systemd", "systemd-sysv", "udev", "kmod", "dbus", "busybox-static",
    "openssh-server", "python3", "iproute2", "iputils-ping", "iputils-arping", "ethtool", "pciutils",
    "procps", "lldpd", "tcpdump", "less",
)
BUILD_PACKAGES = ("linux-headers-amd64", "gcc", "make")
# In the node's own repository, not installed: that is the work of the roles.
REPOSITORY_PACKAGES = (
    "rdma-core", "ibverbs-utils", "rdmacm-utils", "infiniband-diags", "perftest", "ibverbs-providers",
)

# Drivers that no node has a device for; without them the image is a third of the size.
EXCLUDED_PATHS = (
    "/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*",
    *(
        f"{prefix}/lib/modules/*/kernel/{directory}/*"
        for prefix in ("", "/usr")
        for directory in (
            "sound", "net/bluetooth", "net/mac80211", "net/wireless",
            "drivers/ata", "drivers/bluetooth", "drivers/comedi", "drivers/gpu", "drivers/hid",
            "drivers/hwmon", "drivers/iio", "drivers/input", "drivers/isdn", "drivers/media",
            "drivers/mmc", "drivers/mtd", "drivers/net/wireless", "drivers/platform",
            "drivers/scsi", "drivers/staging", "drivers/thunderbolt", "drivers/usb",
        )
    ),
)

# In this order; each pulls in its dependencies. ext4 asks for crc32c by name, not by symbol.
INITRAMFS_MODULES = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")

DISK_MIB = 3072
HEADROOM_INODES = 60000

MASKED_UNITS = (
    "apt-daily.timer", "apt-daily-upgrade.timer", "apt-daily.service", "apt-daily-upgrade.service",
    "dpkg-db-backup.timer", "man-db.timer", "e2scrub_all.timer", "e2scrub_reap.service",
    "fstrim.timer", "systemd-timesyncd.service", "systemd-random-seed.service", "getty@tty1.service",
    "systemd-networkd-wait-online.service", "systemd-update-utmp.service",
    "systemd-update-utmp-runlevel.service", "systemd-binfmt.service", "systemd-pstore.service",
    "sys-kernel-debug-tracing.mount", "dev-hugepages.mount", "rescue-ssh.target",
    "keyboard-setup.service", "console-setup.service", "cron.service", "systemd-firstboot.service",
)
ENABLED_UNITS = (
    ("multi-user.target.wants", "systemd-networkd.service"),
    ("sockets.target.wants", "systemd-networkd.socket"),
    ("multi-user.target.wants", "lldpd.service"),
    ("multi-user.target.wants", "ssh.service"),
)

INIT = """\
#!/bin/busybox sh
# Loads the disk and file system drivers and hands over; with railwright.probe it only tells that it ran.
/bin/busybox mount -t proc proc /proc
for word in $(/bin/busybox cat /proc/cmdline); do
  if [ "$word" = railwright.probe ]; then
    echo RAILWRIGHT-PROBE-OK
    /bin/busybox poweroff -f
  fi
done
/bin/busybox mount -t devtmpfs dev /dev
while read -r module; do
  /bin/busybox insmod "/modules/$module"
done < /modules/order
tries=0
until [ -b /dev/vda ]; do
  tries=$((tries + 1))
  [ $tries -lt 200 ] || { echo "railwright: no disk"; /bin/busybox poweroff -f; }
  /bin/busybox usleep 50000
done
/bin/busybox mount -t ext4 -o noatime /dev/vda /root || /bin/busybox poweroff -f
/bin/busybox umount /proc
/bin/busybox mount --move /dev /root/dev
exec /bin/busybox switch_root /root /sbin/init
"""
