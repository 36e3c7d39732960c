// SPDX-License-Identifier: GPL-2.0
/*
 * NIC twin: gives chosen network devices the management interfaces of a RoCE NIC.
 *
 * A virtual NIC has no priority flow control, no ETS scheduler and no pause frames. This module
 * attaches to the devices at the given PCI addresses and answers for them over the kernel's own
 * interfaces (DCB netlink, ethtool), so that the real tools and the code under test meet a real
 * kernel. It keeps the settings for as long as the net device exists: they survive a link flap,
 * and are lost when the driver is bound again, as with the hardware. No traffic is affected.
 */
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/dcbnl.h>

#define TWIN_MAX 16
#define TWIN_TCS IEEE_8021QAZ_MAX_TCS
#define TWIN_BUFFER_TOTAL 262016

static char *pci[TWIN_MAX];
static int pci_count;
module_param_array(pci, charp, &pci_count, 0444);
MODULE_PARM_DESC(pci, "PCI addresses of the devices to attach to, for instance 0000:01:00.0");

struct twin {
	struct list_head list;
	struct net_device *dev;
	const struct ethtool_ops *saved_ethtool_ops;
	struct ethtool_ops ethtool_ops;
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct dcbnl_buffer buffer;
	u8 dcbx;
	bool rx_pause;
	bool tx_pause;
};

/* All of it is under the RTNL lock, which DCB, ethtool and the notifier hold anyway. */
static LIST_HEAD(twins);

static struct twin *twin_find(const struct net_device *dev)
{
	struct twin *twin;

	list_for_each_entry(twin, &twins, list)
		if (twin->dev == dev)
			return twin;
	return NULL;
}

static int twin_ieee_getets(struct net_device *dev, struct ieee_ets *ets)
{
	struct twin *twin = twin_find(dev);

	if (!twin)
		return -ENODEV;
	*ets = twin->ets;
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
	for (i = 0; i < TWIN_TCS; i++) {
		if (ets->prio_tc[i] >= TWIN_TCS)
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
	if (have_ets && share != 100)
		return -EINVAL;
	twin->ets = *ets;
	twin->ets.willing = 0;
	twin->ets.ets_cap = TWIN_TCS;
	twin->ets.cbs = 0;
	return 0;
}

static int twin_ieee_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct twin *twin = twin_find(dev);

	if (!twin)
		return -ENODEV;
	*pfc = twin->pfc;
	return 0;
}

static int twin_ieee_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct twin *twin = twin_find(dev);

	if (!twin)
		return -ENODEV;
	twin->pfc.pfc_en = pfc->pfc_en;
	/* Zero means that the tool did not set it. */
	if (pfc->delay)
		twin->pfc.delay = pfc->delay;
	return 0;
}

static u8 twin_getdcbx(struct net_device *dev)
{
	struct twin *twin = twin_find(dev);

	return twin ? twin->dcbx : 0;
}

static u8 twin_setdcbx(struct net_device *dev, u8 mode)
{
	struct twin *twin = twin_find(dev);

	/* Non-zero is refusal. The host is in charge: there is no DCBX firmware here to hand over to. */
	if (!twin || !(mode & DCB_CAP_DCBX_HOST) || (mode & DCB_CAP_DCBX_LLD_MANAGED))
		return 1;
	twin->dcbx = mode;
	return 0;
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
	u64 total = 0;
	int i;

	if (!twin)
		return -ENODEV;
	for (i = 0; i < DCBX_MAX_BUFFERS; i++)
		total += buffer->buffer_size[i];
	if (total > TWIN_BUFFER_TOTAL)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(buffer->prio2buffer); i++)
		if (buffer->prio2buffer[i] >= DCBX_MAX_BUFFERS)
			return -EINVAL;
	twin->buffer = *buffer;
	twin->buffer.total_size = TWIN_BUFFER_TOTAL;
	return 0;
}

/* The priority map (dcb app) needs no callback: the kernel keeps that table itself. */
static const struct dcbnl_rtnl_ops twin_dcbnl_ops = {
	.ieee_getets = twin_ieee_getets,
	.ieee_setets = twin_ieee_setets,
	.ieee_getpfc = twin_ieee_getpfc,
	.ieee_setpfc = twin_ieee_setpfc,
	.getdcbx = twin_getdcbx,
	.setdcbx = twin_setdcbx,
	.dcbnl_getbuffer = twin_getbuffer,
	.dcbnl_setbuffer = twin_setbuffer,
};

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
	twin->rx_pause = !!pause->rx_pause;
	twin->tx_pause = !!pause->tx_pause;
	return 0;
}

static bool twin_wanted(const struct net_device *dev)
{
	const struct device *parent;
	int i;

	for (parent = dev->dev.parent; parent; parent = parent->parent) {
		if (!dev_is_pci(parent))
			continue;
		for (i = 0; i < pci_count; i++)
			if (!strcmp(dev_name(parent), pci[i]))
				return true;
		/* The bridges above are not the device. */
		return false;
	}
	return false;
}

static void twin_attach(struct net_device *dev)
{
	struct twin *twin;
	int i;

	if (!twin_wanted(dev) || twin_find(dev))
		return;
	if (dev->dcbnl_ops) {
		netdev_info(dev, "nic_twin: the driver has DCB of its own, left alone\n");
		return;
	}
	twin = kzalloc(sizeof(*twin), GFP_KERNEL);
	if (!twin)
		return;

	twin->dev = dev;
	twin->ets.ets_cap = TWIN_TCS;
	twin->pfc.pfc_cap = TWIN_TCS;
	for (i = 0; i < TWIN_TCS; i++) {
		twin->ets.prio_tc[i] = i;
		twin->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
	}
	twin->buffer.buffer_size[0] = TWIN_BUFFER_TOTAL;
	twin->buffer.total_size = TWIN_BUFFER_TOTAL;
	twin->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
	/* Global pause is on out of the box, which is one of the things that a lossless set-up turns off. */
	twin->rx_pause = true;
	twin->tx_pause = true;

	twin->saved_ethtool_ops = dev->ethtool_ops;
	if (dev->ethtool_ops)
		twin->ethtool_ops = *dev->ethtool_ops;
	twin->ethtool_ops.get_pauseparam = twin_get_pauseparam;
	twin->ethtool_ops.set_pauseparam = twin_set_pauseparam;
	list_add_tail(&twin->list, &twins);
	dev->ethtool_ops = &twin->ethtool_ops;
	dev->dcbnl_ops = &twin_dcbnl_ops;
	netdev_info(dev, "nic_twin: attached\n");
}

static void twin_detach(struct twin *twin)
{
	twin->dev->dcbnl_ops = NULL;
	twin->dev->ethtool_ops = twin->saved_ethtool_ops;
	list_del(&twin->list);
	kfree(twin);
}

static int twin_netdev_event(struct notifier_block *block, unsigned long event, void *data)
{
	struct net_device *dev = netdev_notifier_info_to_dev(data);
	struct twin *twin;

	switch (event) {
	case NETDEV_REGISTER:
		twin_attach(dev);
		break;
	case NETDEV_UNREGISTER:
		twin = twin_find(dev);
		if (twin)
			twin_detach(twin);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block twin_notifier = {
	.notifier_call = twin_netdev_event,
};

static int __init twin_init(void)
{
	/* Replays NETDEV_REGISTER for the devices that exist already. */
	return register_netdevice_notifier(&twin_notifier);
}

static void __exit twin_exit(void)
{
	/* Replays NETDEV_UNREGISTER for every device, which detaches. */
	unregister_netdevice_notifier(&twin_notifier);
}

module_init(twin_init);
module_exit(twin_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Railwright lab: the management interfaces of a RoCE NIC on a virtual one");
