//! The calls of the protocol.
//!
//! Every call has a deadline and is tried again after passing trouble, a bounded number of times. Answers are bounded: a message
//! by [`MAX_MESSAGE_BYTES`], an output by its head and tail. The runtime for these calls is one thread of this module; callers
//! are ordinary threads that wait.

use crate::process::output::{BoundedOutput, MAX_HEAD_BYTES, MAX_TAIL_BYTES};
use crate::remote::action::ReturnedAction;
use crate::remote::address::Service;
use crate::remote::connection;
use crate::remote::digest::Digest;
use crate::remote::trouble::{Cure, Trouble};
use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::build::bazel::remote::execution::v2::action_cache_client::ActionCacheClient;
use bazel_remote_apis::build::bazel::remote::execution::v2::capabilities_client::CapabilitiesClient;
use bazel_remote_apis::build::bazel::remote::execution::v2::content_addressable_storage_client::ContentAddressableStorageClient;
use bazel_remote_apis::build::bazel::remote::execution::v2::execution_client::ExecutionClient;
use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
use bazel_remote_apis::google::longrunning::operations_client::OperationsClient;
use bazel_remote_apis::google::protobuf::Timestamp;
use bazel_remote_apis::google::{bytestream, longrunning};
use prost::Message as _;
use std::future::Future;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::time;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Code, Request, Response, Status, Streaming};

/// The largest message that is read or sent, in bytes: the limit that every implementation of gRPC has by default.
pub const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// The part of a message that blobs may take; the rest is for digests and frames.
const SHARE_OF_BLOBS: (usize, usize) = (7, 8);

/// The deadline of a call that does not wait for an action.
const CALL: Duration = Duration::from_secs(60);

/// Calls of one kind, at most, before trouble is reported; with the pauses between them, about 8 s.
const ATTEMPTS: u32 = 6;

/// The time after which a call is not repeated: a service that takes calls and does not answer is not asked for minutes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The first pause between them; each is twice the last.
const PAUSE: Duration = Duration::from_millis(250);

/// The interval in which a running action is asked whether it is still wanted.
const LOOK: Duration = Duration::from_millis(200);

/// The part of a blob that one message of a stream holds, in bytes.
const CHUNK_BYTES: usize = 1 << 20;

/// What a service can do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The oldest and the newest version of the protocol.
    pub versions: (String, String),
    /// Whether it takes SHA-256.
    pub has_sha256: bool,
    /// Whether it runs actions.
    pub executes: bool,
    /// The bytes of blobs that one call may bring.
    pub batch_bytes: usize,
}

/// What became of an action.
pub enum Executed {
    /// It has a result; and whether that is of an earlier action.
    Returned(ReturnedAction, bool),
    /// It was no longer wanted, and the service was told.
    Cancelled,
}

/// How many calls, bytes and cancelled actions there were.
#[derive(Debug, Default)]
pub struct Counts {
    /// Calls.
    pub n_calls: AtomicU64,
    /// Bytes of blobs sent.
    pub n_bytes: AtomicU64,
    /// Actions executed.
    pub n_executed: AtomicU64,
    /// Results of earlier actions.
    pub n_shared: AtomicU64,
}

/// A connection to a service.
pub struct Client {
    runtime: Runtime,
    channel: Channel,
    token: Option<MetadataValue<Ascii>>,
    instance: String,
    /// Tells the service which calls belong together; a number without a meaning.
    invocation: String,
    /// What the service can do.
    pub capabilities: Capabilities,
    /// What was done so far.
    pub counts: Counts,
    /// Whether the first order to stop an action was taken.
    cancels: OnceLock<bool>,
    /// Set when the user stops the program.
    interrupt: Arc<AtomicBool>,
}

impl Client {
    /// Connects, and asks what the service can do.
    ///
    /// - `interrupt`: ends every call when it is set.
    ///
    /// Errors: unencrypted and not on this machine; unreadable files; no service there; one that cannot run actions.
    pub fn connect(service: &Service, interrupt: Arc<AtomicBool>) -> Result<Self, Trouble> {
        let address = &service.address;
        if !address.is_secure && !address.is_loopback() {
            return Err(Trouble::lasting(format!(
                "`{address}` is not encrypted and not on this machine; `grpcs://` is encrypted"
            )));
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("remote")
            .enable_all()
            .build()
            .map_err(|error| Trouble::lasting(format!("failed to start a thread: {error}")))?;
        let token = service.token_file.as_deref().map(connection::token).transpose()?;
        let channel = {
            let _entered = runtime.enter();
            connection::endpoint(service)?.connect_lazy()
        };
        let mut client = Self {
            runtime,
            channel,
            token,
            instance: address.instance.clone(),
            invocation: format!("{:016x}", random()),
            capabilities: Capabilities::default(),
            counts: Counts::default(),
            cancels: OnceLock::new(),
            interrupt,
        };
        client.capabilities = client.ask_capabilities()?;
        if !client.capabilities.has_sha256 {
            return Err(Trouble::lasting("the service does not take SHA-256"));
        }
        if !client.capabilities.executes {
            return Err(Trouble::lasting("the service stores blobs, but does not run actions"));
        }
        Ok(client)
    }

    /// A name that no other connection has.
    pub fn invocation(&self) -> &str {
        &self.invocation
    }

    /// How many results of earlier actions there were.
    pub fn n_shared(&self) -> u64 {
        self.counts.n_shared.load(Ordering::Relaxed)
    }

    /// Whether the service stops running actions; `None` if it was not asked to.
    pub fn cancels(&self) -> Option<bool> {
        self.cancels.get().copied()
    }

    fn ask_capabilities(&self) -> Result<Capabilities, Trouble> {
        let answer = self.call("GetCapabilities", || async {
            let request = api::GetCapabilitiesRequest { instance_name: self.instance.clone() };
            CapabilitiesClient::new(self.channel.clone()).get_capabilities(self.request(request)).await.map(inner)
        })?;
        let version = |version: Option<bazel_remote_apis::build::bazel::semver::SemVer>| {
            version.map_or_else(|| "2".to_owned(), |version| format!("{}.{}", version.major, version.minor))
        };
        let cache = answer.cache_capabilities.unwrap_or_default();
        let execution = answer.execution_capabilities.unwrap_or_default();
        let sha256 = api::digest_function::Value::Sha256 as i32;
        let announced = usize::try_from(cache.max_batch_total_size_bytes).ok().filter(|bytes| *bytes > 0);
        let (part, whole) = SHARE_OF_BLOBS;
        Ok(Capabilities {
            versions: (version(answer.low_api_version), version(answer.high_api_version)),
            has_sha256: cache.digest_functions.contains(&sha256),
            executes: execution.exec_enabled,
            batch_bytes: announced.unwrap_or(MAX_MESSAGE_BYTES).min(MAX_MESSAGE_BYTES) / whole * part,
        })
    }

    /// Those of these blobs that the service lacks.
    pub fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Trouble> {
        /// Digests of one call: some 80 bytes each.
        const AT_ONCE: usize = 20_000;
        let mut missing = Vec::new();
        for some in digests.chunks(AT_ONCE) {
            let answer = self.call("FindMissingBlobs", || async {
                let request = api::FindMissingBlobsRequest {
                    instance_name: self.instance.clone(),
                    blob_digests: some.iter().map(|digest| digest.to_api()).collect(),
                    ..api::FindMissingBlobsRequest::default()
                };
                ContentAddressableStorageClient::new(self.channel.clone())
                    .find_missing_blobs(self.request(request))
                    .await
                    .map(inner)
            })?;
            missing.extend(answer.missing_blob_digests.iter().filter_map(Digest::from_api));
        }
        Ok(missing)
    }

    /// Sends these blobs in one call; together at most [`Capabilities::batch_bytes`].
    pub fn send_batch(&self, blobs: &[(Digest, Vec<u8>)]) -> Result<(), Trouble> {
        let answer = self.call("BatchUpdateBlobs", || async {
            let request = |(digest, data): &(Digest, Vec<u8>)| api::batch_update_blobs_request::Request {
                digest: Some(digest.to_api()),
                data: data.clone(),
                ..api::batch_update_blobs_request::Request::default()
            };
            let request = api::BatchUpdateBlobsRequest {
                instance_name: self.instance.clone(),
                requests: blobs.iter().map(request).collect(),
                ..api::BatchUpdateBlobsRequest::default()
            };
            ContentAddressableStorageClient::new(self.channel.clone())
                .batch_update_blobs(self.request(request))
                .await
                .map(inner)
        })?;
        for response in answer.responses {
            let status = response.status.unwrap_or_default();
            if status.code != Code::Ok as i32 {
                return Err(Trouble::of_call(
                    "BatchUpdateBlobs",
                    &Status::new(Code::from(status.code), status.message),
                ));
            }
        }
        self.count_bytes(blobs.iter().map(|(_, data)| data.len()).sum());
        Ok(())
    }

    /// Sends a blob of any size.
    pub fn send(&self, digest: Digest, content: &[u8]) -> Result<(), Trouble> {
        let prefix = if self.instance.is_empty() { String::new() } else { format!("{}/", self.instance) };
        let answer = self.call("Write", || async {
            // Each attempt is an upload of its own: a service may have kept a part of the last one.
            let upload = uuid();
            let name = format!("{prefix}uploads/{upload}/blobs/{}/{}", digest.hex(), digest.n_bytes);
            let n_bytes = content.len();
            let chunks: Vec<bytestream::WriteRequest> = content
                .chunks(CHUNK_BYTES)
                .scan(0, |offset, chunk| {
                    let write_offset = i64::try_from(*offset).unwrap_or(i64::MAX);
                    *offset += chunk.len();
                    let finish_write = *offset == n_bytes;
                    Some(bytestream::WriteRequest {
                        resource_name: name.clone(),
                        write_offset,
                        finish_write,
                        data: chunk.to_vec(),
                    })
                })
                .collect();
            let mut request = self.request(tokio_stream::iter(chunks));
            // 1 MiB a second, at least.
            request.set_timeout(CALL + Duration::from_secs((n_bytes >> 20) as u64));
            ByteStreamClient::new(self.channel.clone()).write(request).await.map(inner)
        })?;
        // A service that already has the blob can stop early with the whole size, or with -1.
        if answer.committed_size != -1 && u64::try_from(answer.committed_size) != Ok(digest.n_bytes) {
            return Err(Trouble::passing(format!(
                "Write: {} bytes of {} were kept",
                answer.committed_size, digest.n_bytes
            )));
        }
        self.count_bytes(content.len());
        Ok(())
    }

    fn count_bytes(&self, n_bytes: usize) {
        self.counts.n_bytes.fetch_add(n_bytes as u64, Ordering::Relaxed);
    }

    /// The result of an earlier action, if the service has one.
    pub fn earlier(&self, action: Digest) -> Result<Option<ReturnedAction>, Trouble> {
        let answer = self.call("GetActionResult", || async {
            let request = api::GetActionResultRequest {
                instance_name: self.instance.clone(),
                action_digest: Some(action.to_api()),
                inline_stdout: true,
                inline_stderr: true,
                ..api::GetActionResultRequest::default()
            };
            match ActionCacheClient::new(self.channel.clone()).get_action_result(self.request(request)).await {
                Err(status) if status.code() == Code::NotFound => Ok(None),
                answer => answer.map(|answer| Some(inner(answer))),
            }
        })?;
        let Some(result) = answer else { return Ok(None) };
        self.counts.n_shared.fetch_add(1, Ordering::Relaxed);
        self.returned(result, false).map(Some)
    }

    /// Executes an action, and waits for it.
    ///
    /// A connection that breaks is made again, and the action is found by its name or, if the service has lost it, started
    /// again: the same action is the same for the service.
    ///
    /// - `is_fresh`: whether an earlier result must not answer.
    /// - `is_unwanted`: asked again and again while the action runs.
    pub fn execute(&self, action: Digest, is_fresh: bool, is_unwanted: &dyn Fn() -> bool) -> Result<Executed, Trouble> {
        let mut name = String::new();
        let mut attempt = 1;
        loop {
            let followed = self.runtime.block_on(self.follow(action, is_fresh, &mut name, is_unwanted));
            match followed.and_then(|response| response.map(|response| self.executed(response)).transpose()) {
                Ok(Some(executed)) => return Ok(executed),
                Ok(None) => {
                    self.cancel(&name);
                    return Ok(Executed::Cancelled);
                }
                Err(trouble) if trouble.cure == Cure::Retry && attempt < ATTEMPTS => {
                    Self::pause(attempt, is_unwanted);
                    attempt += 1;
                }
                Err(trouble) => return Err(trouble),
            }
            if is_unwanted() {
                self.cancel(&name);
                return Ok(Executed::Cancelled);
            }
        }
    }

    /// Follows an action to its end; `None` if it is no longer wanted.
    ///
    /// - `name`: of the operation, once it is known.
    async fn follow(
        &self,
        action: Digest,
        is_fresh: bool,
        name: &mut String,
        is_unwanted: &dyn Fn() -> bool,
    ) -> Result<Option<api::ExecuteResponse>, Trouble> {
        let mut client = ExecutionClient::new(self.channel.clone());
        let of = |status: &Status| Trouble::of_call("Execute", status);
        let mut stream: Option<Streaming<longrunning::Operation>> = None;
        if !name.is_empty() {
            self.counts.n_calls.fetch_add(1, Ordering::Relaxed);
            let request = api::WaitExecutionRequest { name: name.clone() };
            match client.wait_execution(self.request_without_limit(request)).await {
                Ok(answer) => stream = Some(answer.into_inner()),
                // It was lost with the service that had it.
                Err(status) if status.code() == Code::NotFound => name.clear(),
                Err(status) => return Err(of(&status)),
            }
        }
        let mut stream = if let Some(stream) = stream {
            stream
        } else {
            self.counts.n_calls.fetch_add(1, Ordering::Relaxed);
            self.counts.n_executed.fetch_add(1, Ordering::Relaxed);
            let request = api::ExecuteRequest {
                instance_name: self.instance.clone(),
                skip_cache_lookup: is_fresh,
                action_digest: Some(action.to_api()),
                inline_stdout: true,
                inline_stderr: true,
                ..api::ExecuteRequest::default()
            };
            let mut started = pin!(client.execute(self.request_without_limit(request)));
            loop {
                match time::timeout(LOOK, started.as_mut()).await {
                    Ok(answer) => break answer.map_err(|status| of(&status))?.into_inner(),
                    Err(_) if is_unwanted() => return Ok(None),
                    Err(_) => {}
                }
            }
        };
        loop {
            let operation = {
                let mut next = pin!(stream.message());
                loop {
                    match time::timeout(LOOK, next.as_mut()).await {
                        Ok(message) => break message.map_err(|status| of(&status))?,
                        Err(_) if is_unwanted() => return Ok(None),
                        Err(_) => {}
                    }
                }
            };
            let Some(operation) = operation else {
                return Err(Trouble::passing("Execute: the service ended the answer before the action"));
            };
            name.clone_from(&operation.name);
            if operation.done {
                name.clear();
                return match operation.result {
                    Some(longrunning::operation::Result::Response(any)) => {
                        let response = api::ExecuteResponse::decode(&any.value[..]);
                        response
                            .map(Some)
                            .map_err(|error| Trouble::lasting(format!("Execute: malformed answer: {error}")))
                    }
                    Some(longrunning::operation::Result::Error(status)) => {
                        Err(of(&Status::new(Code::from(status.code), status.message)))
                    }
                    None => Err(Trouble::passing("Execute: the service returned no result")),
                };
            }
        }
    }

    /// The result in an answer. The status comes first: without one that says so, an exit code of 0 says nothing.
    fn executed(&self, response: api::ExecuteResponse) -> Result<Executed, Trouble> {
        let status = response.status.unwrap_or_default();
        let is_late = status.code == Code::DeadlineExceeded as i32;
        if status.code != Code::Ok as i32 && !is_late {
            return Err(Trouble::of_call("Execute", &Status::new(Code::from(status.code), status.message)));
        }
        let is_shared = response.cached_result;
        if is_shared {
            self.counts.n_shared.fetch_add(1, Ordering::Relaxed);
        }
        let result = match response.result {
            Some(result) => result,
            None if is_late => api::ActionResult::default(),
            None => return Err(Trouble::passing("Execute: the service returned no result")),
        };
        Ok(Executed::Returned(self.returned(result, is_late)?, is_shared))
    }

    fn returned(&self, result: api::ActionResult, is_late: bool) -> Result<ReturnedAction, Trouble> {
        let output = self.content(&result.stdout_raw, result.stdout_digest.as_ref())?;
        let report = self.content(&result.stderr_raw, result.stderr_digest.as_ref())?;
        let metadata = result.execution_metadata.unwrap_or_default();
        // Both are times of one clock; that of this machine can be another.
        let duration = between(metadata.execution_start_timestamp, metadata.execution_completed_timestamp);
        Ok(ReturnedAction { exit_code: result.exit_code, is_late, output, report, duration })
    }

    /// An output that is in a message, or a blob of the service; its head and tail if it is long.
    fn content(&self, raw: &[u8], digest: Option<&api::Digest>) -> Result<Vec<u8>, Trouble> {
        let Some(digest) = digest.filter(|digest| raw.is_empty() && digest.size_bytes > 0) else {
            let mut bounded = BoundedOutput::default();
            bounded.push(raw);
            return Ok(bounded.finish());
        };
        let Some(digest) = Digest::from_api(digest) else {
            return Err(Trouble::lasting("the service returned a malformed digest"));
        };
        let n_kept = (MAX_HEAD_BYTES + MAX_TAIL_BYTES) as u64;
        let mut bounded = BoundedOutput::default();
        if digest.n_bytes <= n_kept {
            let bytes = self.read(digest, 0, digest.n_bytes)?;
            if Digest::of(&bytes) != digest {
                return Err(Trouble::passing("Read: the service returned other bytes than it was asked for"));
            }
            bounded.push(&bytes);
        } else {
            let head = self.read(digest, 0, MAX_HEAD_BYTES as u64)?;
            let tail = self.read(digest, digest.n_bytes - MAX_TAIL_BYTES as u64, MAX_TAIL_BYTES as u64)?;
            bounded.push(&head);
            bounded.skip(digest.n_bytes.saturating_sub(n_kept));
            bounded.push(&tail);
        }
        Ok(bounded.finish())
    }

    fn read(&self, digest: Digest, offset: u64, n_bytes: u64) -> Result<Vec<u8>, Trouble> {
        let prefix = if self.instance.is_empty() { String::new() } else { format!("{}/", self.instance) };
        self.call("Read", || async {
            let request = bytestream::ReadRequest {
                resource_name: format!("{prefix}blobs/{}/{}", digest.hex(), digest.n_bytes),
                read_offset: i64::try_from(offset).unwrap_or(i64::MAX),
                read_limit: i64::try_from(n_bytes).unwrap_or(i64::MAX),
            };
            let mut stream =
                ByteStreamClient::new(self.channel.clone()).read(self.request(request)).await?.into_inner();
            let mut bytes = Vec::new();
            while let Some(part) = stream.message().await? {
                bytes.extend_from_slice(&part.data);
                if bytes.len() as u64 > n_bytes {
                    return Err(Status::data_loss("more bytes than asked for"));
                }
            }
            if (bytes.len() as u64) < n_bytes {
                return Err(Status::unavailable("fewer bytes than asked for"));
            }
            Ok(bytes)
        })
    }

    /// Tells the service that an action is not wanted. It may not be able to stop it; its time limit ends it then.
    pub fn cancel(&self, name: &str) {
        if name.is_empty() {
            return;
        }
        self.counts.n_calls.fetch_add(1, Ordering::Relaxed);
        let request = longrunning::CancelOperationRequest { name: name.to_owned() };
        let mut client = OperationsClient::new(self.channel.clone());
        let answer = self
            .runtime
            .block_on(async { time::timeout(connection::LIMIT, client.cancel_operation(self.request(request))).await });
        let _ = self.cancels.set(matches!(answer, Ok(Ok(_))));
    }

    /// Makes a call, and repeats it after trouble that can pass.
    fn call<T, F>(&self, what: &str, attempt: impl Fn() -> F) -> Result<T, Trouble>
    where
        F: Future<Output = Result<T, Status>>,
    {
        let begin = Instant::now();
        let is_unwanted = || self.interrupt.load(Ordering::Relaxed);
        let mut number = 1;
        loop {
            self.counts.n_calls.fetch_add(1, Ordering::Relaxed);
            let answer = self.runtime.block_on(async {
                let mut attempt = pin!(attempt());
                loop {
                    match time::timeout(LOOK, attempt.as_mut()).await {
                        Ok(answer) => break answer,
                        Err(_) if is_unwanted() => break Err(Status::aborted("interrupted")),
                        Err(_) => {}
                    }
                }
            });
            match answer {
                Ok(answer) => return Ok(answer),
                Err(status) => {
                    let trouble = Trouble::of_call(what, &status);
                    let is_last = number == ATTEMPTS || begin.elapsed() > PATIENCE || is_unwanted();
                    if trouble.cure != Cure::Retry || is_last {
                        return Err(trouble);
                    }
                    Self::pause(number, &is_unwanted);
                    number += 1;
                }
            }
        }
    }

    fn pause(attempt: u32, is_unwanted: &dyn Fn() -> bool) {
        let end = Instant::now() + PAUSE * 2_u32.pow(attempt - 1);
        while Instant::now() < end && !is_unwanted() {
            thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
        }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = self.request_without_limit(message);
        request.set_timeout(CALL);
        request
    }

    fn request_without_limit<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(token) = &self.token {
            request.metadata_mut().insert("authorization", token.clone());
        }
        let details = api::ToolDetails {
            tool_name: env!("CARGO_PKG_NAME").to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let about = api::RequestMetadata {
            tool_details: Some(details),
            tool_invocation_id: self.invocation.clone(),
            ..api::RequestMetadata::default()
        };
        let about = MetadataValue::from_bytes(&about.encode_to_vec());
        request.metadata_mut().insert_bin("build.bazel.remote.execution.v2.requestmetadata-bin", about);
        request
    }
}

fn between(begin: Option<Timestamp>, end: Option<Timestamp>) -> Duration {
    let nanos = |time: Timestamp| i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanos);
    let nanos = begin.zip(end).map_or(0, |(begin, end)| nanos(end) - nanos(begin));
    u64::try_from(nanos).map_or(Duration::ZERO, Duration::from_nanos)
}

fn inner<T>(response: Response<T>) -> T {
    response.into_inner()
}

/// A number that no other process has used, as far as names of uploads need that.
fn random() -> u64 {
    // Each has keys of its own, from the system's source of randomness.
    RandomState::new().build_hasher().finish()
}

/// A random name in the form of a UUID of version 4, as the protocol wants it.
fn uuid() -> String {
    let random = (u128::from(random()) << 64) | u128::from(random());
    let text = format!("{random:032x}");
    format!("{}-{}-4{}-a{}-{}", &text[..8], &text[8..12], &text[13..16], &text[17..20], &text[20..])
}
