"""Runs a server for as long as somebody holds the other end of its standard input.

``python keeper.py FOLDER COMMAND ...`` runs the command; when standard input ends, because
its parent closed it or was killed, it stops the command and removes the folder. So no
server outlives the test run that started it.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading

STOP_SECONDS = 60


def main() -> int:
    folder, *command = sys.argv[1:]
    for interrupt in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Only the end of the input ends it. A handler, because the server would inherit that
        # a signal is ignored.
        signal.signal(interrupt, lambda *_: None)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    threading.Thread(target=_end_with_input, args=(process,), daemon=True).start()
    code = process.wait()
    shutil.rmtree(folder, ignore_errors=True)
    return code


def _end_with_input(process: subprocess.Popen[bytes]) -> None:
    sys.stdin.buffer.read()
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


if __name__ == "__main__":
    sys.exit(main())
