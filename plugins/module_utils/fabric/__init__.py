# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The core of Railwright: pure Python, standard library only, no Ansible."""
