# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernel parameters in files of others: what systemd-sysctl, ufw and tuned write at boot, in that order."""

from __future__ import annotations

from typing import Iterator, NamedTuple, Optional, Sequence

from ..model.facts import Owner
from ..parse import sysctl_conf
from ..resolve import sysctls
from .collect import Reader

# Of one name, the file in the earlier folder counts; over all folders the files are read by name, sysctl.d(5).
FOLDERS = ("/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d")
_CONF = "/etc/sysctl.conf"
_TUNED = "/etc/tuned"
# Later ones count first: tuned/profiles/locator.py and tuned/consts.py of redhat-performance/tuned, 2.24 and before.
_PROFILES = ("/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned")
_WANTS = "/etc/systemd/system/multi-user.target.wants"
_PER_NETDEV = (*sysctls.RP_FILTER, *sysctls.ARP)
SUBJECT = "owners"
_HINTS = ("rp_filter", "arp_ignore", "arp_announce", "gc_thresh")


class _Set(NamedTuple):
    """One assignment by one file; a pattern's name has wildcards."""

    name: str
    value: Optional[str]
    source: str
    ours: bool


def sysctl_owners(reader: Reader, netdevs: Sequence[str]) -> list[Owner]:
    """Owners of the parameters of rails: per parameter the last one that is not Railwright, if it matters.

    It does when it wins, or when it asks for another value than Railwright's file.
    """
    files = _files(reader)
    boot = [item for name in sorted(files) for item in _read(reader, files[name])]
    late = [*_ufw(reader), *_tuned(reader, files)]
    if all(item.ours for item in (*boot, *late)):
        return [*_unread_by_boot(reader, files, late)]
    explicit = {item.name: item for item in boot}
    patterns = [item for item in boot if any(letter in sysctl_conf.WILDCARDS for letter in item.name)]
    found = []
    for key in _keys(netdevs):
        # A name that is written out is not matched by patterns, whatever the order, sysctl.d(5).
        first = [explicit[key]] if key in explicit else [item for item in patterns if sysctl_conf.fits(item.name, key)]
        chain = [item for item in (*first, *(item for item in late if item.name == key)) if item.value is not None]
        others = [item for item in chain if not item.ours]
        own = next((item for item in chain if item.ours), None)
        # A file before ours that writes the name out as well has lost its say already.
        if others and (chain[-1] is others[-1] or (own is not None and own.value != others[-1].value)):
            last = others[-1]
            found.append(Owner(key, last.value or "", last.source, chain[-1] is last))
    return [*found, *_unread_by_boot(reader, files, late)]


def _keys(netdevs: Sequence[str]) -> Iterator[str]:
    for netdev in ("all", *netdevs):
        for name in _PER_NETDEV:
            yield sysctls.conf(netdev, name)
    for family in (4, 6):
        for name in sysctls.NEIGHBOURS:
            yield sysctls.neighbours(family, name)


def _files(reader: Reader) -> dict[str, str]:
    """The path that counts, by file name."""
    found: dict[str, str] = {}
    for folder in FOLDERS:
        for name in reader.names(folder, SUBJECT):
            if name.endswith(".conf"):
                found.setdefault(name, f"{folder}/{name}")
    return found


def _read(reader: Reader, path: str, ours: Optional[bool] = None) -> list[_Set]:
    text = _text(reader, path)
    if not any(hint in text for hint in _HINTS):
        return []
    mine = "railwright" in path if ours is None else ours
    return [_Set(name, value, path, mine) for name, value in sysctl_conf.parse(text)]


def _ufw(reader: Reader) -> list[_Set]:
    """What ufw writes when it starts, from a file of its own: IPT_SYSCTL of /etc/default/ufw, ufw-framework(8)."""
    if "ENABLED=yes" not in _text(reader, "/etc/ufw/ufw.conf").replace('"', "").splitlines():
        return []
    lines = _text(reader, "/etc/default/ufw").replace('"', "").splitlines()
    path = next((line.partition("=")[2].strip() for line in lines if line.startswith("IPT_SYSCTL=")), "")
    return _read(reader, path, False) if path.startswith("/") else []


def _tuned(reader: Reader, files: dict[str, str]) -> list[_Set]:
    """What tuned writes when it starts, if it starts at boot.

    Unless told otherwise it then applies the files of /run and /etc once more, and /etc/sysctl.conf last
    (redhat-performance/tuned:tuned/plugins/plugin_sysctl.py).
    """
    active = _text(reader, f"{_TUNED}/active_profile").split()
    if not active or "tuned.service" not in reader.names(_WANTS, SUBJECT):
        return []
    from ..parse import ini  # noqa: PLC0415 - most nodes have no tuned

    options: dict[str, _Set] = {}
    for path in _profiles(reader, active, []):
        for section, items in ini.parse(_text(reader, path)):
            if section == "sysctl":
                for key, value in items:
                    name = sysctl_conf.name(key)
                    plain = value.partition("#")[0].strip().strip('"')
                    options[name] = _Set(name, plain, f"tuned profile {' '.join(active)} ({path})", False)
    if not options:
        return []
    main = ini.parse("[main]\n" + _text(reader, f"{_TUNED}/tuned-main.conf"))
    if (ini.value(main, "main", "reapply_sysctl") or "1").lower() in ("0", "false", "no", "off"):
        return list(options.values())
    again = [path for _name, path in sorted(files.items()) if path.startswith(("/etc/", "/run/"))]
    applied = [item for path in (*again, _CONF) for item in _read(reader, path)]
    return [*options.values(), *(item for item in applied if item.value is not None)]


def _profiles(reader: Reader, names: Sequence[str], seen: list[str]) -> list[str]:
    """Files of the profiles, an included one before the one that includes it."""
    from ..parse import ini  # noqa: PLC0415 - most nodes have no tuned

    found: list[str] = []
    for name in names:
        paths = [f"{folder}/{name}/tuned.conf" for folder in _PROFILES]
        path = next((path for path in paths if reader.port.exists(path) and path not in seen), None)
        if path is None or len(seen) > 50:
            continue
        seen.append(path)
        included = ini.value(ini.parse(_text(reader, path)), "main", "include") or ""
        found += _profiles(reader, included.replace(";", ",").replace(",", " ").split(), seen)
        found.append(path)
    return found


def _unread_by_boot(reader: Reader, files: dict[str, str], late: list[_Set]) -> Iterator[Owner]:
    """/etc/sysctl.conf counts at boot by a link in sysctl.d only, but ``sysctl --system`` and ``-p`` read it."""
    linked = any(path.endswith("/99-sysctl.conf") for path in files.values())
    if linked or any(item.source == _CONF for item in late):
        return
    for item in _read(reader, _CONF, False):
        if item.value is not None and any(hint in item.name for hint in _HINTS):
            yield Owner(item.name, item.value, _CONF, False)


def _text(reader: Reader, path: str) -> str:
    return reader.text(path, SUBJECT) or ""
