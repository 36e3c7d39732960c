// SPDX-License-Identifier: GPL-2.0
/* DCB netlink: ETS, PFC, the DSCP map and with it the trust state, the owner of DCBX. */
#include <linux/rtnetlink.h>
#include <net/dcbnl.h>

#include "twin.h"

#define TWIN_CABLE_LEN 7
#define TWIN_CABLE_LEN_LIMIT 1000
#define TWIN_FULL_SHARE 100
#define TWIN_100MBPS 100000ULL
#define TWIN_GBPS 1000000ULL
/* How soon firmware that owns the port, or follows its peer, puts its own settings back. */
#define TWIN_FIRMWARE_MS 1000

static void twin_default_ets(struct ieee_ets *ets)
{
	int i;

	memset(ets, 0, sizeof(*ets));
	ets->ets_cap = TWIN_PRIOS;
	for (i = 0; i < TWIN_PRIOS; i++) {
		/* 802.1Q ranks priority 1 (background) below 0 (best effort). */
		ets->prio_tc[i] = i < 2 ? 1 - i : i;
		ets->tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
		ets->tc_tx_bw[i] = TWIN_FULL_SHARE;
	}
}

void twin_dcb_init(struct twin *twin)
{
	int i;

	twin_default_ets(&twin->ets);
	twin->cable_len = TWIN_CABLE_LEN;
	twin->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE;
	for (i = 0; i < TWIN_DSCPS; i++)
		twin->dscp2prio[i] = i >> 3;
	/* Global pause is on out of the box, which is one of the things that a lossless set-up turns off. */
	twin->rx_pause = true;
	twin->tx_pause = true;
}

void twin_dcb_exit(struct twin *twin)
{
	/* The kernel keeps that table, and would show it to the next twin of this device. */
	twin_set_trust(twin, TWIN_TRUST_PCP);
}

static int twin_ieee_getets(struct net_device *dev, struct ieee_ets *ets)
{
	struct twin *twin = twin_find(dev);

	if (!twin)
		return -ENODEV;
	*ets = twin->ets;
	ets->willing = twin->willing;
	return 0;
}

static int twin_ieee_setets(struct net_device *dev, struct ieee_ets *ets)
{
	struct twin *twin = twin_find(dev);
	bool have_ets = false;
	int share = 0;
	int i;

	if (!twin)
		return -ENODEV;
	for (i = 0; i < TWIN_PRIOS; i++) {
		if (ets->prio_tc[i] >= TWIN_PRIOS)
			return -EINVAL;
		switch (ets->tc_tsa[i]) {
		case IEEE_8021QAZ_TSA_STRICT:
		case IEEE_8021QAZ_TSA_VENDOR:
			break;
		case IEEE_8021QAZ_TSA_ETS:
			have_ets = true;
			share += ets->tc_tx_bw[i];
			break;
		default:
			return -EOPNOTSUPP;
		}
	}
	if (have_ets && share != TWIN_FULL_SHARE)
		return -EINVAL;
	memcpy(twin->ets.prio_tc, ets->prio_tc, sizeof(ets->prio_tc));
	memcpy(twin->ets.tc_tsa, ets->tc_tsa, sizeof(ets->tc_tsa));
	/* A class that does not share may use all there is, and the port reports it so. */
	for (i = 0; i < TWIN_PRIOS; i++)
		twin->ets.tc_tx_bw[i] =
			ets->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS ? ets->tc_tx_bw[i] : TWIN_FULL_SHARE;
	return 0;
}

static int twin_ieee_getmaxrate(struct net_device *dev, struct ieee_maxrate *maxrate)
{
	struct twin *twin = twin_find(dev);

	if (!twin)
		return -ENODEV;
	*maxrate = twin->maxrate;
	return 0;
}

void twin_set_maxrate(struct twin *twin, const u64 *kbps)
{
	u64 unit;
	int i;

	/* The hardware has eight bits and two units. */
	for (i = 0; i < TWIN_PRIOS; i++) {
		unit = kbps[i] < 255 * TWIN_100MBPS ? TWIN_100MBPS : TWIN_GBPS;
		twin->maxrate.tc_maxrate[i] = kbps[i] ? max(div64_u64(kbps[i], unit), 1ULL) * unit : 0;
	}
}

static int twin_ieee_setmaxrate(struct net_device *dev, struct ieee_maxrate *maxrate)
{
	struct twin *twin = twin_find(dev);

	if (!twin)
		return -ENODEV;
	twin_set_maxrate(twin, maxrate->tc_maxrate);
	return 0;
}

static int twin_ieee_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct twin *twin = twin_find(dev);
	int i;

	if (!twin)
		return -ENODEV;
	pfc->pfc_cap = TWIN_PRIOS;
	pfc->pfc_en = twin->pfc_en;
	pfc->delay = twin->cable_len;
	spin_lock_bh(&twin->lock);
	for (i = 0; i < TWIN_PRIOS; i++) {
		pfc->requests[i] = twin->prio[i][TWIN_TX_PAUSE];
		pfc->indications[i] = twin->prio[i][TWIN_RX_PAUSE];
	}
	spin_unlock_bh(&twin->lock);
	return 0;
}

int twin_set_pfc(struct twin *twin, u8 mask, u32 cable_len)
{
	u32 former = twin->cable_len;
	int err = 0;

	if (mask != twin->pfc_en) {
		spin_lock_bh(&twin->lock);
		twin->pfc_en = mask;
		spin_unlock_bh(&twin->lock);
		twin_toggle_link(twin);
		twin_buffer_follow_pfc(twin);
	}
	/* Zero means that the tool did not set it. */
	if (cable_len && cable_len < TWIN_CABLE_LEN_LIMIT)
		twin->cable_len = cable_len;
	if (twin->manual_buffer)
		err = twin_check_buffer(twin);
	if (err)
		twin->cable_len = former;
	return err;
}

static int twin_ieee_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct twin *twin = twin_find(dev);

	return twin ? twin_set_pfc(twin, pfc->pfc_en, pfc->delay) : -ENODEV;
}

static struct dcb_app twin_app(struct twin *twin, u8 dscp)
{
	return (struct dcb_app) {
		.selector = IEEE_8021QAZ_APP_SEL_DSCP,
		.priority = twin->dscp2prio[dscp],
		.protocol = dscp,
	};
}

static void twin_trust_is(struct twin *twin, enum twin_trust trust)
{
	spin_lock_bh(&twin->lock);
	twin->trust = trust;
	spin_unlock_bh(&twin->lock);
}

static void twin_map(struct twin *twin, u8 dscp, u8 prio)
{
	spin_lock_bh(&twin->lock);
	twin->dscp2prio[dscp] = prio;
	spin_unlock_bh(&twin->lock);
}

/* The whole map appears in the kernel's table with trust in DSCP, and goes with it. */
void twin_set_trust(struct twin *twin, enum twin_trust trust)
{
	struct dcb_app app;
	int dscp;

	for (dscp = 0; dscp < TWIN_DSCPS; dscp++) {
		app = twin_app(twin, dscp);
		if (trust == TWIN_TRUST_PCP && __test_and_clear_bit(dscp, twin->apps))
			dcb_ieee_delapp(twin->dev, &app);
		if (trust == TWIN_TRUST_DSCP && !__test_and_set_bit(dscp, twin->apps))
			dcb_ieee_setapp(twin->dev, &app);
	}
	twin_trust_is(twin, trust);
}

/* Maps a DSCP; where it has an entry in the kernel's table, the entry follows. */
int twin_set_dscp(struct twin *twin, u8 dscp, u8 prio)
{
	struct dcb_app app = twin_app(twin, dscp);

	if (test_bit(dscp, twin->apps))
		dcb_ieee_delapp(twin->dev, &app);
	twin_map(twin, dscp, prio);
	app.priority = prio;
	if (!test_bit(dscp, twin->apps))
		return 0;
	return dcb_ieee_setapp(twin->dev, &app);
}

static int twin_ieee_setapp(struct net_device *dev, struct dcb_app *app)
{
	struct twin *twin = twin_find(dev);

	if (!twin)
		return -ENODEV;
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= TWIN_DSCPS || app->priority >= TWIN_PRIOS)
		return -EINVAL;
	if (bitmap_empty(twin->apps, TWIN_DSCPS))
		twin_trust_is(twin, TWIN_TRUST_DSCP);
	/* One priority for a DSCP: a second entry replaces the first. */
	if (test_bit(app->protocol, twin->apps))
		return twin_set_dscp(twin, app->protocol, app->priority);
	twin_map(twin, app->protocol, app->priority);
	__set_bit(app->protocol, twin->apps);
	return dcb_ieee_setapp(dev, app);
}

static int twin_ieee_delapp(struct net_device *dev, struct dcb_app *app)
{
	struct twin *twin = twin_find(dev);
	int err;

	if (!twin)
		return -ENODEV;
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= TWIN_DSCPS)
		return -EINVAL;
	if (!test_bit(app->protocol, twin->apps) || app->priority != twin->dscp2prio[app->protocol])
		return -ENOENT;
	err = dcb_ieee_delapp(dev, app);
	if (err)
		return err;
	__clear_bit(app->protocol, twin->apps);
	/* Not to what it was at the start, but to the lowest priority. */
	twin_map(twin, app->protocol, 0);
	if (bitmap_empty(twin->apps, TWIN_DSCPS))
		twin_trust_is(twin, TWIN_TRUST_PCP);
	return 0;
}

static u8 twin_getdcbx(struct net_device *dev)
{
	struct twin *twin = twin_find(dev);

	if (!twin)
		return 0;
	return twin->owner == TWIN_HOST ? twin->dcbx : twin->dcbx & ~DCB_CAP_DCBX_HOST;
}

static u8 twin_setdcbx(struct net_device *dev, u8 mode)
{
	struct twin *twin = twin_find(dev);

	/* Non-zero is refusal. */
	if (!twin || (mode & DCB_CAP_DCBX_LLD_MANAGED))
		return 1;
	if (!mode) {
		if (twin->owner == TWIN_HOST)
			twin->owner = TWIN_FIRMWARE;
		twin_firmware_kick(twin);
		return 0;
	}
	if (!(mode & DCB_CAP_DCBX_HOST) || twin->owner == TWIN_LOCKED)
		return 1;
	twin->owner = TWIN_HOST;
	twin->dcbx = mode;
	return 0;
}

static bool twin_follows(const struct twin *twin)
{
	return twin->owner != TWIN_HOST || twin->willing;
}

void twin_firmware_kick(struct twin *twin)
{
	if (twin_follows(twin))
		mod_delayed_work(system_wq, &twin->firmware_work, msecs_to_jiffies(TWIN_FIRMWARE_MS));
}

/* What the host sets is taken, and lasts until the firmware has heard its peer again. */
void twin_firmware_work(struct work_struct *work)
{
	struct twin *twin = container_of(to_delayed_work(work), struct twin, firmware_work);

	/* Whoever detaches the twin has the lock and waits for this work. */
	if (rtnl_trylock()) {
		if (twin_follows(twin)) {
			twin_default_ets(&twin->ets);
			twin_set_pfc(twin, twin->peer_pfc, 0);
		}
		rtnl_unlock();
	}
	twin_firmware_kick(twin);
}

static int twin_getbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct twin *twin = twin_find(dev);

	if (!twin)
		return -ENODEV;
	*buffer = twin->buffer;
	return 0;
}

static int twin_setbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct twin *twin = twin_find(dev);

	return twin ? twin_set_buffer(twin, buffer->buffer_size, buffer->prio2buffer) : -ENODEV;
}

const struct dcbnl_rtnl_ops twin_dcbnl_ops = {
	.ieee_getets = twin_ieee_getets,
	.ieee_setets = twin_ieee_setets,
	.ieee_getmaxrate = twin_ieee_getmaxrate,
	.ieee_setmaxrate = twin_ieee_setmaxrate,
	.ieee_getpfc = twin_ieee_getpfc,
	.ieee_setpfc = twin_ieee_setpfc,
	.ieee_setapp = twin_ieee_setapp,
	.ieee_delapp = twin_ieee_delapp,
	.getdcbx = twin_getdcbx,
	.setdcbx = twin_setdcbx,
	.dcbnl_getbuffer = twin_getbuffer,
	.dcbnl_setbuffer = twin_setbuffer,
};
