#!/bin/sh
# What a role could have written, one line each: files, kernel settings, links, addresses, rules, modules, units.
# Left out: what changes by itself (logs, locks, clocks, counters) and Ansible's own temporary directory.
LC_ALL=C
export LC_ALL
find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /dev -o -path /tmp -o -path /var/tmp -o -path /var/log \
  -o -path /var/lib/systemd -o -path /var/lib/private -o -path '/root/.ansible' -o -path '/home/*/.ansible' \
  -o -name '.bash_history' \) -prune -o ! -type d -printf 'file %p %m %U:%G %s %T@ %l\n' | sort
sysctl -a 2>/dev/null | grep -Ev '^(fs\.(dentry|file|inode|aio|quota|epoll)|kernel\.(random|ns_last_pid|pty\.nr|perf|sched|tainted)|net\.netfilter\.nf_conntrack_count|vm\.stat)' | sed 's/^/sysctl /'
ip -o -d link show | sed 's/^/link /'
ip -o addr show | sed -E 's/valid_lft [0-9]+sec preferred_lft [0-9]+sec//; s/^/address /'
ip -o route show table all | sed -E 's/expires [0-9]+sec//; s/^/route /'
ip -6 -o route show table all | sed -E 's/expires [0-9]+sec//; s/^/route6 /'
ip rule show | sed 's/^/rule /'
rdma link show 2>/dev/null | sed 's/^/rdma /'
cut -d' ' -f1 /proc/modules | sort | sed 's/^/module /'
systemctl list-unit-files --no-legend --plain 2>/dev/null | sed 's/^/unit /'
