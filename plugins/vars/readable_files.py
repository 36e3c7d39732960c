# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Variables files that are no YAML, named by Ansible itself."""

from __future__ import annotations

DOCUMENTATION = r"""
name: readable_files
short_description: Names the file, line and column of invalid YAML in group_vars and host_vars
version_added: 0.1.0
description:
  - ansible-core's own plugin C(host_group_vars) says that YAML parsing failed, and drops where. This plugin reads the
    same files just before it, through the same cache, and lets the error through as it is. It sets no variables.
  - It needs to stand before C(host_group_vars) in C(vars_plugins_enabled).
author: The Railwright authors (@railwright)
"""

import os

from ansible.inventory.host import Host
from ansible.plugins.vars import BaseVarsPlugin
from ansible.utils.path import basedir


class VarsModule(BaseVarsPlugin):
    """See the documentation above."""

    is_stateless = True

    def __init__(self) -> None:
        super().__init__()
        self._read: set[tuple[str, str]] = set()

    def get_vars(self, loader, path, entities, cache=True):
        """No variables; raises AnsibleParserError for a file that is no YAML."""
        for entity in entities if isinstance(entities, list) else [entities]:
            folder = os.path.join(basedir(path), "host_vars" if isinstance(entity, Host) else "group_vars")
            if (folder, entity.name) in self._read or os.path.sep in entity.name[:1]:
                continue
            self._read.add((folder, entity.name))
            if os.path.isdir(folder):
                for found in loader.find_vars_files(folder, entity.name):
                    loader.load_from_file(found, cache="all", unsafe=True, trusted_as_template=True)
        return {}
