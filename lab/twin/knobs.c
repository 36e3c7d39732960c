// SPDX-License-Identifier: GPL-2.0
/* What a test turns, in /sys/kernel/debug/nic_twin/<pci>; no NIC has these files. */
#include <linux/fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "twin.h"

/* DEFINE_SHOW_ATTRIBUTE with a writer; the kernel has one since 6.12 only. */
#define TWIN_KNOB(name)							\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return single_open(file, name##_show, inode->i_private);	\
}									\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = name##_open,						\
	.read = seq_read,						\
	.write = name##_write,						\
	.llseek = seq_lseek,						\
	.release = single_release,					\
}

static struct dentry *root;

static const char *const twin_owners[] = {
	[TWIN_HOST] = "host",
	[TWIN_FIRMWARE] = "firmware",
	[TWIN_LOCKED] = "locked",
};

static int twin_text(const char __user *buf, size_t count, char *text, size_t size)
{
	if (count >= size)
		return -EINVAL;
	if (copy_from_user(text, buf, count))
		return -EFAULT;
	text[count] = '\0';
	return 0;
}

static struct twin *twin_of(struct file *file)
{
	return ((struct seq_file *)file->private_data)->private;
}

static int personality_show(struct seq_file *file, void *unused)
{
	struct twin *twin = file->private;

	seq_printf(file, "%s\n", twin->personality == TWIN_OFED ? "ofed" : "inbox");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(personality);

static int pressure_show(struct seq_file *file, void *unused)
{
	struct twin *twin = file->private;
	int i;

	for (i = 0; i < TWIN_PRIOS; i++)
		seq_printf(file, "%d %u\n", i, READ_ONCE(twin->pressure[i].budget));
	return 0;
}

static ssize_t pressure_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct twin *twin = twin_of(file);
	unsigned int prio, budget;
	char text[32];
	int err = twin_text(buf, count, text, sizeof(text));

	if (err)
		return err;
	if (sscanf(text, "%u %u", &prio, &budget) != 2 || prio >= TWIN_PRIOS)
		return -EINVAL;
	spin_lock_bh(&twin->lock);
	twin->pressure[prio] = (struct twin_pressure) { .budget = budget, .since = jiffies };
	spin_unlock_bh(&twin->lock);
	return count;
}
TWIN_KNOB(pressure);

static int dcbx_show(struct seq_file *file, void *unused)
{
	struct twin *twin = file->private;

	seq_printf(file, "%s\n", twin_owners[twin->owner]);
	return 0;
}

static ssize_t dcbx_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct twin *twin = twin_of(file);
	char text[32];
	int err = twin_text(buf, count, text, sizeof(text));
	int owner;

	if (err)
		return err;
	owner = __sysfs_match_string(twin_owners, ARRAY_SIZE(twin_owners), text);
	if (owner < 0)
		return owner;
	if (!rtnl_trylock())
		return restart_syscall();
	twin->owner = owner;
	twin_firmware_kick(twin);
	rtnl_unlock();
	return count;
}
TWIN_KNOB(dcbx);

static int willing_show(struct seq_file *file, void *unused)
{
	struct twin *twin = file->private;

	seq_printf(file, "%d\n", twin->willing);
	return 0;
}

static ssize_t willing_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct twin *twin = twin_of(file);
	bool willing;
	int err = kstrtobool_from_user(buf, count, &willing);

	if (err)
		return err;
	if (!rtnl_trylock())
		return restart_syscall();
	twin->willing = willing;
	twin_firmware_kick(twin);
	rtnl_unlock();
	return count;
}
TWIN_KNOB(willing);

static int peer_pfc_show(struct seq_file *file, void *unused)
{
	struct twin *twin = file->private;

	seq_printf(file, "%#x\n", twin->peer_pfc);
	return 0;
}

static ssize_t peer_pfc_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct twin *twin = twin_of(file);
	u8 mask;
	int err = kstrtou8_from_user(buf, count, 0, &mask);

	if (err)
		return err;
	if (!rtnl_trylock())
		return restart_syscall();
	twin->peer_pfc = mask;
	twin_firmware_kick(twin);
	rtnl_unlock();
	return count;
}
TWIN_KNOB(peer_pfc);

/* The counter of a name, NULL where there is none. */
static u64 *twin_counter(struct twin *twin, const char *name)
{
	char room[ETH_GSTRING_LEN];
	int prio;
	int i;

	for (i = 0; i < TWIN_PORT_COUNTERS; i++)
		if (!strcmp(name, twin_port_names[i]))
			return &twin->port[i];
	for (i = 0; i < TWIN_HW_COUNTERS; i++)
		if (!strcmp(name, twin_hw_names[i]))
			return &twin->hw[i];
	for (prio = 0; prio < TWIN_PRIOS; prio++) {
		for (i = 0; i < TWIN_PRIO_COUNTERS; i++) {
			snprintf(room, sizeof(room), twin_prio_names[i], prio);
			if (!strcmp(name, room))
				return &twin->prio[prio][i];
		}
	}
	return NULL;
}

static int add_show(struct seq_file *file, void *unused)
{
	seq_puts(file, "write: NAME NUMBER\n");
	return 0;
}

static ssize_t add_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct twin *twin = twin_of(file);
	char name[ETH_GSTRING_LEN];
	char text[64];
	u64 *counter;
	u64 number;
	int err = twin_text(buf, count, text, sizeof(text));

	if (err)
		return err;
	if (sscanf(text, "%31s %llu", name, &number) != 2)
		return -EINVAL;
	counter = twin_counter(twin, name);
	if (!counter)
		return -ENOENT;
	spin_lock_bh(&twin->lock);
	*counter += number;
	spin_unlock_bh(&twin->lock);
	return count;
}
TWIN_KNOB(add);

static int hw_show(struct seq_file *file, void *unused)
{
	struct twin_item *item = file->private;
	u64 value;

	spin_lock_bh(&item->twin->lock);
	value = item->twin->hw[item->index];
	spin_unlock_bh(&item->twin->lock);
	seq_printf(file, "%llu\n", value);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hw);

void twin_knobs_root(bool create)
{
	if (create)
		root = debugfs_create_dir("nic_twin", NULL);
	else
		debugfs_remove_recursive(root);
}

void twin_knobs_start(struct twin *twin)
{
	struct dentry *directory;
	int i;

	twin->knobs = debugfs_create_dir(twin->pci, root);
	debugfs_create_file("personality", 0400, twin->knobs, twin, &personality_fops);
	debugfs_create_file("pressure", 0600, twin->knobs, twin, &pressure_fops);
	debugfs_create_file("dcbx", 0600, twin->knobs, twin, &dcbx_fops);
	debugfs_create_file("willing", 0600, twin->knobs, twin, &willing_fops);
	debugfs_create_file("peer_pfc", 0600, twin->knobs, twin, &peer_pfc_fops);
	debugfs_create_file("add", 0600, twin->knobs, twin, &add_fops);
	directory = debugfs_create_dir("hw_counters", twin->knobs);
	for (i = 0; i < TWIN_HW_COUNTERS; i++) {
		twin->hw_items[i] = (struct twin_item) { twin, i };
		debugfs_create_file(twin_hw_names[i], 0444, directory, &twin->hw_items[i], &hw_fops);
	}
}

void twin_knobs_stop(struct twin *twin)
{
	debugfs_remove_recursive(twin->knobs);
}
