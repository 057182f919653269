"""What happens when a signal ends a command: its temporary files are removed."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time

from pueval._writing import remove_unfinished_files
from pueval.errors import INTERRUPT_EXIT_CODE

# Seconds after Ctrl-C in which Python can stop the command itself. Inside a query, it may not.
GRACE_SECONDS = 3.0


def end_on_signals() -> None:
    """On SIGTERM, end the process at once; on Ctrl-C, soon. Remove temporary files before.

    A thread does it: a handler of Python would wait until a query ends, which can take hours.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        return
    reader, writer = socket.socketpair()
    writer.settimeout(0)  # the handler must never wait
    # The C handler writes the number of the signal to the socket at once.
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, lambda *_: None)

    def watch() -> None:
        with reader, writer:
            while True:
                received = reader.recv(1)[0]
                if received == signal.SIGTERM:
                    _end(128 + signal.SIGTERM)
                if received == signal.SIGINT:
                    time.sleep(GRACE_SECONDS)
                    os.write(2, b"pueval: interrupted.\n")
                    _end(INTERRUPT_EXIT_CODE)

    threading.Thread(target=watch, daemon=True).start()


def _end(exit_code: int) -> None:
    remove_unfinished_files()
    os._exit(exit_code)
