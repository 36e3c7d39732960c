# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What NICs' drivers have in common and what sets them apart, as far as traffic classes go."""

from __future__ import annotations

# Drivers whose traffic classes have no gaps. E810: at most four, contiguous from 0, one of them with PFC (Intel irdma
# README, "Priority Flow Control"; kernel Documentation/networking/device_drivers/ethernet/intel/ice.rst). Broadcom's
# own setup does the same, 0 for the rest, 1 for RoCE, 2 for CNPs (bnxt_setupcc.sh), since the number of classes is
# that of the highest one and may be as low as three (kernel drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c).
CONTIGUOUS = ("ice", "bnxt_en")
ICE_CLASSES = 4

# A profile may name the driver of the NIC's RDMA device. Traffic classes are the netdev's driver's.
NETDEV_DRIVER = {"irdma": "ice", "bnxt_re": "bnxt_en", "mlx5_ib": "mlx5_core"}
