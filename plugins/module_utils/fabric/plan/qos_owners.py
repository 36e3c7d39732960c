# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Others who own a NIC's lossless settings: its firmware's DCBX, a peer that it follows, lldpad."""

from __future__ import annotations

from ..errors import RefusedError
from ..model.plan import Action, Run, Step
from .qos_providers import DcbProvider, RailPort

LLDPAD_UNITS = ("lldpad.service", "lldpad.socket")

_NV = (
    "set LLDP_NB_DCBX_P1, LLDP_NB_RX_MODE_P1 and LLDP_NB_TX_MODE_P1 to 0 in the NIC's NV configuration (mlxconfig), "
    "and reset it"
)


def refuse_owners(port: RailPort) -> None:
    """Nothing, when the host may set the port.

    :raises RefusedError: when the firmware owns DCBX and the spec does not say to take it, or it cannot be taken.
    """
    state, netdev = port.state, port.netdev
    if not state.firmware_owned:
        return
    follows = ", and is willing: it takes over the ETS and PFC of the switch" if state.willing else ""
    if netdev.driver == "bnxt_en":
        # drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c, bnxt_dcbnl_setdcbx(): not while the firmware's agent runs.
        raise RefusedError(
            f"the firmware of {netdev.name} owns DCBX{follows}; its driver does not hand it over",
            f"rail {port.rail}",
            " ".join(state.dcbx or ()),
            "Turn off the NIC's own LLDP and DCBX agents (NVM options 155, 255, 269 and 270, by niccli), and reset it",
        )
    if port.qos.firmware_dcbx != "take":
        raise RefusedError(
            f"the firmware of {netdev.name} owns DCBX{follows}",
            f"rail {port.rail}",
            " ".join(state.dcbx or ()) or "no flag",
            f"Write host: {{firmware_dcbx: take}} into the fabric's qos, or {_NV}",
        )


def take_step(port: RailPort, dcb: DcbProvider) -> tuple[Step, ...]:
    """The step that makes the host the owner of DCBX."""
    if not port.state.firmware_owned:
        return ()
    netdev = port.netdev
    actions: tuple[Action, ...] = dcb.take(netdev.name)
    undo: tuple[Action, ...] = ()
    if netdev.driver == "ice":
        # kernel Documentation/networking/device_drivers/ethernet/intel/ice.rst, "Data Center Bridging (DCB)"
        flag = ("ethtool", "--set-priv-flags", netdev.name, "fw-lldp-agent")
        actions, undo = (Run((*flag, "off")),), (Run((*flag, "on")),)
    return (Step(port.rail, f"DCBX{port.of}", "owned by firmware", "owned by the host", actions, undo=undo),)
