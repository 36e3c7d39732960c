// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion notification packets (InfiniBand Architecture Specification, volume 1, annex A17): what
 * the NIC that receives a marked packet sends to the one that slows down. IPv4 only.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "twin.h"

#define ROCE_PORT 4791
#define BTH_LEN 12
#define BTH_OPCODE_CNP 0x81
#define BTH_PKEY 0xffff
#define CNP_RESERVED 16
#define ICRC_LEN 4
#define CNP_LEN (sizeof(struct udphdr) + BTH_LEN + CNP_RESERVED + ICRC_LEN)

int twin_roce_opcode(const struct sk_buff *skb)
{
	int offset = skb_network_offset(skb);
	struct ipv6hdr ip6_room;
	struct udphdr udp_room;
	struct iphdr ip_room;
	const struct ipv6hdr *ip6;
	const struct iphdr *ip;
	const struct udphdr *udp;
	const u8 *opcode;
	u8 opcode_room;

	if (skb->protocol == htons(ETH_P_IP)) {
		ip = skb_header_pointer(skb, offset, sizeof(ip_room), &ip_room);
		if (!ip || ip->protocol != IPPROTO_UDP || ip_is_fragment(ip))
			return 0;
		offset += ip->ihl * 4;
	} else if (skb->protocol == htons(ETH_P_IPV6)) {
		ip6 = skb_header_pointer(skb, offset, sizeof(ip6_room), &ip6_room);
		if (!ip6 || ip6->nexthdr != IPPROTO_UDP)
			return 0;
		offset += sizeof(*ip6);
	} else {
		return 0;
	}
	udp = skb_header_pointer(skb, offset, sizeof(udp_room), &udp_room);
	if (!udp || udp->dest != htons(ROCE_PORT))
		return 0;
	opcode = skb_header_pointer(skb, offset + sizeof(*udp), 1, &opcode_room);
	return opcode ? *opcode + 1 : 0;
}

bool twin_is_cnp(int opcode)
{
	return opcode == BTH_OPCODE_CNP + 1;
}

struct sk_buff *twin_make_cnp(struct twin *twin, const struct sk_buff *marked)
{
	struct net_device *dev = twin->dev;
	struct iphdr room;
	const struct iphdr *from;
	struct sk_buff *skb;
	struct udphdr *udp;
	struct iphdr *ip;
	u8 *bth;

	if (marked->protocol != htons(ETH_P_IP) || !skb_mac_header_was_set(marked))
		return NULL;
	from = skb_header_pointer(marked, skb_network_offset(marked), sizeof(room), &room);
	if (!from)
		return NULL;
	skb = alloc_skb(LL_RESERVED_SPACE(dev) + sizeof(*ip) + CNP_LEN + dev->needed_tailroom, GFP_ATOMIC);
	if (!skb)
		return NULL;

	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_network_header(skb);
	ip = skb_put_zero(skb, sizeof(*ip));
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = twin->cc[TWIN_NP_CNP_DSCP] << 2;
	ip->tot_len = htons(sizeof(*ip) + CNP_LEN);
	ip->frag_off = htons(IP_DF);
	ip->ttl = 64;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = from->daddr;
	ip->daddr = from->saddr;
	ip_send_check(ip);
	skb_set_transport_header(skb, sizeof(*ip));
	udp = skb_put_zero(skb, sizeof(*udp));
	udp->source = htons(ROCE_PORT);
	udp->dest = htons(ROCE_PORT);
	udp->len = htons(CNP_LEN);
	/* The queue pair is unknown here, and the twin at the other end does not ask for it. */
	bth = skb_put_zero(skb, BTH_LEN + CNP_RESERVED + ICRC_LEN);
	bth[0] = BTH_OPCODE_CNP;
	put_unaligned_be16(BTH_PKEY, bth + 2);
	skb->dev = dev;
	skb->protocol = htons(ETH_P_IP);
	if (dev_hard_header(skb, dev, ETH_P_IP, eth_hdr(marked)->h_source, dev->dev_addr, skb->len) < 0) {
		kfree_skb(skb);
		return NULL;
	}
	skb_reset_mac_header(skb);
	return skb;
}
