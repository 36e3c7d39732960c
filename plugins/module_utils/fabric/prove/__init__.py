# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Load the fabric on request: who probes whom, and one node's part of it. The only verb that sends test traffic."""
