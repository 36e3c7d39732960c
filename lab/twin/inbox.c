// SPDX-License-Identifier: GPL-2.0
/* Congestion control parameters, and the files that the kernel's own driver has for them in debugfs. */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "twin.h"

#define MASK_FLAG 0x1
#define MASK_PRIO 0x7
#define MASK_DSCP 0x3f
#define MASK_WORD 0xffffffff

/* Initial values are those of the firmware's non-volatile defaults, by `mlxconfig query`. */
const struct twin_cc_param twin_cc_params[TWIN_CCS] = {
	[TWIN_RP_CLAMP_TGT_RATE] = { "rp_clamp_tgt_rate", "clamp_tgt_rate", 0, MASK_FLAG },
	[TWIN_RP_CLAMP_TGT_RATE_ATI] = { "rp_clamp_tgt_rate_ati", "clamp_tgt_rate_after_time_inc", 1, MASK_FLAG },
	[TWIN_RP_TIME_RESET] = { "rp_time_reset", "rpg_time_reset", 300, MASK_WORD },
	[TWIN_RP_BYTE_RESET] = { "rp_byte_reset", "rpg_byte_reset", 32767, MASK_WORD },
	[TWIN_RP_THRESHOLD] = { "rp_threshold", "rpg_threshold", 1, MASK_WORD },
	[TWIN_RP_AI_RATE] = { "rp_ai_rate", "rpg_ai_rate", 5, MASK_WORD },
	[TWIN_RP_MAX_RATE] = { "rp_max_rate", "rpg_max_rate", 0, MASK_WORD },
	[TWIN_RP_HAI_RATE] = { "rp_hai_rate", "rpg_hai_rate", 50, MASK_WORD },
	[TWIN_RP_MIN_DEC_FAC] = { "rp_min_dec_fac", "rpg_min_dec_fac", 50, MASK_WORD },
	[TWIN_RP_MIN_RATE] = { "rp_min_rate", "rpg_min_rate", 1, MASK_WORD },
	[TWIN_RP_RATE_ON_FIRST_CNP] = { "rp_rate_to_set_on_first_cnp", "rate_to_set_on_first_cnp", 0, MASK_WORD },
	[TWIN_RP_DCE_TCP_G] = { "rp_dce_tcp_g", "dce_tcp_g", 1019, MASK_WORD },
	[TWIN_RP_DCE_TCP_RTT] = { "rp_dce_tcp_rtt", "dce_tcp_rtt", 1, MASK_WORD },
	[TWIN_RP_RATE_REDUCE_PERIOD] = { "rp_rate_reduce_monitor_period", "rate_reduce_monitor_period", 4, MASK_WORD },
	[TWIN_RP_INITIAL_ALPHA] = { "rp_initial_alpha_value", "initial_alpha_value", 1023, MASK_WORD },
	[TWIN_RP_GD] = { "rp_gd", "rpg_gd", 11, MASK_WORD },
	[TWIN_NP_MIN_TIME_BETWEEN_CNPS] = { "np_min_time_between_cnps", "min_time_between_cnps", 4, MASK_WORD },
	[TWIN_NP_CNP_DSCP] = { "np_cnp_dscp", "cnp_dscp", 48, MASK_DSCP },
	[TWIN_NP_CNP_PRIO_MODE] = { "np_cnp_prio_mode", NULL, 0, MASK_FLAG },
	[TWIN_NP_CNP_PRIO] = { "np_cnp_prio", "cnp_802p_prio", 6, MASK_PRIO },
	[TWIN_RTT_RESP_DSCP_VALID] = { "rtt_resp_dscp_valid", NULL, 0, MASK_FLAG },
	[TWIN_RTT_RESP_DSCP] = { "rtt_resp_dscp", NULL, 0, MASK_DSCP },
};

static struct dentry *root;

u32 twin_get_cc(struct twin *twin, enum twin_cc index)
{
	return READ_ONCE(twin->cc[index]);
}

void twin_set_cc(struct twin *twin, enum twin_cc index, u32 value)
{
	spin_lock_bh(&twin->lock);
	/* The field of the firmware's command is no wider, and nobody checks. */
	twin->cc[index] = value & twin_cc_params[index].mask;
	/* Setting the one implies the other. */
	if (index == TWIN_NP_CNP_PRIO)
		twin->cc[TWIN_NP_CNP_PRIO_MODE] = 0;
	if (index == TWIN_RTT_RESP_DSCP)
		twin->cc[TWIN_RTT_RESP_DSCP_VALID] = 1;
	spin_unlock_bh(&twin->lock);
}

static ssize_t twin_cc_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct twin_item *item = file->private_data;
	char text[12];
	int length = scnprintf(text, sizeof(text), "%u\n", twin_get_cc(item->twin, item->index));

	return simple_read_from_buffer(buf, count, pos, text, length);
}

static ssize_t twin_cc_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct twin_item *item = file->private_data;
	u32 value;
	int err = kstrtou32_from_user(buf, count, 0, &value);

	if (err)
		return err;
	twin_set_cc(item->twin, item->index, value);
	return count;
}

static const struct file_operations twin_cc_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = twin_cc_read,
	.write = twin_cc_write,
};

void twin_inbox_root(bool create)
{
	if (create)
		root = debugfs_create_dir("mlx5", NULL);
	else
		debugfs_remove_recursive(root);
}

void twin_inbox_start(struct twin *twin)
{
	struct dentry *directory;
	int i;

	for (i = 0; i < TWIN_CCS; i++)
		twin->cc[i] = twin_cc_params[i].initial;
	/* Which priorities take part is a setting of the firmware here: all of them. */
	twin->ecn_np = 0xff;
	twin->ecn_rp = 0xff;
	if (twin->personality != TWIN_INBOX)
		return;
	twin->inbox = debugfs_create_dir(twin->pci, root);
	directory = debugfs_create_dir("cc_params", twin->inbox);
	for (i = 0; i < TWIN_CCS; i++) {
		twin->cc_items[i] = (struct twin_item) { twin, i };
		debugfs_create_file(twin_cc_params[i].inbox, 0600, directory, &twin->cc_items[i], &twin_cc_fops);
	}
}

void twin_inbox_stop(struct twin *twin)
{
	debugfs_remove_recursive(twin->inbox);
}
