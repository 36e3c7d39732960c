"""``python3 -m lab.leaf CONTROL_SOCKET CABLING_JSON``: the process that `lab up` starts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ..topology import PortName
from .daemon import Daemon

Daemon(Path(sys.argv[1]), {name: PortName.parse(port) for name, port in json.loads(sys.argv[2]).items()}).run()
