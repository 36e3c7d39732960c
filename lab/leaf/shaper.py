"""A token bucket, with the clock passed in so that its arithmetic can be tested."""

from __future__ import annotations


class TokenBucket:
    """Lets a frame through as soon as the bucket is not in debt, and charges it afterwards.

    ``rate`` is in bits per second (0: unlimited), ``burst`` in bytes; times are in seconds on any
    monotonic clock. Debt makes frames larger than the burst possible and keeps the mean rate exact.
    """

    def __init__(self, rate: int, burst: int, now: float) -> None:
        self.rate = rate
        self.burst = burst
        self._level = float(burst)
        self._last = now

    def wait(self, now: float) -> float:
        """Seconds until the next frame may pass, 0 when it may pass now."""
        self._refill(now)
        if self.rate == 0 or self._level > 0:
            return 0.0
        # One more byte than the debt: at exactly zero the bucket is not yet open.
        return (1 - self._level) * 8 / self.rate

    def charge(self, size: int) -> None:
        """Account for a frame of ``size`` bytes that passes."""
        if self.rate:
            self._level -= size

    def _refill(self, now: float) -> None:
        self._level = min(float(self.burst), self._level + (now - self._last) * self.rate / 8)
        self._last = now
