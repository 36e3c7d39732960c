# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The rules about lossless RoCE on one node: from the application's ToS to the buffers of the NIC."""

from __future__ import annotations

from .rule import Rule

ROLE = "Run site.yml (role roce_qos) for this node."

READABLE = Rule(
    "qos.readable",
    "The rail's lossless settings can be read",
    "unknown",
    "local",
    "A setting that nobody can read may be wrong: a rail is lossless only when all of the chain is.",
    "See why it cannot be read; a driver without such settings carries no lossless RoCE (profile lossy).",
    "kernel include/uapi/linux/dcbnl.h; drivers' own files in sysfs and debugfs",
)
LLDPAD = Rule(
    "qos.lldpad",
    "No lldpad rewrites the NICs' settings",
    "fail",
    "local",
    "It negotiates DCBX by itself: PFC, ETS and the map change some seconds after they were set, and links flap.",
    "systemctl disable --now lldpad.service lldpad.socket, or qos.host.lldpad: stop; lldpd gives plain LLDP.",
    "lldpad(8): DCBX is exchanged on every port with DCB",
)
AGENT = Rule(
    "qos.agent",
    "The node agent restores the lossless settings at boot",
    "fail",
    "local",
    "All of these settings are gone after a reboot: without the agent the node comes back lossy, and nobody notices.",
    "systemctl enable railwright-apply, or run site.yml (role node_agent) for this node.",
    "systemd.unit(5), [Install]; no driver keeps PFC, ETS, DSCP map, ToS or buffers over a reboot",
)
DCBX = Rule(
    "qos.dcbx",
    "The host owns the rail's DCB settings, not the NIC's firmware",
    "fail",
    "local",
    "Firmware that runs DCBX takes over what the switch says, and overwrites what the host has set.",
    "Give the port to the host: dcb dcbx set dev NETDEV host ieee (mlnx_qos -d os), or qos.host.firmware_dcbx: take.",
    "dcb-dcbx(8); kernel include/uapi/linux/dcbnl.h, DCB_CAP_DCBX_*",
)
TRUST = Rule(
    "qos.trust",
    "The rail's NIC sorts packets by their DSCP",
    "fail",
    "local",
    "With trust pcp an untagged packet has priority 0, whatever its DSCP: all RoCE traffic is lossy.",
    ROLE,
    "kernel drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c; dcb-apptrust(8)",
)
DSCP_MAP = Rule(
    "qos.dscp_map",
    "The DSCPs of data and CNPs, and no others, lead to their priorities",
    "fail",
    "local",
    "What arrives with another priority is neither paused nor in the right queue; others' traffic there is paused too.",
    ROLE,
    "fabric_spec.fabrics.*.qos, data and cnp; IEEE 802.1Q-2018 D.2.9.7, selector 5; dcb-app(8)",
)
PRIO_TC = Rule(
    "qos.prio_tc",
    "Each priority is in the traffic class of the spec",
    "fail",
    "local",
    "Lossless and lossy traffic in one class stop each other: a pause for one holds both.",
    ROLE,
    "fabric_spec.fabrics.*.qos.traffic_classes; IEEE 802.1Qaz, ETS configuration",
)
ETS = Rule(
    "qos.ets",
    "The traffic classes share the link as the spec says",
    "fail",
    "local",
    "A share that is too small starves RoCE as soon as something else sends, one that is too large the rest.",
    ROLE,
    "fabric_spec.fabrics.*.qos.traffic_classes; IEEE 802.1Qaz: the shares of the ETS classes add up to 100",
)
PFC = Rule(
    "qos.pfc",
    "PFC is on for exactly the lossless priorities",
    "fail",
    "local",
    "Without PFC a full queue drops; PFC on other priorities lets ordinary traffic stop the link.",
    f"{ROLE} A changed PFC mask makes the link of an mlx5 NIC go down for a moment.",
    "fabric_spec.fabrics.*.qos.profile; IEEE 802.1Qbb",
)
PAUSE = Rule(
    "qos.pause",
    "Global pause is off on the rail",
    "fail",
    "local",
    "It stops all priorities at once and keeps PFC from working: one slow receiver holds the whole fabric.",
    f"ethtool -A NETDEV autoneg off rx off tx off, or: {ROLE}",
    "IEEE 802.3 annex 31B; IEEE 802.1Qbb: a port uses PFC or PAUSE, not both",
)
CABLE = Rule(
    "qos.cable",
    "The NIC reckons with the cable's length",
    "fail",
    "local",
    "What is on the wire when a pause is sent must find room: a cable that is longer than set overruns the buffer.",
    ROLE,
    "fabric_spec.fabrics.*.qos.cable_length; IEEE 802.1Qbb annex O, buffer for PFC",
)
BUFFERS = Rule(
    "qos.buffers",
    "The priorities have the receive buffers that they need",
    "fail",
    "local",
    "A lossless priority whose buffer is too small drops before its pause takes effect; one without room drops all.",
    ROLE,
    "fabric_spec.fabrics.*.qos.buffers; dcb-buffer(8)",
)
ECN = Rule(
    "qos.ecn",
    "DCQCN is on for the data's priority, as receiver and as sender, or off by profile",
    "fail",
    "local",
    "A receiver that answers no marks leaves only PFC, and its pauses spread; a deaf sender does not slow down.",
    ROLE,
    "NVIDIA MLNX_OFED documentation, Explicit Congestion Notification: ecn/roce_np and ecn/roce_rp",
)
CNP = Rule(
    "qos.cnp",
    "CNPs have their own DSCP and priority, outside the lossless class",
    "fail",
    "local",
    "CNPs that wait behind the congestion that they report come too late; paused ones do not come at all.",
    ROLE,
    "fabric_spec.fabrics.*.qos.cnp; InfiniBand Architecture annex A17.9.3, CNP",
)
DCQCN = Rule(
    "qos.dcqcn",
    "The parameters of congestion control are the spec's",
    "fail",
    "local",
    "One sender that slows down less than the others takes their share, or keeps the queue full.",
    ROLE,
    "fabric_spec.fabrics.*.qos.dcqcn; kernel drivers/infiniband/hw/mlx5/cong.c",
)
TOS = Rule(
    "qos.tos",
    "RDMA-CM gives connections the fabric's ToS",
    "fail",
    "local",
    "Applications that connect by RDMA-CM and set no ToS send with DSCP 0: into a lossy queue.",
    ROLE,
    "kernel Documentation/ABI/testing/configfs-rdma_cm, default_roce_tos; RFC 3168 section 5",
)
CM_MODE = Rule(
    "qos.cm_mode",
    "RDMA-CM connects with RoCE v2",
    "fail",
    "local",
    "RoCE v1 has no IP header: no DSCP, and no way through a router.",
    ROLE,
    "kernel Documentation/ABI/testing/configfs-rdma_cm, default_roce_mode",
)
TCLASS = Rule(
    "qos.traffic_class",
    "The driver's default traffic class of all queue pairs is the fabric's",
    "fail",
    "local",
    "It overrides what applications ask for: with another value all traffic of the rail is in another class.",
    ROLE,
    "NVIDIA MLNX_OFED documentation, RoCE: /sys/class/infiniband/<device>/tc/<port>/traffic_class",
)
