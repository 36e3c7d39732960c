# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""iproute2's ``dcb``: the kernel's own interface, of inbox mlx5, bnxt and ice, and of the OFED driver too.

dcb-app(8), dcb-dcbx(8), dcb-ets(8), dcb-pfc(8), dcb-buffer(8). Elements of an array that are not named keep their
value, and ``all:`` sets the rest.
"""

from __future__ import annotations

from typing import Optional

from ...model.plan import Action, Run

_ANY = tuple(range(256))


class Dcb:
    """See :class:`.DcbProvider`."""

    sets_willing = True

    def take(self, netdev: str) -> tuple[Action, ...]:
        """See the interface."""
        return (_run(("dcb", "dcbx", "set", "dev", netdev, "host", "ieee"), hint=FIRMWARE),)

    def trust(self, netdev: str, trust: str, mapped: bool) -> tuple[Action, ...]:
        """There is no setting of its own: the first DSCP in the map turns trust over, the last one back.

        A driver that has an order of trust (dcb-apptrust(8)) is told that.
        """
        if not mapped:
            return ()
        order = ("dscp", "pcp") if trust == "dscp" else ("pcp", "dscp")
        return (_run(("dcb", "apptrust", "set", "dev", netdev, "order", *order)),)

    def dscp(self, netdev: str, dscp: int, priorities: tuple[int, ...]) -> tuple[Action, ...]:
        """``replace`` takes other priorities of the DSCP away, which ``add`` leaves beside the new one.

        mlx5 has taken them away by itself then, and the tool fails to do it again (kernel mlx5/core/en_dcbnl.c,
        mlx5e_dcbnl_ieee_delapp()): the map is looked at afterwards, and the exit code says nothing.
        """
        first, *others = priorities
        return (
            _run((*_app("replace", netdev), f"{dscp}:{first}"), allowed=_ANY),
            *(_run((*_app("add", netdev), f"{dscp}:{priority}")) for priority in others),
        )

    def unmap(self, netdev: str, dscp: int, priority: int) -> tuple[Action, ...]:
        """See the interface."""
        return (_run((*_app("del", netdev), f"{dscp}:{priority}"), allowed=_ANY),)

    def ets(
        self, netdev: str, prio_tc: tuple[int, ...], tsa: tuple[str, ...], share: tuple[int, ...], not_willing: bool
    ) -> tuple[Action, ...]:
        """See the interface."""
        algorithms = [f"{tc}:{name}" for tc, name in enumerate(tsa)]
        # A share of a class that is not ets is none: mlx5 shows 100 there, and refuses it.
        bandwidths = [f"{tc}:{share[tc] if name == 'ets' else 0}" for tc, name in enumerate(tsa)]
        classes = [f"{priority}:{tc}" for priority, tc in enumerate(prio_tc)]
        willing = ("willing", "off") if not_willing else ()
        words = ("tc-tsa", *algorithms, "tc-bw", *bandwidths, "prio-tc", *classes)
        return (_run(("dcb", "ets", "set", "dev", netdev, *willing, *words)),)

    def buffers(
        self, netdev: str, size: Optional[tuple[int, ...]], priority: Optional[tuple[int, ...]]
    ) -> tuple[Action, ...]:
        """See the interface."""
        words: list[str] = []
        if priority is not None:
            words += ["prio-buffer", *(f"{number}:{buffer}" for number, buffer in enumerate(priority))]
        if size is not None:
            words += ["buffer-size", *(f"{buffer}:{room}" for buffer, room in enumerate(size))]
        return (_run(("dcb", "buffer", "set", "dev", netdev, *words)),)

    def pfc(self, netdev: str, priorities: tuple[int, ...], cable_m: Optional[int]) -> tuple[Action, ...]:
        """mlx5 takes the delay for the length of the cable (kernel mlx5/core/en_dcbnl.c)."""
        on = tuple(f"{priority}:on" for priority in priorities)
        delay = ("delay", str(cable_m)) if cable_m is not None else ()
        return (_run(("dcb", "pfc", "set", "dev", netdev, "prio-pfc", "all:off", *on, *delay)),)

    def reset_map(self, netdev: str) -> tuple[Action, ...]:
        """See the interface."""
        return (_run(("dcb", "app", "flush", "dev", netdev, "dscp-prio")),)


def _run(argv: tuple[str, ...], allowed: tuple[int, ...] = (0,), hint: str = "") -> Run:
    """A call of the tool.

    It numbers its messages by the second, and leaves the kernel's acknowledgement of what it read first unread: when
    the second ends between reading and writing, that one is taken for the answer, and refused for its number (iproute2
    lib/mnl_utils.c, mnlu_msg_prepare(); seen with 6.1).
    """
    return Run(argv, allowed=allowed, hint=hint, again="Protocol error")


def _app(verb: str, netdev: str) -> tuple[str, ...]:
    return ("dcb", "app", verb, "dev", netdev, "dscp-prio")


# NVIDIA MFT documentation, mlxconfig: LLDP_NB_DCBX takes effect with both LLDP_NB modes only.
FIRMWARE = (
    "The NIC's firmware keeps DCBX: set LLDP_NB_DCBX_P1, LLDP_NB_RX_MODE_P1 and LLDP_NB_TX_MODE_P1 to 0 in its NV "
    "configuration (mlxconfig), and reset the NIC"
)
