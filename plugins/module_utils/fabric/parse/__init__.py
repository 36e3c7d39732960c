# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Text of one tool to the model, one module a tool."""
