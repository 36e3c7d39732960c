# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps to a node."""
