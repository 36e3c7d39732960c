// SPDX-License-Identifier: GPL-2.0
/* The files that the OFED driver has below a net device: a second view of the same settings. */
#include <linux/ctype.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "twin.h"

#define TWIN_STALL_MS_DEFAULT 8000
#define TWIN_STALL_MS_AUTO 100
#define TWIN_OFED_FILES (6 + TWIN_CCS + 2 * TWIN_PRIOS)

enum { DIR_QOS, DIR_SETTINGS, DIR_ECN, DIR_NP, DIR_NP_ENABLE, DIR_RP, DIR_RP_ENABLE, DIRS };

struct twin_file {
	struct kobj_attribute attr;
	struct twin *twin;
	int index;
};

struct twin_ofed {
	struct kobject *dirs[DIRS];
	struct twin_file files[TWIN_OFED_FILES];
	int count;
};

static const char *const twin_digits[TWIN_PRIOS] = { "0", "1", "2", "3", "4", "5", "6", "7" };

static struct twin_file *twin_file(struct kobj_attribute *attr)
{
	return container_of(attr, struct twin_file, attr);
}

/* Removal waits for those who write, with the lock held that they want. */
static int twin_lock(void)
{
	return rtnl_trylock() ? 0 : restart_syscall();
}

/* Exactly eight numbers with something else between them. */
static int twin_eight(const char *text, u64 *numbers)
{
	int i;

	for (i = 0; i < TWIN_PRIOS; i++) {
		while (*text && !isdigit(*text))
			text++;
		if (sscanf(text, "%llu", &numbers[i]) != 1)
			return -EINVAL;
		while (isdigit(*text) || *text == '.')
			text++;
	}
	while (*text && !isdigit(*text))
		text++;
	return *text ? -EINVAL : 0;
}

static ssize_t trust_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", twin_file(attr)->twin->trust == TWIN_TRUST_DSCP ? "dscp" : "pcp");
}

static ssize_t trust_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	struct twin *twin = twin_file(attr)->twin;
	enum twin_trust trust;
	int err;

	if (sysfs_streq(buf, "dscp"))
		trust = TWIN_TRUST_DSCP;
	else if (sysfs_streq(buf, "pcp"))
		trust = TWIN_TRUST_PCP;
	else
		return -EINVAL;
	err = twin_lock();
	if (err)
		return err;
	if (trust != twin->trust)
		twin_set_trust(twin, trust);
	rtnl_unlock();
	return count;
}

static ssize_t dscp2prio_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct twin *twin = twin_file(attr)->twin;
	int length = sysfs_emit(buf, "dscp\tprio\n");
	int i;

	for (i = 0; i < TWIN_DSCPS; i++)
		length += sysfs_emit_at(buf, length, "%d\t%d\n", i, twin->dscp2prio[i]);
	return length;
}

static ssize_t dscp2prio_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	unsigned int dscp, prio;
	int err;

	if (sscanf(buf, "%u %u", &dscp, &prio) != 2 || dscp >= TWIN_DSCPS || prio >= TWIN_PRIOS)
		return -EINVAL;
	err = twin_lock();
	if (err)
		return err;
	err = twin_set_dscp(twin_file(attr)->twin, dscp, prio);
	rtnl_unlock();
	return err ?: count;
}

static ssize_t maxrate_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct twin *twin = twin_file(attr)->twin;
	int length = 0;
	int i;

	for (i = 0; i < TWIN_PRIOS; i++)
		length += sysfs_emit_at(buf, length, "%llu ", twin->maxrate.tc_maxrate[i]);
	return length + sysfs_emit_at(buf, length, "\n");
}

static ssize_t maxrate_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	u64 kbps[TWIN_PRIOS];
	int err = twin_eight(buf, kbps);

	err = err ?: twin_lock();
	if (err)
		return err;
	twin_set_maxrate(twin_file(attr)->twin, kbps);
	rtnl_unlock();
	return count;
}

static ssize_t buffer_size_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct twin *twin = twin_file(attr)->twin;
	u32 spare = twin->buffer.total_size;
	int length = 0;
	u32 xoff;
	int i;

	for (i = 0; i < DCBX_MAX_BUFFERS; i++)
		spare -= twin->buffer.buffer_size[i];
	length += sysfs_emit_at(buf, length, "Port buffer size = %d\n", twin->buffer.total_size);
	length += sysfs_emit_at(buf, length, "Spare buffer size = %d\n", spare);
	length += sysfs_emit_at(buf, length, "Buffer\tSize\txoff_threshold\txon_threshold\n");
	for (i = 0; i < DCBX_MAX_BUFFERS; i++) {
		xoff = twin_buffer_xoff(twin, i);
		length += sysfs_emit_at(buf, length, "%d\t%d\t%d\t\t%d\n", i, twin->buffer.buffer_size[i], xoff,
					xoff > twin->dev->mtu ? xoff - twin->dev->mtu : 0);
	}
	return length;
}

static ssize_t buffer_size_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	struct twin *twin = twin_file(attr)->twin;
	u32 size[DCBX_MAX_BUFFERS];
	u64 numbers[TWIN_PRIOS];
	int err = twin_eight(buf, numbers);
	int i;

	err = err ?: twin_lock();
	if (err)
		return err;
	for (i = 0; i < DCBX_MAX_BUFFERS; i++)
		size[i] = min_t(u64, numbers[i], U32_MAX);
	err = twin_set_buffer(twin, size, twin->buffer.prio2buffer);
	rtnl_unlock();
	return err ?: count;
}

static ssize_t prio2buffer_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct twin *twin = twin_file(attr)->twin;
	int length = sysfs_emit(buf, "Priority\tBuffer\n");
	int i;

	for (i = 0; i < TWIN_PRIOS; i++)
		length += sysfs_emit_at(buf, length, "%d\t\t%d\n", i, twin->buffer.prio2buffer[i]);
	return length;
}

static ssize_t prio2buffer_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	struct twin *twin = twin_file(attr)->twin;
	u64 numbers[TWIN_PRIOS];
	u8 prio2buffer[TWIN_PRIOS];
	int err = twin_eight(buf, numbers);
	int i;

	for (i = 0; i < TWIN_PRIOS && !err; i++)
		err = numbers[i] < DCBX_MAX_BUFFERS ? 0 : -EINVAL;
	err = err ?: twin_lock();
	if (err)
		return err;
	for (i = 0; i < TWIN_PRIOS; i++)
		prio2buffer[i] = numbers[i];
	err = twin_set_buffer(twin, twin->buffer.buffer_size, prio2buffer);
	rtnl_unlock();
	return err ?: count;
}

static ssize_t stall_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", twin_file(attr)->twin->stall_ms == TWIN_STALL_MS_DEFAULT ? "default" : "auto");
}

static ssize_t stall_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	u16 value;
	int err;

	if (sysfs_streq(buf, "default"))
		value = TWIN_STALL_MS_DEFAULT;
	else if (sysfs_streq(buf, "auto"))
		value = TWIN_STALL_MS_AUTO;
	else
		return -EINVAL;
	err = twin_lock();
	if (err)
		return err;
	twin_file(attr)->twin->stall_ms = value;
	rtnl_unlock();
	return count;
}

static ssize_t cc_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", twin_get_cc(twin_file(attr)->twin, twin_file(attr)->index));
}

static ssize_t cc_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	u32 value;
	int err = kstrtou32(buf, 0, &value);

	if (err)
		return err;
	twin_set_cc(twin_file(attr)->twin, twin_file(attr)->index, value);
	return count;
}

static u8 *twin_enabled(struct twin *twin, struct kobject *kobj)
{
	return kobj == twin->ofed->dirs[DIR_NP_ENABLE] ? &twin->ecn_np : &twin->ecn_rp;
}

static ssize_t enable_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct twin_file *file = twin_file(attr);

	return sysfs_emit(buf, "%d\n", !!(*twin_enabled(file->twin, kobj) & BIT(file->index)));
}

static ssize_t enable_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	struct twin_file *file = twin_file(attr);
	u8 *enabled = twin_enabled(file->twin, kobj);
	u8 value;
	int err = kstrtou8(buf, 0, &value);

	if (err || value > 1)
		return -EINVAL;
	spin_lock_bh(&file->twin->lock);
	*enabled = value ? *enabled | BIT(file->index) : *enabled & ~BIT(file->index);
	spin_unlock_bh(&file->twin->lock);
	return count;
}

static int twin_add(struct twin *twin, int dir, const char *name, int index,
		    ssize_t (*show)(struct kobject *, struct kobj_attribute *, char *),
		    ssize_t (*store)(struct kobject *, struct kobj_attribute *, const char *, size_t))
{
	struct twin_file *file;

	if (!twin->ofed->dirs[dir])
		return -ENOMEM;
	if (WARN_ON(twin->ofed->count == TWIN_OFED_FILES))
		return -ENOSPC;
	file = &twin->ofed->files[twin->ofed->count++];
	file->twin = twin;
	file->index = index;
	sysfs_attr_init(&file->attr.attr);
	file->attr.attr.name = name;
	file->attr.attr.mode = 0644;
	file->attr.show = show;
	file->attr.store = store;
	return sysfs_create_file(twin->ofed->dirs[dir], &file->attr.attr);
}

static int twin_add_all(struct twin *twin)
{
	int err = twin_add(twin, DIR_QOS, "trust", 0, trust_show, trust_store);
	int i;

	err = err ?: twin_add(twin, DIR_QOS, "dscp2prio", 0, dscp2prio_show, dscp2prio_store);
	err = err ?: twin_add(twin, DIR_QOS, "maxrate", 0, maxrate_show, maxrate_store);
	err = err ?: twin_add(twin, DIR_QOS, "buffer_size", 0, buffer_size_show, buffer_size_store);
	err = err ?: twin_add(twin, DIR_QOS, "prio2buffer", 0, prio2buffer_show, prio2buffer_store);
	err = err ?: twin_add(twin, DIR_SETTINGS, "pfc_stall_prevention", 0, stall_show, stall_store);
	for (i = 0; i < TWIN_PRIOS; i++) {
		err = err ?: twin_add(twin, DIR_NP_ENABLE, twin_digits[i], i, enable_show, enable_store);
		err = err ?: twin_add(twin, DIR_RP_ENABLE, twin_digits[i], i, enable_show, enable_store);
	}
	for (i = 0; i < TWIN_CCS; i++)
		if (twin_cc_params[i].ofed)
			err = err ?: twin_add(twin, i < TWIN_NP_MIN_TIME_BETWEEN_CNPS ? DIR_RP : DIR_NP,
					      twin_cc_params[i].ofed, i, cc_show, cc_store);
	return err;
}

int twin_ofed_start(struct twin *twin)
{
	struct kobject *net = &twin->dev->dev.kobj;
	struct kobject **dirs;

	if (twin->personality != TWIN_OFED)
		return 0;
	twin->ofed = kzalloc(sizeof(*twin->ofed), GFP_KERNEL);
	if (!twin->ofed)
		return -ENOMEM;
	dirs = twin->ofed->dirs;
	dirs[DIR_QOS] = kobject_create_and_add("qos", net);
	dirs[DIR_SETTINGS] = kobject_create_and_add("settings", net);
	dirs[DIR_ECN] = kobject_create_and_add("ecn", net);
	if (dirs[DIR_ECN]) {
		dirs[DIR_NP] = kobject_create_and_add("roce_np", dirs[DIR_ECN]);
		dirs[DIR_RP] = kobject_create_and_add("roce_rp", dirs[DIR_ECN]);
	}
	if (dirs[DIR_NP])
		dirs[DIR_NP_ENABLE] = kobject_create_and_add("enable", dirs[DIR_NP]);
	if (dirs[DIR_RP])
		dirs[DIR_RP_ENABLE] = kobject_create_and_add("enable", dirs[DIR_RP]);
	return twin_add_all(twin);
}

void twin_ofed_stop(struct twin *twin)
{
	int i;

	if (!twin->ofed)
		return;
	/* The deepest first. */
	for (i = DIRS - 1; i >= 0; i--) {
		if (!twin->ofed->dirs[i])
			continue;
		kobject_del(twin->ofed->dirs[i]);
		kobject_put(twin->ofed->dirs[i]);
	}
	kfree(twin->ofed);
	twin->ofed = NULL;
}
