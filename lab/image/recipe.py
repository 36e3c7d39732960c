"""What goes into the image. Its text is part of the cache key, as is all of this package."""

from __future__ import annotations

# linux-image-amd64 and not its cloud flavour, which has no soft RoCE.
BASE_PACKAGES = (
    "linux-image-amd64",
    "systemd",
    "systemd-sysv",
    "udev",
    "kmod",
    "dbus",
    "busybox-static",
    "openssh-server",
    "python3",
    # What Ansible installs packages with; servers come with it.
    "python3-apt",
    "iproute2",
    "iputils-ping",
    "iputils-arping",
    "ethtool",
    "pciutils",
    "procps",
    "lldpd",
    "tcpdump",
    "less",
)
BUILD_PACKAGES = ("linux-headers-amd64", "gcc", "make")
# In the node's own repository, not installed: that is the work of the roles.
REPOSITORY_PACKAGES = (
    "rdma-core",
    "ibverbs-utils",
    "rdmacm-utils",
    "infiniband-diags",
    "perftest",
    "ibverbs-providers",
    # What else may own a node's network, and what may filter it.
    "ifupdown",
    "ifenslave",
    "vlan",
    "network-manager",
    "nftables",
    # Changes QoS settings by itself once it is installed.
    "lldpad",
)

# Drivers that no node has a device for; without them the image is a third of the size.
EXCLUDED_PATHS = (
    "/usr/share/doc/*",
    "/usr/share/man/*",
    "/usr/share/locale/*",
    "/usr/share/info/*",
    *(
        f"{prefix}/lib/modules/*/kernel/{directory}/*"
        for prefix in ("", "/usr")
        for directory in (
            "sound",
            "net/bluetooth",
            "net/mac80211",
            "net/wireless",
            "drivers/ata",
            "drivers/bluetooth",
            "drivers/comedi",
            "drivers/gpu",
            "drivers/hid",
            "drivers/hwmon",
            "drivers/iio",
            "drivers/input",
            "drivers/isdn",
            "drivers/media",
            "drivers/mmc",
            "drivers/mtd",
            "drivers/net/wireless",
            "drivers/platform",
            "drivers/scsi",
            "drivers/staging",
            "drivers/thunderbolt",
            "drivers/usb",
        )
    ),
)

# In this order; each pulls in its dependencies. ext4 asks for crc32c by name, not by symbol.
INITRAMFS_MODULES = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")

DISK_MIB = 3072
HEADROOM_INODES = 60000

# An emulated node boots in processor time: what no test looks at is not started.
MASKED_UNITS = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "apt-daily.service",
    "apt-daily-upgrade.service",
    "dpkg-db-backup.timer",
    "man-db.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "fstrim.timer",
    "systemd-tmpfiles-clean.timer",
    "systemd-timesyncd.service",
    "systemd-random-seed.service",
    "systemd-boot-random-seed.service",
    "getty@tty1.service",
    "systemd-networkd-wait-online.service",
    "systemd-update-utmp.service",
    "systemd-update-utmp-runlevel.service",
    "systemd-binfmt.service",
    "systemd-pstore.service",
    "systemd-logind.service",
    "systemd-journal-flush.service",
    "systemd-remount-fs.service",
    "systemd-tpm2-setup.service",
    "systemd-tpm2-setup-early.service",
    "sys-kernel-tracing.mount",
    "dev-hugepages.mount",
    "dev-mqueue.mount",
    "sys-fs-fuse-connections.mount",
    "modprobe@drm.service",
    "modprobe@dm_mod.service",
    "modprobe@efi_pstore.service",
    "modprobe@fuse.service",
    "modprobe@loop.service",
    "proc-sys-fs-binfmt_misc.automount",
    "systemd-ask-password-console.path",
    "systemd-ask-password-wall.path",
)
MASKED_GENERATORS = (
    "systemd-bless-boot-generator",
    "systemd-cryptsetup-generator",
    "systemd-debug-generator",
    "systemd-gpt-auto-generator",
    "systemd-hibernate-resume-generator",
    "systemd-integritysetup-generator",
    "systemd-rc-local-generator",
    "systemd-run-generator",
    "systemd-system-update-generator",
    "systemd-sysv-generator",
    "systemd-veritysetup-generator",
)
ENABLED_UNITS = (
    ("multi-user.target.wants", "systemd-networkd.service"),
    ("sockets.target.wants", "systemd-networkd.socket"),
    ("multi-user.target.wants", "lldpd.service"),
    ("multi-user.target.wants", "ssh.service"),
)
DROP_INS = {
    # Some 200 devices are announced again at boot; these are the kinds that a node is about.
    "systemd-udev-trigger.service": "[Service]\nExecStart=\nExecStart=udevadm trigger --type=devices "
    "--action=add --subsystem-match=virtio --subsystem-match=net --subsystem-match=block "
    "--subsystem-match=infiniband --subsystem-match=infiniband_mad --subsystem-match=infiniband_verbs\n"
    "ExecStart=udevadm trigger --action=add --subsystem-match=tty --sysname-match=ttyS0\n",
    # Waits for a key, so that a console that nobody uses costs no login.
    "serial-getty@ttyS0.service": "[Service]\nExecStart=\n"
    "ExecStart=-/sbin/agetty --autologin root --noclear --wait-cr %I vt220\n",
    "ssh.service": "[Service]\nExecStartPre=\n",
}
# The default key exchange of OpenSSH is post-quantum: seconds of an emulated processor per login.
SSHD_CONFIG = """\
UseDNS no
PermitRootLogin prohibit-password
PasswordAuthentication no
HostKey /etc/ssh/ssh_host_ed25519_key
KexAlgorithms curve25519-sha256
Ciphers chacha20-poly1305@openssh.com
PrintLastLog no
"""

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
