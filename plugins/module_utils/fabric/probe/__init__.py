# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Read a node through one I/O port."""
