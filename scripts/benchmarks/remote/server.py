"""Servers of this machine: processes, their ports, and BuildGrid with a PostgreSQL of its own and a worker, for as long as a measurement takes."""

import glob
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

PACKAGES = ["buildgrid[database]==0.4.4", "psycopg2-binary", "psycopg[binary]"]
CONFIGURATION = """\
server:
  - !channel
    address: 127.0.0.1:{port}
    insecure-mode: true
{authorization}
connections:
  - !sql-connection &sql
    # psycopg2: the notifier of the scheduler needs it.
    connection-string: postgresql+psycopg2://bench@127.0.0.1:{database}/bench
    pool-size: 40
    max-overflow: 40
storages:
  - !disk-storage &storage
    path: {place}/storage
caches:
  - !lru-action-cache &cache
    storage: *storage
    max-cached-refs: 100000
    allow-updates: true
    cache-failed-actions: true
schedulers:
  - !sql-scheduler &scheduler
    sql: *sql
    storage: *storage
    action-cache: *cache
    bot-session-keepalive-timeout: 10
    session-expiry-timer-interval: 2
    poll-interval: 0.2
    bot-poll-interval: 0.1
    assigners:
      - !priority-age-assigner
        count: 1
        interval: 0.05
        jitter-factor: 0
instances:
  - name: ''
    services:
      - !action-cache
        cache: *cache
      - !execution
        scheduler: *scheduler
      - !cas
        storage: *storage
      - !bytestream
        storage: *storage
# An action that runs occupies a thread.
thread-pool-size: 100
"""


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(port, process, what):
    for _ in range(600):
        with socket.socket() as there:
            if there.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(f"{what} does not listen")


@contextmanager
def running(command, log, **more):
    """A process that is ended afterwards."""
    with open(log, "ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, **more)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def database(place):
    """A database in a directory; its port. PostgreSQL refuses to run as root, so then another user runs it."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not programs:
        sys.exit("PostgreSQL is not there; install the package postgresql")
    user = "postgres" if os.geteuid() == 0 else None
    data, port = place / "data", free_port()
    data.mkdir(mode=0o700)
    if user:
        shutil.chown(data, user)
    run = lambda *command: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=user, cwd="/")
    run(f"{programs[-1]}/initdb", "-D", data, "-A", "trust", "-U", "bench", "--no-sync")
    options = f"-h 127.0.0.1 -p {port} -k '' -c fsync=off -c max_connections=200"
    run(f"{programs[-1]}/pg_ctl", "-D", data, "-w", "-l", data / "log", "-o", options, "start")
    try:
        run(f"{programs[-1]}/createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "bench", "bench")
        yield port
    finally:
        run(f"{programs[-1]}/pg_ctl", "-D", data, "-m", "immediate", "stop")


@contextmanager
def buildgrid(place, venv, n_jobs=2, authorization=""):
    """A server with a worker that takes `n_jobs` actions at once; its address."""
    place = Path(place)
    # The user of the database must get through to its directory.
    for above in [place, place.parent]:
        above.chmod(above.stat().st_mode | 0o111)
    if not (venv / "bin" / "bgd").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "pip", "-q", "install", *PACKAGES], check=True)
    with ExitStack() as stack:
        base, port = stack.enter_context(database(place)), free_port()
        file = place / "server.yml"
        file.write_text(CONFIGURATION.format(port=port, database=base, place=place, authorization=authorization), encoding="utf-8")
        subprocess.run([venv / "bin" / "bgd", "migrate", "apply", f"postgresql://bench@127.0.0.1:{base}/bench"], check=True, capture_output=True)
        server = stack.enter_context(running([venv / "bin" / "bgd", "server", "start", file], place / "log"))
        wait_for(port, server, "BuildGrid")
        worker = Path(__file__).with_name("worker.py")
        stack.enter_context(running([venv / "bin" / "python", worker, f"127.0.0.1:{port}", "--jobs", str(n_jobs)], place / "worker.log"))
        yield f"grpc://127.0.0.1:{port}"
