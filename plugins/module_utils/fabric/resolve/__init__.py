# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Fabric spec and host to node intent."""
