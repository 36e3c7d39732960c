# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The core as one executable file on the node, ``/usr/local/sbin/railwright``."""
