"""Building the node image: a Debian root file system with its stock kernel and the NIC twin."""
