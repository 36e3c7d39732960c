# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The core's version: equal to galaxy.yml, written into every intent so that an older agent can say so."""

VERSION = "0.1.0"
