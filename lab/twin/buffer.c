// SPDX-License-Identifier: GPL-2.0
/* Receive buffers: their sizes, which priority uses which, and what a lossless one needs. */
#include "twin.h"

#define TWIN_BUFFER_TOTAL 262016
/* What may still arrive after a pause frame was sent: of the port and of each metre of cable, in bytes. */
#define TWIN_HEADROOM 20000
#define TWIN_HEADROOM_PER_METRE 100

static void twin_share_buffer(u32 *size, u8 *prio2buffer, u8 lossless)
{
	int i;

	memset(size, 0, DCBX_MAX_BUFFERS * sizeof(*size));
	size[0] = lossless ? TWIN_BUFFER_TOTAL / 2 : TWIN_BUFFER_TOTAL;
	size[1] = TWIN_BUFFER_TOTAL - size[0];
	for (i = 0; i < TWIN_PRIOS; i++)
		prio2buffer[i] = lossless & BIT(i) ? 1 : 0;
}

void twin_buffer_init(struct twin *twin)
{
	twin->buffer.total_size = TWIN_BUFFER_TOTAL;
	twin_share_buffer(twin->buffer.buffer_size, twin->buffer.prio2buffer, 0);
}

/* The firmware sizes the buffers as long as nobody has done so by hand. */
void twin_buffer_follow_pfc(struct twin *twin)
{
	if (!twin->manual_buffer)
		twin_share_buffer(twin->buffer.buffer_size, twin->buffer.prio2buffer, twin->pfc_en);
}

static u32 twin_need(const struct twin *twin)
{
	return TWIN_HEADROOM + TWIN_HEADROOM_PER_METRE * twin->cable_len + twin->dev->mtu;
}

static bool twin_lossless(const struct twin *twin, const u8 *prio2buffer, int buffer)
{
	int i;

	for (i = 0; i < TWIN_PRIOS; i++)
		if (prio2buffer[i] == buffer && (twin->pfc_en & BIT(i)))
			return true;
	return false;
}

static int twin_check(const struct twin *twin, const u32 *size, const u8 *prio2buffer)
{
	int i;

	for (i = 0; i < DCBX_MAX_BUFFERS; i++)
		if (twin_lossless(twin, prio2buffer, i) && size[i] < twin_need(twin))
			return -ENOMEM;
	return 0;
}

int twin_check_buffer(const struct twin *twin)
{
	return twin_check(twin, twin->buffer.buffer_size, twin->buffer.prio2buffer);
}

u32 twin_buffer_xoff(const struct twin *twin, int buffer)
{
	u32 size = twin->buffer.buffer_size[buffer];

	if (!twin_lossless(twin, twin->buffer.prio2buffer, buffer))
		return 0;
	return size > twin_need(twin) ? size - twin_need(twin) : 0;
}

int twin_set_buffer(struct twin *twin, const u32 *size, const u8 *prio2buffer)
{
	u64 total = 0;
	int err;
	int i;

	for (i = 0; i < DCBX_MAX_BUFFERS; i++)
		total += size[i];
	if (total > TWIN_BUFFER_TOTAL)
		return -EINVAL;
	for (i = 0; i < TWIN_PRIOS; i++)
		if (prio2buffer[i] >= DCBX_MAX_BUFFERS)
			return -EINVAL;
	err = twin_check(twin, size, prio2buffer);
	if (err)
		return err;
	if (!memcmp(size, twin->buffer.buffer_size, sizeof(twin->buffer.buffer_size)) &&
	    !memcmp(prio2buffer, twin->buffer.prio2buffer, sizeof(twin->buffer.prio2buffer)))
		return 0;
	memcpy(twin->buffer.buffer_size, size, sizeof(twin->buffer.buffer_size));
	memcpy(twin->buffer.prio2buffer, prio2buffer, sizeof(twin->buffer.prio2buffer));
	twin->manual_buffer = true;
	return 0;
}
