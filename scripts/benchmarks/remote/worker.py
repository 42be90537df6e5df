"""A worker for the server BuildGrid: a test double for measurements, and not a worker for production.

It runs actions as plain processes of this machine, without a sandbox: an action can read and change everything that its user
can, and a process that leaves its process group survives its action. Blobs stay in memory and are never evicted. Output files
are not supported; the probes of git idd have none. It needs the Python of a virtual environment with the package buildgrid.
"""

import argparse
import hashlib
import os
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from pathlib import Path

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as api
from buildgrid._protos.build.bazel.remote.execution.v2.remote_execution_pb2_grpc import ContentAddressableStorageStub
from buildgrid._protos.google.bytestream import bytestream_pb2 as stream
from buildgrid._protos.google.bytestream.bytestream_pb2_grpc import ByteStreamStub
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2 as bots
from buildgrid._protos.google.devtools.remoteworkers.v1test2.bots_pb2_grpc import BotsStub
from buildgrid._protos.google.rpc import code_pb2 as codes

# A call that waits for a lease returns after most of this time; one that reports a running action returns at once.
WAIT_SECONDS, REPORT_SECONDS = 20, 0.2
# An output of more bytes is a blob. The bytes of blobs that are read in one call, of the 4 MiB that a message may have.
INLINE_BYTES, BATCH_BYTES, CHUNK_BYTES = 64 << 10, 3 << 20, 1 << 20


class Store:
    """The content-addressable storage of the server, and the blobs that were read from it."""

    def __init__(self, channel):
        self.storage, self.stream = ContentAddressableStorageStub(channel), ByteStreamStub(channel)
        self.known = {hashlib.sha256(b"").hexdigest(): b""}

    def fetch(self, digests):
        """Reads the blobs that are not known yet."""
        missing = {digest.hash: digest for digest in digests if digest.hash not in self.known}
        batch, n_bytes = [], 0
        for digest in missing.values():
            if digest.size_bytes > BATCH_BYTES:
                request = stream.ReadRequest(resource_name=f"blobs/{digest.hash}/{digest.size_bytes}")
                self.known[digest.hash] = b"".join(part.data for part in self.stream.Read(request))
                continue
            if n_bytes + digest.size_bytes > BATCH_BYTES:
                self.fetch_batch(batch)
                batch, n_bytes = [], 0
            batch.append(digest)
            n_bytes += digest.size_bytes
        self.fetch_batch(batch)

    def fetch_batch(self, digests):
        if not digests:
            return
        for answer in self.storage.BatchReadBlobs(api.BatchReadBlobsRequest(digests=digests)).responses:
            if answer.status.code != codes.OK:
                raise FileNotFoundError(f"blob {answer.digest.hash} is missing: {answer.status.message}")
            self.known[answer.digest.hash] = answer.data

    def read(self, digest, kind):
        self.fetch([digest])
        return kind.FromString(self.known[digest.hash])

    def stage(self, digest, place):
        """Writes a directory and all below it."""
        directory = self.read(digest, api.Directory)
        self.fetch([node.digest for node in [*directory.files, *directory.directories]])
        os.makedirs(place, exist_ok=True)
        for node in directory.files:
            path = os.path.join(place, node.name)
            with open(path, "wb") as file:
                file.write(self.known[node.digest.hash])
            os.chmod(path, 0o755 if node.is_executable else 0o644)
            # All the same, as the protocol has no times: to `make`, no file is newer than another.
            os.utime(path, (1_600_000_000, 1_600_000_000))
        for node in directory.symlinks:
            os.symlink(node.target, os.path.join(place, node.name))
        for node in directory.directories:
            self.stage(node.digest, os.path.join(place, node.name))

    def send(self, content):
        """Sends a blob; its digest."""
        digest = api.Digest(hash=hashlib.sha256(content).hexdigest(), size_bytes=len(content))
        name = f"uploads/{uuid.uuid4()}/blobs/{digest.hash}/{digest.size_bytes}"
        starts = range(0, len(content), CHUNK_BYTES)
        self.stream.Write(
            stream.WriteRequest(
                resource_name=name, write_offset=at, data=content[at : at + CHUNK_BYTES], finish_write=at == starts[-1])
            for at in starts)
        return digest


class Run(threading.Thread):
    """One action; `lease` is completed when the thread ends."""

    def __init__(self, store, lease, name):
        super().__init__(daemon=True)
        self.store, self.lease, self.name_of_worker = store, lease, name
        self.is_cancelled, self.ended = threading.Event(), threading.Event()

    def run(self):
        result = api.ActionResult()
        result.execution_metadata.worker = self.name_of_worker
        result.execution_metadata.worker_start_timestamp.GetCurrentTime()
        code, message = codes.OK, ""
        try:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
                code = self.execute(Path(scratch), result)
        except FileNotFoundError as error:
            code, message = codes.FAILED_PRECONDITION, str(error)
        except (grpc.RpcError, OSError) as error:
            code, message = codes.INTERNAL, str(error)
        except NotImplementedError as error:
            code, message = codes.UNIMPLEMENTED, str(error)
        result.execution_metadata.worker_completed_timestamp.GetCurrentTime()
        self.lease.result.Pack(result)
        self.lease.status.code, self.lease.status.message = code, message
        self.lease.state = bots.COMPLETED
        self.ended.set()

    def action(self):
        if self.lease.payload.Is(api.Action.DESCRIPTOR):
            action = api.Action()
            self.lease.payload.Unpack(action)
            return action
        digest = api.Digest()
        self.lease.payload.Unpack(digest)
        return self.store.read(digest, api.Action)

    def execute(self, scratch, result):
        """Stages the input, runs the command, and fills `result`; the code of the status."""
        action, about = self.action(), result.execution_metadata
        command = self.store.read(action.command_digest, api.Command)
        if command.output_paths or command.output_files or command.output_directories:
            raise NotImplementedError("this worker returns no output files")
        about.input_fetch_start_timestamp.GetCurrentTime()
        self.store.stage(action.input_root_digest, scratch / "root")
        about.input_fetch_completed_timestamp.GetCurrentTime()
        variables = {variable.name: variable.value for variable in command.environment_variables}
        limit = action.timeout.ToNanoseconds() / 1e9 if action.HasField("timeout") else None
        about.execution_start_timestamp.GetCurrentTime()
        with open(scratch / "stdout", "wb") as stdout, open(scratch / "stderr", "wb") as stderr:
            child = subprocess.Popen(
                list(command.arguments), cwd=scratch / "root" / command.working_directory, env=variables,
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True)
        is_late = self.wait(child, limit)
        about.execution_completed_timestamp.GetCurrentTime()
        result.exit_code = child.returncode if child.returncode >= 0 else 128 - child.returncode
        about.output_upload_start_timestamp.GetCurrentTime()
        for name in ["stdout", "stderr"]:
            content = (scratch / name).read_bytes()
            if len(content) <= INLINE_BYTES:
                setattr(result, f"{name}_raw", content)
            else:
                getattr(result, f"{name}_digest").CopyFrom(self.store.send(content))
        about.output_upload_completed_timestamp.GetCurrentTime()
        if self.is_cancelled.is_set():
            return codes.CANCELLED
        return codes.DEADLINE_EXCEEDED if is_late else codes.OK

    def wait(self, child, limit):
        """Waits for the end of a process, or ends it and all of its group; whether that was because of the limit."""
        end = None if limit is None else time.monotonic() + limit
        ended = threading.Event()
        threading.Thread(target=lambda: (child.wait(), ended.set()), daemon=True).start()
        is_late = False
        while not ended.wait(0.05) and not self.is_cancelled.is_set() and not is_late:
            is_late = end is not None and time.monotonic() >= end
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        ended.wait()
        return is_late


def serve(channel, store, name):
    """Takes one lease after the other, in a session that is made again when it breaks."""
    service = BotsStub(channel)
    while True:
        run = None
        try:
            session = bots.BotSession(bot_id=name, status=bots.OK)
            session = service.CreateBotSession(bots.CreateBotSessionRequest(parent="", bot_session=session), timeout=WAIT_SECONDS)
            while True:
                if run is not None and run.lease.id not in {lease.id for lease in session.leases}:
                    # The server does not want it any more, or knows its end.
                    run.is_cancelled.set()
                    run = None
                if run is None and session.leases:
                    run = Run(store, session.leases[0], name)
                    run.start()
                if run is not None:
                    run.ended.wait(REPORT_SECONDS)
                    if run.ended.is_set():
                        session.leases[0].CopyFrom(run.lease)
                        run = None
                session = service.UpdateBotSession(bots.UpdateBotSessionRequest(name=session.name, bot_session=session), timeout=WAIT_SECONDS)
        except grpc.RpcError as error:
            if run is not None:
                run.is_cancelled.set()
            print(f"{name}: {error.code()}: {error.details()}", flush=True)
            time.sleep(0.5)


def channel_to(address, token):
    """A channel; with a token, every call brings it along."""
    channel = grpc.insecure_channel(address)
    if token is None:
        return channel

    class Bearer(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamUnaryClientInterceptor):
        def intercept_unary_unary(self, go_on, details, request):
            metadata = [*(details.metadata or ()), ("authorization", f"Bearer {token}")]
            return go_on(details._replace(metadata=metadata), request)

        intercept_unary_stream = intercept_stream_unary = intercept_unary_unary

    return grpc.intercept_channel(channel, Bearer())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="<host>:<port> of the server, without encryption")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="actions at once; default: 2")
    parser.add_argument("--token-file", type=Path, help="a file with a token, which is sent as `authorization: Bearer`")
    arguments = parser.parse_args()
    channel = channel_to(arguments.address, arguments.token_file and arguments.token_file.read_text(encoding="utf-8").strip())
    store = Store(channel)
    names = [f"worker-{os.getpid()}-{number}" for number in range(arguments.jobs)]
    threads = [threading.Thread(target=serve, args=(channel, store, name), daemon=True) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
