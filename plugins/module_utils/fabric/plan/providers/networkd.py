# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rails through systemd-networkd: one .network file a rail (systemd.network(5)), made effective by networkctl(1)."""

from __future__ import annotations

from typing import Optional

from ...errors import MissingError
from ...model.facts import Netdev
from ...model.plan import Action, Run
from ...ports import Port
from ...resolve.bind import BoundRail

FOLDER = "/etc/systemd/network"
PREFIX, SUFFIX = "10-railwright-", ".network"


class Networkd:
    """See ``NetworkProvider``."""

    def path(self, rail: str) -> str:
        """Number 10 comes before what distributions and images put there as a fallback (…-wired, 99-…)."""
        return f"{FOLDER}/{PREFIX}{rail}{SUFFIX}"

    def rail(self, path: str) -> str:
        """See ``NetworkProvider``."""
        return path[len(f"{FOLDER}/{PREFIX}") : -len(SUFFIX)]

    def present(self, port: Port) -> tuple[str, ...]:
        """See ``NetworkProvider``; a folder that is not there has no files."""
        try:
            names = port.listdir(FOLDER)
        except MissingError:
            return ()
        return tuple(f"{FOLDER}/{name}" for name in names if name.startswith(PREFIX) and name.endswith(SUFFIX))

    def netdev(self, text: str, netdevs: tuple[Netdev, ...]) -> Optional[Netdev]:
        """See ``NetworkProvider``: the one whose match we would write as it stands there."""
        lines = text.splitlines()
        return next((item for item in netdevs if all(line in lines for line in _match(item, netdevs))), None)

    def render(self, rail: BoundRail, netdev: Netdev, others: tuple[Netdev, ...]) -> str:
        """The rail's file.

        Nothing of the spec but this rail's own settings is in it, so that an unrelated change of the spec never
        touches a rail. The address is there without carrier, because RDMA devices and verification want it before the
        peer is up. IPv6 stays on with its link-local address: switching it off would move the indices of the GIDs.
        """
        intent = rail.intent
        lines = [
            "# Managed by Railwright (role rail_network): the next run undoes what is changed here.",
            "[Match]",
            *_match(netdev, others),
            "",
            "[Link]",
            *([f"MTUBytes={intent.host_mtu}"] if intent.host_mtu is not None else []),
            "RequiredForOnline=no",
            "",
            "[Network]",
            f"Description=Railwright rail {intent.name}",
            "LinkLocalAddressing=ipv6",
            "IPv6AcceptRA=no",
            "LLDP=yes",
            "ConfigureWithoutCarrier=yes",
            "IgnoreCarrierLoss=yes",
            # Without addresses of ours, somebody else's are to stay when the link is configured again.
            *(["KeepConfiguration=yes"] if intent.addressing == "none" else []),
            *(f"Address={address}" for address in intent.addresses),
        ]
        return "\n".join(lines) + "\n"

    def settle(self, netdevs: tuple[str, ...]) -> tuple[Action, ...]:
        """A reload reads the files and configures links whose file changed; drift by hand needs the reconfigure."""
        return (Run(("networkctl", "reload")), *(Run(("networkctl", "reconfigure", name)) for name in netdevs))


def _match(netdev: Netdev, others: tuple[Netdev, ...]) -> list[str]:
    """The rail's NIC by its place, as udev's path_id writes it; a MAC tells apart what shares one PCI function.

    Two ports of one function and SR-IOV representors do. Without a PCI address the MAC is all there is.
    """
    mac = netdev.permanent_mac or netdev.mac or ""
    if netdev.pci is None:
        return [f"PermanentMACAddress={mac}"]
    path = [f"Path=pci-{netdev.pci} *-pci-{netdev.pci}"]
    shared = [other for other in others if other.pci == netdev.pci and other.name != netdev.name]
    return [*path, f"PermanentMACAddress={mac}"] if shared else path
