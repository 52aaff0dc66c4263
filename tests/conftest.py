"""What holds for every test, however the tests were started."""

from __future__ import annotations

import signal

# A shell without job control starts what stands before an "&" with Ctrl-C ignored, `nohup` with the
# hang-up, and askew keeps to both. The tests that send these signals mean a run in a terminal.
for name, usual in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    number = getattr(signal, name, None)  # Windows has no hang-up
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)
