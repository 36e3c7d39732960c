# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""RDMA devices: sysfs first, then two tools for what sysfs does not tell (a port's netdev, its MTU)."""

from __future__ import annotations

from typing import Any, Callable, Optional

from ..errors import MissingError, ReadError
from ..model.facts import Gid, RdmaDevice, RdmaPort
from ..parse import qos_files, rdma_link, sysfs
from ..parse.text import guid, is_zero
from ..records import replace
from .collect import Reader
from .merge import merge_devices, settle

_CLASS = "/sys/class/infiniband"
_CM = "/sys/kernel/config/rdma_cm"  # kernel Documentation/ABI/testing/configfs-rdma_cm
_EMPTY = b"0000:0000:0000:0000:0000:0000:0000:0000\n"
_SOFT_DRIVERS = {"rxe": "rdma_rxe", "siw": "siw"}


def rdma(reader: Reader, detail: bool, verbs: bool) -> Optional[tuple[RdmaDevice, ...]]:
    """All RDMA devices, in natural order. ``detail`` adds the counters, ``verbs`` the active MTU.

    sysfs has no active MTU, and knows the netdev only of ports that have GIDs; ibv_devinfo and rdma add them. When
    one of the tools fails, the rest of the facts stands.
    """
    try:
        names = reader.port.listdir(_CLASS)
    except MissingError as error:
        if reader.port.exists("/sys/class"):
            return ()  # no RDMA driver is loaded
        reader.note(error, "rdma")
        return None
    except ReadError as error:
        reader.note(error, "rdma")
        return None
    managed = frozenset(reader.names(_CM, "rdma"))
    devices = tuple(_device(reader, name, detail, name in managed) for name in sorted(names, key=natural))
    if not devices:
        return ()
    links = reader.tool(("rdma", "-j", "link", "show"), rdma_link.parse, "rdma")
    told_by_verbs = _verbs(reader) if verbs else None
    known = {device.name for device in devices}
    for told in (links, told_by_verbs):
        devices = merge_devices(devices, [device for device in told or () if device.name in known])
    return tuple(settle(_with_netdevs(reader, device)) for device in devices)


def _verbs(reader: Reader) -> Optional[tuple[RdmaDevice, ...]]:
    from ..parse import ibv_devinfo  # noqa: PLC0415 - a setter does not run it, and compiles what it imports

    return reader.tool(("ibv_devinfo",), ibv_devinfo.parse, "rdma")


def natural(name: str) -> tuple[str, int, str]:
    """Sort key that puts ``mlx5_2`` before ``mlx5_10``."""
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :] or 0), name


def _device(reader: Reader, name: str, detail: bool, managed: bool) -> RdmaDevice:
    """One device; ``managed``: somebody made RDMA-CM's folder for it, without which it has no settings."""
    base = f"{_CLASS}/{name}"
    real = reader.attempt(name, lambda: reader.port.realpath(base)) or ""
    home = real.rpartition("/infiniband/")[0]
    place = reader.place(home)
    parent = reader.text(f"{base}/parent", name) if place.address is None else None
    soft = real.startswith("/sys/devices/virtual/")
    kind = next((driver for prefix, driver in _SOFT_DRIVERS.items() if soft and name.startswith(prefix)), None)
    numbers = reader.attempt(name, lambda: reader.port.listdir(f"{base}/ports")) or []
    return RdmaDevice(
        name,
        node_guid=guid(reader.text(f"{base}/node_guid", name) or ""),
        sys_image_guid=guid(reader.text(f"{base}/sys_image_guid", name) or ""),
        firmware=reader.text(f"{base}/fw_ver", name),
        hca_type=reader.text(f"{base}/hca_type", name),
        board_id=reader.text(f"{base}/board_id", name),
        driver=place.driver or kind or ("rdma_rxe" if parent else None),
        soft=soft,
        pci=place.address,
        pcie_path=place.path,
        numa=place.numa,
        parent=parent,
        ports=tuple(_port(reader, name, int(number), detail, managed) for number in numbers if number.isdecimal()),
    )


def _port(reader: Reader, device: str, number: int, detail: bool, managed: bool) -> RdmaPort:
    base = f"{_CLASS}/{device}/ports/{number}"

    def value(name: str, parse: Callable[[str], Any]) -> Any:
        return reader.value(f"{base}/{name}", parse, device)

    layer = value("link_layer", sysfs.link_layer)
    rate, lanes = value("rate", sysfs.rate) or (None, None)
    infiniband = layer == "InfiniBand"
    cm = f"{_CM}/{device}/ports/{number}"
    class_file = f"{_CLASS}/{device}/tc/{number}/traffic_class"
    return RdmaPort(
        number,
        state=value("state", sysfs.state),
        physical_state=value("phys_state", sysfs.physical_state),
        link_layer=layer,
        rate_gbps=rate,
        lanes=lanes,
        lid=value("lid", sysfs.lid) if infiniband else None,
        sm_lid=value("sm_lid", sysfs.lid) if infiniband else None,
        gids=_gids(reader, base, device, typed=not infiniband),
        cm_tos=reader.value(f"{cm}/default_roce_tos", qos_files.cm_tos, device) if managed else None,
        cm_mode=reader.value(f"{cm}/default_roce_mode", qos_files.cm_mode, device) if managed else None,
        traffic_class=None
        if infiniband or not reader.port.exists(class_file)
        else reader.value(class_file, qos_files.traffic_class, device),
        counters=_counters(reader, f"{base}/counters", device) if detail else {},
        hw_counters=_counters(reader, f"{base}/hw_counters", device) if detail else {},
    )


def _gids(reader: Reader, base: str, device: str, typed: bool) -> tuple[Gid, ...]:
    """All entries that are set.

    Tables have holes: an address that went leaves one, and later entries keep their index. So all of it is read.
    """
    table = reader.attempt(device, lambda: reader.port.read_folder(f"{base}/gids")) or {}
    found = []
    for name, content in table.items():
        if content == _EMPTY or not name.isdecimal():
            continue
        try:
            if isinstance(content, ReadError):
                raise content
            text = content.decode("ascii", "replace")
            if not is_zero(text):
                found.append(_gid(reader, base, name, text, typed))
        except ReadError as error:
            reader.note(error, device)
    return tuple(sorted(found, key=lambda gid: gid.index))


def _gid(reader: Reader, base: str, name: str, text: str, typed: bool) -> Gid:
    """One entry; type and netdev are there for entries of an Ethernet port only, and only while they are set."""
    if not typed:
        return Gid(int(name), text.strip())
    kind, netdev = (reader.port.read(f"{base}/gid_attrs/{folder}/{name}").strip() for folder in ("types", "ndevs"))
    return Gid(int(name), text.strip(), kind or None, netdev or None)


def _counters(reader: Reader, folder: str, device: str) -> dict[str, int]:
    if not reader.port.exists(folder):  # soft RoCE has no counters/, some drivers no hw_counters/
        return {}
    names = reader.attempt(device, lambda: reader.port.listdir(folder)) or []
    found = {}
    for name in names:
        number = reader.value(f"{folder}/{name}", sysfs.counter, device)
        if number is not None:
            found[name] = number
    return found


def _with_netdevs(reader: Reader, device: RdmaDevice) -> RdmaDevice:
    """Fill in what rdma did not tell: the netdev of the GIDs, or the one below a soft device."""
    ports = []
    for port in device.ports:
        netdev = port.netdev or next((gid.netdev for gid in port.gids if gid.netdev), None)
        ports.append(replace(port, netdev=netdev or device.parent))
    return replace(device, ports=tuple(ports))
