"""The token bucket's arithmetic, with a clock made by hand."""

from __future__ import annotations

import pytest

from lab.leaf.shaper import TokenBucket


def test_a_burst_passes_at_once() -> None:
    bucket = TokenBucket(rate=8_000_000, burst=10_000, now=0.0)
    for _ in range(10):
        assert bucket.wait(0.0) == 0.0
        bucket.charge(1000)
    assert bucket.wait(0.0) > 0


def test_debt_is_paid_at_the_rate() -> None:
    bucket = TokenBucket(rate=8_000_000, burst=1000, now=0.0)  # 1 byte per microsecond
    bucket.charge(5000)
    assert bucket.wait(0.0) == pytest.approx(0.004001)
    assert bucket.wait(0.003) == pytest.approx(0.001001)
    assert bucket.wait(0.004002) == 0.0


def test_idle_time_saves_no_more_than_the_burst() -> None:
    bucket = TokenBucket(rate=8_000_000, burst=1000, now=0.0)
    assert bucket.wait(100.0) == 0.0
    bucket.charge(1001)
    assert bucket.wait(100.0) > 0


def test_the_mean_rate_is_exact() -> None:
    bucket = TokenBucket(rate=20_000_000, burst=32_768, now=0.0)
    now, sent = 0.0, 0
    while now < 10.0:
        now += bucket.wait(now)
        bucket.charge(4214)
        sent += 4214
    assert (sent - 32_768) * 8 / now == pytest.approx(20_000_000, rel=0.001)


def test_rate_zero_is_unlimited() -> None:
    bucket = TokenBucket(rate=0, burst=1000, now=0.0)
    bucket.charge(1_000_000)
    assert bucket.wait(0.0) == 0.0
