/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NIC twin: gives chosen network devices the management interfaces of a RoCE NIC.
 *
 * A virtual NIC has no priority flow control, no ETS scheduler and no pause frames. This module
 * attaches to the devices at the given PCI addresses and answers for them over the kernel's own
 * interfaces (DCB netlink, ethtool, debugfs, sysfs), so that the real tools and the code under test
 * meet a real kernel. It counts the packets that pass by their priority, and drops them in a class
 * without flow control when it is told that the class is under pressure.
 *
 * Settings live as long as the net device: they survive a link flap, and are lost when the driver is
 * bound again or the module is loaded again. The behaviour is that of mlx5 (in the kernel's tree:
 * drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, drivers/infiniband/hw/mlx5/cong.c).
 */
#ifndef NIC_TWIN_H
#define NIC_TWIN_H

#include <linux/dcbnl.h>
#include <linux/debugfs.h>
#include <linux/ethtool.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#define TWIN_PRIOS IEEE_8021QAZ_MAX_TCS
#define TWIN_DSCPS 64

enum twin_personality { TWIN_INBOX, TWIN_OFED };
enum twin_trust { TWIN_TRUST_PCP, TWIN_TRUST_DSCP };
/* Who owns DCBX: the host; the firmware until the host takes over; the firmware for good. */
enum twin_owner { TWIN_HOST, TWIN_FIRMWARE, TWIN_LOCKED };

/* Counters of a priority. From TWIN_RX_PAUSE on they are listed only while PFC is on for it. */
enum twin_prio_counter {
	TWIN_RX_BYTES,
	TWIN_RX_PACKETS,
	TWIN_RX_DISCARDS,
	TWIN_TX_BYTES,
	TWIN_TX_PACKETS,
	TWIN_RX_BUF_DISCARD,
	TWIN_RX_CONG_DISCARD,
	TWIN_RX_MARKED,
	TWIN_RX_PAUSE,
	TWIN_RX_PAUSE_DURATION,
	TWIN_TX_PAUSE,
	TWIN_TX_PAUSE_DURATION,
	TWIN_RX_PAUSE_TRANSITION,
	TWIN_PRIO_COUNTERS,
};

/* Counters of the port. From TWIN_RX_GLOBAL_PAUSE on they are listed only while global pause is on. */
enum twin_port_counter {
	TWIN_LINK_DOWN_EVENTS,
	TWIN_RX_DISCARDS_PHY,
	TWIN_TX_DISCARDS_PHY,
	TWIN_RX_PAUSE_CTRL,
	TWIN_TX_PAUSE_CTRL,
	TWIN_STORM_WARNING,
	TWIN_STORM_ERROR,
	TWIN_RX_GLOBAL_PAUSE,
	TWIN_RX_GLOBAL_PAUSE_DURATION,
	TWIN_TX_GLOBAL_PAUSE,
	TWIN_TX_GLOBAL_PAUSE_DURATION,
	TWIN_RX_GLOBAL_PAUSE_TRANSITION,
	TWIN_PORT_COUNTERS,
};

/* Counters that a RoCE device has below its hw_counters. */
enum twin_hw_counter {
	TWIN_NP_ECN_MARKED,
	TWIN_NP_CNP_SENT,
	TWIN_RP_CNP_HANDLED,
	TWIN_RP_CNP_IGNORED,
	TWIN_HW_COUNTERS,
};

enum twin_cc {
	TWIN_RP_CLAMP_TGT_RATE,
	TWIN_RP_CLAMP_TGT_RATE_ATI,
	TWIN_RP_TIME_RESET,
	TWIN_RP_BYTE_RESET,
	TWIN_RP_THRESHOLD,
	TWIN_RP_AI_RATE,
	TWIN_RP_MAX_RATE,
	TWIN_RP_HAI_RATE,
	TWIN_RP_MIN_DEC_FAC,
	TWIN_RP_MIN_RATE,
	TWIN_RP_RATE_ON_FIRST_CNP,
	TWIN_RP_DCE_TCP_G,
	TWIN_RP_DCE_TCP_RTT,
	TWIN_RP_RATE_REDUCE_PERIOD,
	TWIN_RP_INITIAL_ALPHA,
	TWIN_RP_GD,
	TWIN_NP_MIN_TIME_BETWEEN_CNPS,
	TWIN_NP_CNP_DSCP,
	TWIN_NP_CNP_PRIO_MODE,
	TWIN_NP_CNP_PRIO,
	TWIN_RTT_RESP_DSCP_VALID,
	TWIN_RTT_RESP_DSCP,
	TWIN_CCS,
};

/* A congestion control parameter; a name that is NULL is not offered by that personality. */
struct twin_cc_param {
	const char *inbox;
	const char *ofed;
	u32 initial;
	u32 mask;
};

struct twin_pressure {
	u32 budget; /* bytes in TWIN_WINDOW, 0 is none */
	u64 used;
	unsigned long since;
};

struct twin_ofed;
struct twin;

/* What a debugfs file is about. */
struct twin_item {
	struct twin *twin;
	int index;
};

struct twin {
	struct list_head list;
	struct net_device *dev;
	const char *pci;
	enum twin_personality personality;
	const struct ethtool_ops *saved_ethtool_ops;
	struct ethtool_ops ethtool_ops;
	struct nf_hook_ops hooks[2];
	int hook_count;

	/* Under the RTNL lock, which DCB, ethtool and the notifier hold anyway. */
	struct ieee_ets ets;
	struct ieee_maxrate maxrate;
	struct dcbnl_buffer buffer;
	bool manual_buffer;
	u32 cable_len;
	u8 dcbx;
	enum twin_owner owner;
	bool willing;
	u8 peer_pfc;
	u16 stall_ms;
	DECLARE_BITMAP(apps, TWIN_DSCPS);

	/* Written under both locks, read under either. */
	u8 pfc_en;
	bool rx_pause;
	bool tx_pause;
	enum twin_trust trust;
	u8 dscp2prio[TWIN_DSCPS];

	spinlock_t lock;
	bool link_down;
	u8 ecn_np;
	u8 ecn_rp;
	u32 cc[TWIN_CCS];
	ktime_t last_cnp;
	struct twin_pressure pressure[TWIN_PRIOS];
	u64 prio[TWIN_PRIOS][TWIN_PRIO_COUNTERS];
	u64 port[TWIN_PORT_COUNTERS];
	u64 hw[TWIN_HW_COUNTERS];

	struct delayed_work link_work;
	struct delayed_work firmware_work;
	struct dentry *knobs;
	struct dentry *inbox;
	struct twin_item cc_items[TWIN_CCS];
	struct twin_item hw_items[TWIN_HW_COUNTERS];
	struct twin_ofed *ofed;
};

extern const struct dcbnl_rtnl_ops twin_dcbnl_ops;
extern const char *const twin_prio_names[TWIN_PRIO_COUNTERS];
extern const char *const twin_port_names[TWIN_PORT_COUNTERS];
extern const char *const twin_hw_names[TWIN_HW_COUNTERS];
extern const struct twin_cc_param twin_cc_params[TWIN_CCS];

struct twin *twin_find(const struct net_device *dev);
void twin_toggle_link(struct twin *twin);

void twin_dcb_init(struct twin *twin);
void twin_dcb_exit(struct twin *twin);
int twin_set_pfc(struct twin *twin, u8 mask, u32 cable_len);
void twin_set_trust(struct twin *twin, enum twin_trust trust);
int twin_set_dscp(struct twin *twin, u8 dscp, u8 prio);
void twin_set_maxrate(struct twin *twin, const u64 *kbps);
void twin_firmware_kick(struct twin *twin);
void twin_firmware_work(struct work_struct *work);

void twin_buffer_init(struct twin *twin);
void twin_buffer_follow_pfc(struct twin *twin);
int twin_set_buffer(struct twin *twin, const u32 *size, const u8 *prio2buffer);
u32 twin_buffer_xoff(const struct twin *twin, int buffer);
int twin_check_buffer(const struct twin *twin);

void twin_stats_init(struct twin *twin);

int twin_traffic_start(struct twin *twin);
void twin_traffic_stop(struct twin *twin);

/* Whether the packet is a CNP; 0 is no RoCE packet at all, otherwise its BTH opcode plus one. */
int twin_roce_opcode(const struct sk_buff *skb);
bool twin_is_cnp(int opcode);
/* A CNP for the sender of a packet, to be sent without the lock; NULL where none can be made. */
struct sk_buff *twin_make_cnp(struct twin *twin, const struct sk_buff *marked);

void twin_inbox_start(struct twin *twin);
void twin_inbox_stop(struct twin *twin);
void twin_inbox_root(bool create);
u32 twin_get_cc(struct twin *twin, enum twin_cc index);
void twin_set_cc(struct twin *twin, enum twin_cc index, u32 value);

int twin_ofed_start(struct twin *twin);
void twin_ofed_stop(struct twin *twin);

void twin_knobs_root(bool create);
void twin_knobs_start(struct twin *twin);
void twin_knobs_stop(struct twin *twin);

#endif
