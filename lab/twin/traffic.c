// SPDX-License-Identifier: GPL-2.0
/* The packets that pass: counted by priority, and under pressure marked, paused or dropped. */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "twin.h"

#define TWIN_WINDOW (HZ / 10)
/* A pause frame asks for at most 65535 quanta of 512 bits, which 100 Gbit/s does in 335 us. */
#define TWIN_PAUSE_US 335

/* The DS field of an IP packet, -1 for anything else. */
static int twin_dsfield(const struct sk_buff *skb)
{
	struct ipv6hdr ip6_room;
	struct iphdr ip_room;
	const struct ipv6hdr *ip6;
	const struct iphdr *ip;

	switch (skb->protocol) {
	case htons(ETH_P_IP):
		ip = skb_header_pointer(skb, skb_network_offset(skb), sizeof(ip_room), &ip_room);
		return ip ? ipv4_get_dsfield(ip) : -1;
	case htons(ETH_P_IPV6):
		ip6 = skb_header_pointer(skb, skb_network_offset(skb), sizeof(ip6_room), &ip6_room);
		return ip6 ? ipv6_get_dsfield(ip6) : -1;
	}
	return -1;
}

static int twin_priority(const struct twin *twin, const struct sk_buff *skb, int dsfield)
{
	if (twin->trust == TWIN_TRUST_DSCP)
		return dsfield < 0 ? 0 : twin->dscp2prio[dsfield >> 2];
	if (skb_vlan_tag_present(skb))
		return (skb_vlan_tag_get(skb) & VLAN_PRIO_MASK) >> VLAN_PRIO_SHIFT;
	return 0;
}

static u32 twin_packets(const struct sk_buff *skb)
{
	return max_t(u32, skb_shinfo(skb)->gso_segs, 1);
}

static bool twin_is_ect(int dsfield)
{
	return dsfield >= 0 && INET_ECN_is_capable(dsfield);
}

/* How much of the budget is used with this packet, in percent; 0 without a budget. */
static u64 twin_load(struct twin_pressure *pressure, u32 bytes)
{
	if (!pressure->budget)
		return 0;
	if (time_after(jiffies, pressure->since + TWIN_WINDOW)) {
		pressure->since = jiffies;
		pressure->used = 0;
	}
	pressure->used += bytes;
	return div_u64(pressure->used * 100, pressure->budget);
}

/* The class is full: the sender is paused, or the packet is lost. True when it is lost. */
static bool twin_full(struct twin *twin, int prio, u32 packets)
{
	u64 *counters = twin->prio[prio];

	if (twin->pfc_en & BIT(prio)) {
		counters[TWIN_TX_PAUSE]++;
		counters[TWIN_TX_PAUSE_DURATION] += TWIN_PAUSE_US;
	} else if (twin->tx_pause) {
		twin->port[TWIN_TX_GLOBAL_PAUSE]++;
		twin->port[TWIN_TX_GLOBAL_PAUSE_DURATION] += TWIN_PAUSE_US;
	} else {
		counters[TWIN_RX_DISCARDS] += packets;
		counters[TWIN_RX_BUF_DISCARD] += packets;
		twin->port[TWIN_RX_DISCARDS_PHY] += packets;
		return true;
	}
	twin->port[TWIN_TX_PAUSE_CTRL]++;
	return false;
}

/* Whether a congestion notification is due for a RoCE packet that carries the mark. */
static bool twin_notify(struct twin *twin, int prio)
{
	ktime_t now = ktime_get();

	if (!(twin->ecn_np & BIT(prio)))
		return false;
	twin->hw[TWIN_NP_ECN_MARKED]++;
	if (ktime_us_delta(now, twin->last_cnp) < twin->cc[TWIN_NP_MIN_TIME_BETWEEN_CNPS])
		return false;
	twin->last_cnp = now;
	return true;
}

static unsigned int twin_receive(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	int dsfield = twin_dsfield(skb);
	int opcode = twin_roce_opcode(skb);
	u32 packets = twin_packets(skb);
	struct twin *twin = priv;
	struct sk_buff *cnp = NULL;
	bool lost = false;
	bool marked = false;
	bool notify = false;
	u64 load;
	int prio;

	spin_lock_bh(&twin->lock);
	if (twin->link_down) {
		spin_unlock_bh(&twin->lock);
		return NF_DROP;
	}
	prio = twin_priority(twin, skb, dsfield);
	twin->prio[prio][TWIN_RX_PACKETS] += packets;
	twin->prio[prio][TWIN_RX_BYTES] += skb->len + ETH_HLEN;
	load = twin_load(&twin->pressure[prio], skb->len + ETH_HLEN);
	/* Marks come before pauses, as their thresholds are set in a switch. */
	if (load > 50 && twin_is_ect(dsfield)) {
		twin->prio[prio][TWIN_RX_MARKED] += packets;
		marked = true;
	}
	if (load > 100)
		lost = twin_full(twin, prio, packets);
	if (!lost && twin_is_cnp(opcode))
		twin->hw[twin->ecn_rp ? TWIN_RP_CNP_HANDLED : TWIN_RP_CNP_IGNORED]++;
	else if (!lost && opcode && (marked || (dsfield >= 0 && INET_ECN_is_ce(dsfield))))
		notify = twin_notify(twin, prio);
	spin_unlock_bh(&twin->lock);

	/* A CNP is for the NIC: the stack above has no use for it. */
	if (lost || twin_is_cnp(opcode))
		return NF_DROP;
	if (marked && !skb_ensure_writable(skb, skb_network_offset(skb) + sizeof(struct ipv6hdr)))
		INET_ECN_set_ce(skb);
	if (notify)
		cnp = twin_make_cnp(twin, skb);
	if (cnp) {
		spin_lock_bh(&twin->lock);
		twin->hw[TWIN_NP_CNP_SENT]++;
		spin_unlock_bh(&twin->lock);
		dev_queue_xmit(cnp);
	}
	return NF_ACCEPT;
}

static unsigned int twin_send(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct twin *twin = priv;
	int prio;

	spin_lock_bh(&twin->lock);
	prio = twin_priority(twin, skb, twin_dsfield(skb));
	twin->prio[prio][TWIN_TX_PACKETS] += twin_packets(skb);
	twin->prio[prio][TWIN_TX_BYTES] += skb->len;
	spin_unlock_bh(&twin->lock);
	return NF_ACCEPT;
}

int twin_traffic_start(struct twin *twin)
{
	int err = 0;

	twin->hooks[0] = (struct nf_hook_ops) {
		.hook = twin_receive,
		.hooknum = NF_NETDEV_INGRESS,
		/* Before any filter: what the NIC drops, no filter sees. */
		.priority = INT_MIN,
	};
	twin->hooks[1] = (struct nf_hook_ops) {
		.hook = twin_send,
		.hooknum = NF_NETDEV_EGRESS,
		.priority = INT_MAX,
	};
	while (!err && twin->hook_count < ARRAY_SIZE(twin->hooks)) {
		struct nf_hook_ops *hook = &twin->hooks[twin->hook_count];

		hook->pf = NFPROTO_NETDEV;
		hook->dev = twin->dev;
		hook->priv = twin;
		err = nf_register_net_hook(dev_net(twin->dev), hook);
		if (!err)
			twin->hook_count++;
	}
	return err;
}

void twin_traffic_stop(struct twin *twin)
{
	while (twin->hook_count)
		nf_unregister_net_hook(dev_net(twin->dev), &twin->hooks[--twin->hook_count]);
	/* A packet may still be on its way through a hook. */
	synchronize_net();
}
