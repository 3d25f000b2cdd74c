"""Logical time: how long this daemon, all its lives added up, has been running.

`for`, cooldowns and deadlines use only logical time, so neither a jump of the wall clock nor the
time the daemon was down ever counts. It is a `timedelta` since the first start: the difference of
two logical times is an ordinary duration.
"""

from datetime import timedelta
from typing import TypeAlias

LogicalTime: TypeAlias = timedelta

ZERO = timedelta(0)
