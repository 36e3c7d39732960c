# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules: what should be against what is."""
