// SPDX-License-Identifier: GPL-2.0
/* ethtool: counters by the names of mlx5, global pause, the guard against PFC storms. */
#include "twin.h"

#define TWIN_STALL_MS 8000
#define TWIN_STALL_MS_MIN 80
#define TWIN_STALL_MS_AUTO 100

const char *const twin_prio_names[TWIN_PRIO_COUNTERS] = {
	[TWIN_RX_BYTES] = "rx_prio%d_bytes",
	[TWIN_RX_PACKETS] = "rx_prio%d_packets",
	[TWIN_RX_DISCARDS] = "rx_prio%d_discards",
	[TWIN_TX_BYTES] = "tx_prio%d_bytes",
	[TWIN_TX_PACKETS] = "tx_prio%d_packets",
	[TWIN_RX_BUF_DISCARD] = "rx_prio%d_buf_discard",
	[TWIN_RX_CONG_DISCARD] = "rx_prio%d_cong_discard",
	[TWIN_RX_MARKED] = "rx_prio%d_marked",
	[TWIN_RX_PAUSE] = "rx_prio%d_pause",
	[TWIN_RX_PAUSE_DURATION] = "rx_prio%d_pause_duration",
	[TWIN_TX_PAUSE] = "tx_prio%d_pause",
	[TWIN_TX_PAUSE_DURATION] = "tx_prio%d_pause_duration",
	[TWIN_RX_PAUSE_TRANSITION] = "rx_prio%d_pause_transition",
};

const char *const twin_port_names[TWIN_PORT_COUNTERS] = {
	[TWIN_LINK_DOWN_EVENTS] = "link_down_events_phy",
	[TWIN_RX_DISCARDS_PHY] = "rx_discards_phy",
	[TWIN_TX_DISCARDS_PHY] = "tx_discards_phy",
	[TWIN_RX_PAUSE_CTRL] = "rx_pause_ctrl_phy",
	[TWIN_TX_PAUSE_CTRL] = "tx_pause_ctrl_phy",
	[TWIN_STORM_WARNING] = "tx_pause_storm_warning_events",
	[TWIN_STORM_ERROR] = "tx_pause_storm_error_events",
	[TWIN_RX_GLOBAL_PAUSE] = "rx_global_pause",
	[TWIN_RX_GLOBAL_PAUSE_DURATION] = "rx_global_pause_duration",
	[TWIN_TX_GLOBAL_PAUSE] = "tx_global_pause",
	[TWIN_TX_GLOBAL_PAUSE_DURATION] = "tx_global_pause_duration",
	[TWIN_RX_GLOBAL_PAUSE_TRANSITION] = "rx_global_pause_transition",
};

const char *const twin_hw_names[TWIN_HW_COUNTERS] = {
	[TWIN_NP_ECN_MARKED] = "np_ecn_marked_roce_packets",
	[TWIN_NP_CNP_SENT] = "np_cnp_sent",
	[TWIN_RP_CNP_HANDLED] = "rp_cnp_handled",
	[TWIN_RP_CNP_IGNORED] = "rp_cnp_ignored",
};

/* Names (when wanted) and values (when wanted) of what is listed now; returns how many. */
static int twin_list(struct twin *twin, u8 *names, u64 *values)
{
	int port = twin->rx_pause || twin->tx_pause ? TWIN_PORT_COUNTERS : TWIN_RX_GLOBAL_PAUSE;
	int count = 0;
	int prio;
	int i;

	spin_lock_bh(&twin->lock);
	for (i = 0; i < port; i++, count++) {
		if (names)
			strscpy(names + count * ETH_GSTRING_LEN, twin_port_names[i], ETH_GSTRING_LEN);
		if (values)
			values[count] = twin->port[i];
	}
	for (prio = 0; prio < TWIN_PRIOS; prio++) {
		int last = twin->pfc_en & BIT(prio) ? TWIN_PRIO_COUNTERS : TWIN_RX_PAUSE;

		for (i = 0; i < last; i++, count++) {
			if (names)
				snprintf(names + count * ETH_GSTRING_LEN, ETH_GSTRING_LEN, twin_prio_names[i], prio);
			if (values)
				values[count] = twin->prio[prio][i];
		}
	}
	spin_unlock_bh(&twin->lock);
	return count;
}

static int twin_saved_count(struct twin *twin)
{
	const struct ethtool_ops *saved = twin->saved_ethtool_ops;
	int count = saved && saved->get_sset_count ? saved->get_sset_count(twin->dev, ETH_SS_STATS) : 0;

	return max(count, 0);
}

static int twin_get_sset_count(struct net_device *dev, int set)
{
	struct twin *twin = twin_find(dev);
	const struct ethtool_ops *saved;

	if (!twin)
		return -ENODEV;
	saved = twin->saved_ethtool_ops;
	if (set != ETH_SS_STATS)
		return saved && saved->get_sset_count ? saved->get_sset_count(dev, set) : -EOPNOTSUPP;
	return twin_saved_count(twin) + twin_list(twin, NULL, NULL);
}

static void twin_get_strings(struct net_device *dev, u32 set, u8 *data)
{
	struct twin *twin = twin_find(dev);
	const struct ethtool_ops *saved;

	if (!twin)
		return;
	saved = twin->saved_ethtool_ops;
	if (saved && saved->get_strings)
		saved->get_strings(dev, set, data);
	if (set == ETH_SS_STATS)
		twin_list(twin, data + twin_saved_count(twin) * ETH_GSTRING_LEN, NULL);
}

static void twin_get_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct twin *twin = twin_find(dev);
	const struct ethtool_ops *saved;

	if (!twin)
		return;
	saved = twin->saved_ethtool_ops;
	if (saved && saved->get_ethtool_stats)
		saved->get_ethtool_stats(dev, stats, data);
	twin_list(twin, NULL, data + twin_saved_count(twin));
}

static void twin_get_pauseparam(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	struct twin *twin = twin_find(dev);

	if (!twin)
		return;
	pause->autoneg = AUTONEG_DISABLE;
	pause->rx_pause = twin->rx_pause;
	pause->tx_pause = twin->tx_pause;
}

static int twin_set_pauseparam(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	struct twin *twin = twin_find(dev);

	if (!twin)
		return -ENODEV;
	if (pause->autoneg)
		return -EINVAL;
	spin_lock_bh(&twin->lock);
	twin->rx_pause = !!pause->rx_pause;
	twin->tx_pause = !!pause->tx_pause;
	spin_unlock_bh(&twin->lock);
	return 0;
}

static int twin_get_tunable(struct net_device *dev, const struct ethtool_tunable *tuna, void *data)
{
	struct twin *twin = twin_find(dev);

	if (!twin || tuna->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EOPNOTSUPP;
	*(u16 *)data = twin->stall_ms;
	return 0;
}

static int twin_set_tunable(struct net_device *dev, const struct ethtool_tunable *tuna, const void *data)
{
	struct twin *twin = twin_find(dev);
	u16 value;

	if (!twin || tuna->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EOPNOTSUPP;
	value = *(const u16 *)data;
	if (value == PFC_STORM_PREVENTION_AUTO)
		value = TWIN_STALL_MS_AUTO;
	if (value != PFC_STORM_PREVENTION_DISABLE && (value < TWIN_STALL_MS_MIN || value > TWIN_STALL_MS))
		return -EINVAL;
	twin->stall_ms = value;
	return 0;
}

void twin_stats_init(struct twin *twin)
{
	twin->stall_ms = TWIN_STALL_MS;
	twin->saved_ethtool_ops = twin->dev->ethtool_ops;
	if (twin->saved_ethtool_ops)
		twin->ethtool_ops = *twin->saved_ethtool_ops;
	twin->ethtool_ops.get_sset_count = twin_get_sset_count;
	twin->ethtool_ops.get_strings = twin_get_strings;
	twin->ethtool_ops.get_ethtool_stats = twin_get_stats;
	twin->ethtool_ops.get_pauseparam = twin_get_pauseparam;
	twin->ethtool_ops.set_pauseparam = twin_set_pauseparam;
	twin->ethtool_ops.get_tunable = twin_get_tunable;
	twin->ethtool_ops.set_tunable = twin_set_tunable;
}
