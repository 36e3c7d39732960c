# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Want minus have: steps."""
