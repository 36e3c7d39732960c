// SPDX-License-Identifier: GPL-2.0
/* Which devices have a twin, and the life of one. */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/virtio.h>
#include <linux/virtio_config.h>
#include <linux/virtio_net.h>

#include "twin.h"

#define TWIN_MAX 16
/* How long a port takes to come up again, roughly, when its driver toggles it. */
#define TWIN_LINK_DOWN_MS 300

static char *pci[TWIN_MAX];
static int pci_count;
module_param_array(pci, charp, &pci_count, 0444);
MODULE_PARM_DESC(pci, "PCI addresses of the devices to attach to, for instance 0000:01:00.0");

static char *personality[TWIN_MAX];
static int personality_count;
module_param_array(personality, charp, &personality_count, 0444);
MODULE_PARM_DESC(personality, "inbox (default) or ofed, one for each address; the last one is for the rest");

static LIST_HEAD(twins);

struct twin *twin_find(const struct net_device *dev)
{
	struct twin *twin;

	list_for_each_entry(twin, &twins, list)
		if (twin->dev == dev)
			return twin;
	return NULL;
}

static bool twin_cable_plugged(struct net_device *dev)
{
	struct virtio_device *virtio = dev_to_virtio(dev->dev.parent);
	u16 status = VIRTIO_NET_S_LINK_UP;

	if (virtio_has_feature(virtio, VIRTIO_NET_F_STATUS))
		virtio_cread_le(virtio, struct virtio_net_config, status, &status);
	return status & VIRTIO_NET_S_LINK_UP;
}

static void twin_link_work(struct work_struct *work)
{
	struct twin *twin = container_of(to_delayed_work(work), struct twin, link_work);

	spin_lock_bh(&twin->lock);
	twin->link_down = false;
	spin_unlock_bh(&twin->lock);
	/* virtio does not look again by itself, and the cable may have been pulled meanwhile. */
	if (twin_cable_plugged(twin->dev))
		netif_carrier_on(twin->dev);
}

void twin_toggle_link(struct twin *twin)
{
	spin_lock_bh(&twin->lock);
	twin->link_down = true;
	twin->port[TWIN_LINK_DOWN_EVENTS]++;
	spin_unlock_bh(&twin->lock);
	netif_carrier_off(twin->dev);
	mod_delayed_work(system_wq, &twin->link_work, msecs_to_jiffies(TWIN_LINK_DOWN_MS));
}

static int twin_index(const struct net_device *dev)
{
	const struct device *parent;
	int i;

	for (parent = dev->dev.parent; parent; parent = parent->parent) {
		if (!dev_is_pci(parent))
			continue;
		for (i = 0; i < pci_count; i++)
			if (!strcmp(dev_name(parent), pci[i]))
				return i;
		/* The bridges above are not the device. */
		break;
	}
	return -1;
}

static enum twin_personality twin_personality(int index)
{
	if (!personality_count)
		return TWIN_INBOX;
	return strcmp(personality[min(index, personality_count - 1)], "ofed") ? TWIN_INBOX : TWIN_OFED;
}

static void twin_attach(struct net_device *dev)
{
	int index = twin_index(dev);
	struct twin *twin;

	if (index < 0 || twin_find(dev))
		return;
	if (dev->dcbnl_ops) {
		netdev_info(dev, "nic_twin: the driver has DCB of its own, left alone\n");
		return;
	}
	twin = kzalloc(sizeof(*twin), GFP_KERNEL);
	if (!twin)
		return;

	twin->dev = dev;
	twin->pci = pci[index];
	twin->personality = twin_personality(index);
	spin_lock_init(&twin->lock);
	INIT_DELAYED_WORK(&twin->link_work, twin_link_work);
	INIT_DELAYED_WORK(&twin->firmware_work, twin_firmware_work);
	twin_dcb_init(twin);
	twin_buffer_init(twin);
	twin_stats_init(twin);
	if (twin_traffic_start(twin)) {
		netdev_warn(dev, "nic_twin: packets cannot be watched, not attached\n");
		twin_traffic_stop(twin);
		kfree(twin);
		return;
	}
	list_add_tail(&twin->list, &twins);
	dev->ethtool_ops = &twin->ethtool_ops;
	dev->dcbnl_ops = &twin_dcbnl_ops;
	twin_knobs_start(twin);
	twin_inbox_start(twin);
	if (twin_ofed_start(twin))
		netdev_warn(dev, "nic_twin: not all files below the net device could be made\n");
	netdev_info(dev, "nic_twin: attached\n");
	/* A driver that is loaded again makes its net device anew; this tells udev as much. */
	kobject_uevent(&dev->dev.kobj, KOBJ_CHANGE);
}

static void twin_detach(struct twin *twin)
{
	struct net_device *dev = twin->dev;

	twin_ofed_stop(twin);
	twin_inbox_stop(twin);
	twin_knobs_stop(twin);
	cancel_delayed_work_sync(&twin->firmware_work);
	twin_traffic_stop(twin);
	/* A reload in the middle of a toggle must not leave the link down. */
	if (cancel_delayed_work_sync(&twin->link_work) && dev->reg_state == NETREG_REGISTERED)
		twin_link_work(&twin->link_work.work);
	twin_dcb_exit(twin);
	dev->dcbnl_ops = NULL;
	dev->ethtool_ops = twin->saved_ethtool_ops;
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
	int err;

	twin_knobs_root(true);
	twin_inbox_root(true);
	/* Replays NETDEV_REGISTER for the devices that exist already. */
	err = register_netdevice_notifier(&twin_notifier);
	if (err) {
		twin_inbox_root(false);
		twin_knobs_root(false);
	}
	return err;
}

static void __exit twin_exit(void)
{
	/* Replays NETDEV_UNREGISTER for every device, which detaches. */
	unregister_netdevice_notifier(&twin_notifier);
	twin_inbox_root(false);
	twin_knobs_root(false);
}

module_init(twin_init);
module_exit(twin_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Railwright lab: the management interfaces of a RoCE NIC on a virtual one");
