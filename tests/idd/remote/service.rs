//! A small service of the Remote Execution API that runs actions in directories of this machine, and fails where it is told to.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "the numbers of a test fit into each other's types"
)]

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::build::bazel::semver::SemVer;
use bazel_remote_apis::google::{bytestream, longrunning, protobuf, rpc};
use prost::Message as _;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read as _;
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use std::{fs, thread};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};
use tonic::{Code, Request, Response, Status, Streaming};

/// What goes wrong in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// The worker dies: status 13, and an empty result that looks like a pass.
    DeadWorker,
    /// The worker is killed while it runs the script: its exit code is 137, and the report has no end.
    KilledScript,
    /// The stream of an action ends before the action, which goes on.
    CutStream,
    /// The stream of an action ends, and the service does not know the action any more.
    LostAction,
    /// All blobs are removed before an action starts.
    Evicted,
    /// An upload ends in the middle.
    CutUpload,
    /// The bytes of an output are not those of its digest.
    WrongOutput,
    /// A call answers only after a while.
    Slow,
    /// A call is refused because the service is busy.
    Busy,
    /// The clock of the worker goes backwards during the action.
    Clock,
    /// The cache answers with another action's result, which has no report.
    Foreign,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::DeadWorker,
        Self::KilledScript,
        Self::CutStream,
        Self::LostAction,
        Self::Evicted,
        Self::CutUpload,
        Self::WrongOutput,
        Self::Slow,
        Self::Busy,
        Self::Clock,
        Self::Foreign,
    ];
}

/// What the service has and knows.
#[derive(Default)]
pub struct State {
    /// Contents by hash.
    pub blobs: HashMap<String, Vec<u8>>,
    /// Results by the hash of their actions.
    pub results: HashMap<String, api::ActionResult>,
    /// Actions by the name of their operation, with their state.
    operations: HashMap<String, Arc<Running>>,
    /// The names of all environment variables of commands.
    pub variables: HashSet<String>,
    /// The number of calls by name.
    pub calls: BTreeMap<&'static str, usize>,
    /// The bytes of each upload call.
    pub uploaded: Vec<usize>,
    /// The number of executed actions.
    pub n_executed: usize,
    /// The number of actions that run now, and the largest number that ran at once.
    pub running: (usize, usize),
    /// The number of cancelled actions.
    pub n_cancelled: usize,
    /// Each `n`th chance of a fault is taken; 0 for none.
    pub every: usize,
    /// The faults that may happen.
    pub faults: Vec<Fault>,
    /// How often each happened.
    pub happened: BTreeMap<Fault, usize>,
    n_chances: usize,
    /// Whether the cache says of every action that its test passes.
    pub lies: bool,
    /// The token that every call must have.
    pub token: Option<String>,
    /// The bytes of one batch, as announced.
    pub batch_bytes: i64,
    /// Whether its workers have a program that this machine has not.
    pub has_another_program: bool,
}

impl State {
    /// What the cache of results says of an action.
    fn found(&mut self, key: &str) -> Option<api::ActionResult> {
        if self.lies {
            let report = b"git-idd top /x/w\ngit-idd begin test\ngit-idd end test 0\n".to_vec();
            return Some(api::ActionResult { stderr_raw: report, ..api::ActionResult::default() });
        }
        if self.happens(Fault::Foreign) {
            self.results.insert(key.to_owned(), api::ActionResult::default());
        }
        self.results.get(key).cloned()
    }

    fn happens(&mut self, fault: Fault) -> bool {
        if !self.faults.contains(&fault) || self.every == 0 {
            return false;
        }
        self.n_chances += 1;
        let happens = self.n_chances.is_multiple_of(self.every);
        if happens {
            *self.happened.entry(fault).or_default() += 1;
        }
        happens
    }
}

/// An action that runs, or has ended.
struct Running {
    is_cancelled: AtomicBool,
    ended: Mutex<Option<api::ExecuteResponse>>,
}

/// The certificates of the tests.
pub const CERTIFICATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/idd/remote/certificates");

/// The service, as long as it lives.
pub struct Service {
    /// Where it listens.
    pub address: SocketAddr,
    is_encrypted: bool,
    state: Arc<Mutex<State>>,
    _runtime: Runtime,
}

#[derive(Clone)]
struct Shared(Arc<Mutex<State>>);

impl Service {
    /// Starts a service on a free port.
    pub fn start() -> Self {
        Self::start_with(Server::builder(), false)
    }

    /// Starts one with the certificate of this name; clients need one, too, if it `asks_clients`.
    pub fn encrypted(certificate: &str, asks_clients: bool) -> Self {
        let pem = |name: &str| fs::read(format!("{CERTIFICATES}/{name}")).unwrap();
        let identity = Identity::from_pem(pem(&format!("{certificate}.pem")), pem(&format!("{certificate}.key")));
        let mut tls = ServerTlsConfig::new().identity(identity);
        if asks_clients {
            tls = tls.client_ca_root(Certificate::from_pem(pem("authority.pem")));
        }
        Self::start_with(Server::builder().tls_config(tls).unwrap(), true)
    }

    fn start_with(mut server: Server, is_encrypted: bool) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let shared = Shared(Arc::clone(&state));
        let incoming = {
            let _entered = runtime.enter();
            TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap()
        };
        let address = incoming.local_addr().unwrap();
        runtime.spawn(async move {
            use api::action_cache_server::ActionCacheServer;
            use api::capabilities_server::CapabilitiesServer;
            use api::content_addressable_storage_server::ContentAddressableStorageServer;
            use api::execution_server::ExecutionServer;
            use bytestream::byte_stream_server::ByteStreamServer;
            use longrunning::operations_server::OperationsServer;
            server
                .add_service(CapabilitiesServer::new(shared.clone()))
                .add_service(ActionCacheServer::new(shared.clone()))
                .add_service(ContentAddressableStorageServer::new(shared.clone()))
                .add_service(ExecutionServer::new(shared.clone()))
                .add_service(ByteStreamServer::new(shared.clone()))
                .add_service(OperationsServer::new(shared))
                .serve_with_incoming(incoming)
                .await
                .unwrap();
        });
        Self { address, is_encrypted, state, _runtime: runtime }
    }

    /// Its address for `--remote`.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.is_encrypted { "grpcs" } else { "grpc" }, self.address)
    }

    /// What it has and knows.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

fn hash(content: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(content).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn digest(content: &[u8]) -> api::Digest {
    api::Digest { hash: hash(content), size_bytes: content.len() as i64 }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Counts a call, and lets it fail.
    async fn enter<T>(&self, call: &'static str, request: &Request<T>) -> Result<(), Status> {
        let is_slow = {
            let mut state = self.state();
            *state.calls.entry(call).or_default() += 1;
            if let Some(token) = &state.token {
                let given = request.metadata().get("authorization").and_then(|value| value.to_str().ok());
                if given != Some(&format!("Bearer {token}")) {
                    return Err(Status::unauthenticated("no token, or another one"));
                }
            }
            if state.happens(Fault::Busy) {
                return Err(Status::unavailable("busy"));
            }
            state.happens(Fault::Slow)
        };
        if is_slow {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        Ok(())
    }

    fn blob(&self, digest: &api::Digest) -> Result<Vec<u8>, Status> {
        let blob = self.state().blobs.get(&digest.hash).cloned();
        if digest.size_bytes == 0 {
            return Ok(Vec::new());
        }
        // The protocol asks for the first one; buildbox-casd says the second one.
        let is_by_the_book = self.state().n_executed.is_multiple_of(2);
        let code = if is_by_the_book { Code::FailedPrecondition } else { Code::NotFound };
        blob.ok_or_else(|| Status::new(code, format!("blob {} is not here", digest.hash)))
    }

    fn decoded<M: prost::Message + Default>(&self, digest: Option<api::Digest>) -> Result<M, Status> {
        let digest = digest.ok_or_else(|| Status::invalid_argument("no digest"))?;
        M::decode(&self.blob(&digest)?[..]).map_err(|error| Status::invalid_argument(error.to_string()))
    }

    fn materialise(&self, directory: api::Directory, path: &Path) -> Result<(), Status> {
        fs::create_dir_all(path).unwrap();
        let mut names: Vec<String> = directory.files.iter().map(|file| file.name.clone()).collect();
        assert!(names.is_sorted(), "the files of a directory are sorted: {names:?}");
        names.extend(directory.directories.iter().map(|below| below.name.clone()));
        for file in directory.files {
            let content = self.blob(&file.digest.unwrap())?;
            fs::write(path.join(&file.name), content).unwrap();
            let mode = if file.is_executable { 0o755 } else { 0o644 };
            fs::set_permissions(path.join(&file.name), fs::Permissions::from_mode(mode)).unwrap();
        }
        for link in directory.symlinks {
            symlink(&link.target, path.join(&link.name)).unwrap();
        }
        for below in directory.directories {
            self.materialise(self.decoded(below.digest)?, &path.join(&below.name))?;
        }
        Ok(())
    }

    /// Runs an action to its end.
    fn run(&self, action: &api::Action, running: &Running) -> Result<api::ExecuteResponse, Status> {
        let command: api::Command = self.decoded(action.command_digest.clone())?;
        let scratch = TempDir::new().unwrap();
        let root = scratch.path().join("root");
        self.materialise(self.decoded(action.input_root_digest.clone())?, &root)?;
        let variables: Vec<(String, String)> =
            command.environment_variables.into_iter().map(|variable| (variable.name, variable.value)).collect();
        self.state().variables.extend(variables.iter().map(|(name, _)| name.clone()));
        let (out, err) = (scratch.path().join("out"), scratch.path().join("err"));
        let mut child = Command::new(&command.arguments[0])
            .args(&command.arguments[1..])
            .env_clear()
            .envs(variables)
            .current_dir(root.join(&command.working_directory))
            .stdin(Stdio::null())
            .stdout(fs::File::create(&out).unwrap())
            .stderr(fs::File::create(&err).unwrap())
            .process_group(0)
            .spawn()
            .unwrap();
        let limit = action.timeout.map(|limit| Duration::new(limit.seconds as u64, limit.nanos as u32));
        let begin = Instant::now();
        let mut status = rpc::Status::default();
        let is_killed = self.state().happens(Fault::KilledScript);
        let exit_code = loop {
            if let Some(ended) = child.try_wait().unwrap() {
                break ended.code().unwrap_or(137);
            }
            let is_late = limit.is_some_and(|limit| begin.elapsed() >= limit);
            if is_late || is_killed || running.is_cancelled.load(Ordering::Relaxed) {
                let group = rustix::process::Pid::from_child(&child);
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                child.wait().unwrap();
                if is_late {
                    status =
                        rpc::Status { code: 4, message: "the time limit was reached".to_owned(), details: Vec::new() };
                }
                break 137;
            }
            thread::sleep(Duration::from_millis(2));
        };
        let read = |path: &Path| {
            let mut bytes = Vec::new();
            fs::File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
            bytes
        };
        let (mut stdout, stderr) = (read(&out), read(&err));
        if self.state().has_another_program && command.arguments[2].contains("cksum") {
            stdout.extend_from_slice(b"kcc 1 2\n");
        }
        let time = |seconds: i64| Some(protobuf::Timestamp { seconds, nanos: 0 });
        let clock = if self.state().happens(Fault::Clock) { (time(99), time(1)) } else { (None, None) };
        let metadata = api::ExecutedActionMetadata {
            execution_start_timestamp: clock.0,
            execution_completed_timestamp: clock.1,
            ..api::ExecutedActionMetadata::default()
        };
        let mut result = api::ActionResult {
            exit_code,
            stderr_raw: stderr,
            execution_metadata: Some(metadata),
            ..api::ActionResult::default()
        };
        let is_wrong = self.state().happens(Fault::WrongOutput);
        if is_wrong || stdout.len() > 4096 {
            result.stdout_digest = Some(digest(&stdout));
            let kept = if is_wrong { vec![b'?'; stdout.len()] } else { stdout.clone() };
            self.state().blobs.insert(hash(&stdout), kept);
        } else {
            result.stdout_raw = stdout;
        }
        Ok(api::ExecuteResponse { result: Some(result), status: Some(status), ..api::ExecuteResponse::default() })
    }

    /// Starts an action; the name of its operation.
    fn start(&self, request: &api::ExecuteRequest) -> String {
        let running = Arc::new(Running { is_cancelled: AtomicBool::new(false), ended: Mutex::new(None) });
        let name = {
            let mut state = self.state();
            let name = format!("operations/{}", state.operations.len());
            state.operations.insert(name.clone(), Arc::clone(&running));
            state.n_executed += 1;
            state.running.0 += 1;
            state.running.1 = state.running.1.max(state.running.0);
            name
        };
        let (shared, request) = (self.clone(), request.clone());
        thread::spawn(move || {
            let response = shared.executed(&request, &running);
            shared.state().running.0 -= 1;
            *running.ended.lock().unwrap() = Some(response);
        });
        name
    }

    fn executed(&self, request: &api::ExecuteRequest, running: &Running) -> api::ExecuteResponse {
        let failed = |status: &Status| api::ExecuteResponse {
            status: Some(rpc::Status {
                code: status.code() as i32,
                message: status.message().to_owned(),
                details: Vec::new(),
            }),
            ..api::ExecuteResponse::default()
        };
        if self.state().happens(Fault::Evicted) {
            self.state().blobs.clear();
        }
        if self.state().happens(Fault::DeadWorker) {
            return api::ExecuteResponse {
                result: Some(api::ActionResult::default()),
                ..failed(&Status::internal("the runner was killed"))
            };
        }
        let wanted = request.action_digest.clone();
        let action = match self.decoded::<api::Action>(wanted.clone()) {
            Ok(action) => action,
            Err(status) => return failed(&status),
        };
        let key = wanted.unwrap().hash;
        if !request.skip_cache_lookup
            && let Some(result) = self.state().found(&key)
        {
            return api::ExecuteResponse { result: Some(result), cached_result: true, ..failed(&Status::ok("")) };
        }
        match self.run(&action, running) {
            Err(status) => failed(&status),
            Ok(response) => {
                let result = response.result.clone().unwrap();
                if !action.do_not_cache && result.exit_code == 0 {
                    self.state().results.insert(key, result);
                }
                response
            }
        }
    }

    /// The stream of an operation until its end, or until it is cut.
    fn stream(&self, name: &str) -> Result<Operations, Status> {
        let running = self.state().operations.get(name).cloned();
        let running = running.ok_or_else(|| Status::not_found("no such operation"))?;
        let (sender, receiver) = mpsc::channel(4);
        let (shared, name) = (self.clone(), name.to_owned());
        let first = longrunning::Operation { name: name.clone(), ..longrunning::Operation::default() };
        let is_lost = self.state().happens(Fault::LostAction);
        let is_cut = is_lost || self.state().happens(Fault::CutStream);
        tokio::spawn(async move {
            if sender.send(Ok(first)).await.is_err() {
                return;
            }
            if is_cut {
                if is_lost {
                    shared.state().operations.remove(&name);
                }
                return;
            }
            loop {
                let ended = running.ended.lock().unwrap().clone();
                if let Some(response) = ended {
                    let value = response.encode_to_vec();
                    let any = protobuf::Any { type_url: String::new(), value };
                    let operation = longrunning::Operation {
                        name,
                        done: true,
                        result: Some(longrunning::operation::Result::Response(any)),
                        ..longrunning::Operation::default()
                    };
                    let _ = sender.send(Ok(operation)).await;
                    return;
                }
                if sender.is_closed() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        });
        Ok(Operations(receiver))
    }
}

/// Messages about one operation.
pub struct Operations(mpsc::Receiver<Result<longrunning::Operation, Status>>);

impl tokio_stream::Stream for Operations {
    type Item = Result<longrunning::Operation, Status>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

#[tonic::async_trait]
impl api::capabilities_server::Capabilities for Shared {
    async fn get_capabilities(
        &self,
        request: Request<api::GetCapabilitiesRequest>,
    ) -> Result<Response<api::ServerCapabilities>, Status> {
        self.enter("GetCapabilities", &request).await?;
        let version = |minor| Some(SemVer { major: 2, minor, ..SemVer::default() });
        let sha256 = api::digest_function::Value::Sha256 as i32;
        Ok(Response::new(api::ServerCapabilities {
            cache_capabilities: Some(api::CacheCapabilities {
                digest_functions: vec![sha256],
                max_batch_total_size_bytes: self.state().batch_bytes,
                ..api::CacheCapabilities::default()
            }),
            execution_capabilities: Some(api::ExecutionCapabilities {
                digest_function: sha256,
                exec_enabled: true,
                ..api::ExecutionCapabilities::default()
            }),
            low_api_version: version(0),
            high_api_version: version(3),
            ..api::ServerCapabilities::default()
        }))
    }
}

#[tonic::async_trait]
impl api::action_cache_server::ActionCache for Shared {
    async fn get_action_result(
        &self,
        request: Request<api::GetActionResultRequest>,
    ) -> Result<Response<api::ActionResult>, Status> {
        self.enter("GetActionResult", &request).await?;
        let key = request.into_inner().action_digest.unwrap().hash;
        self.state().found(&key).map(Response::new).ok_or_else(|| Status::not_found("no result"))
    }

    async fn update_action_result(
        &self,
        _: Request<api::UpdateActionResultRequest>,
    ) -> Result<Response<api::ActionResult>, Status> {
        Err(Status::permission_denied("only workers write results"))
    }
}

#[tonic::async_trait]
impl api::content_addressable_storage_server::ContentAddressableStorage for Shared {
    async fn find_missing_blobs(
        &self,
        request: Request<api::FindMissingBlobsRequest>,
    ) -> Result<Response<api::FindMissingBlobsResponse>, Status> {
        self.enter("FindMissingBlobs", &request).await?;
        let state = self.state();
        let asked = request.into_inner().blob_digests;
        let missing_blob_digests = asked.into_iter().filter(|digest| !state.blobs.contains_key(&digest.hash)).collect();
        Ok(Response::new(api::FindMissingBlobsResponse { missing_blob_digests }))
    }

    async fn batch_update_blobs(
        &self,
        request: Request<api::BatchUpdateBlobsRequest>,
    ) -> Result<Response<api::BatchUpdateBlobsResponse>, Status> {
        self.enter("BatchUpdateBlobs", &request).await?;
        let mut state = self.state();
        let requests = request.into_inner().requests;
        let n_bytes = requests.iter().map(|request| request.data.len()).sum();
        if state.batch_bytes > 0 && n_bytes > state.batch_bytes as usize {
            return Err(Status::invalid_argument("a batch larger than announced"));
        }
        state.uploaded.push(n_bytes);
        let is_cut = state.happens(Fault::CutUpload);
        let n_kept = if is_cut { requests.len() / 2 } else { requests.len() };
        let mut responses = Vec::new();
        for request in requests.into_iter().take(n_kept) {
            assert_eq!(Some(digest(&request.data)), request.digest, "a blob has the digest that it is sent with");
            state.blobs.insert(hash(&request.data), request.data);
            responses.push(api::batch_update_blobs_response::Response {
                digest: request.digest,
                status: Some(rpc::Status::default()),
            });
        }
        if is_cut {
            return Err(Status::unknown("h2 protocol error"));
        }
        Ok(Response::new(api::BatchUpdateBlobsResponse { responses }))
    }

    async fn batch_read_blobs(
        &self,
        _: Request<api::BatchReadBlobsRequest>,
    ) -> Result<Response<api::BatchReadBlobsResponse>, Status> {
        Err(Status::unimplemented("not needed"))
    }

    type GetTreeStream = tokio_stream::Empty<Result<api::GetTreeResponse, Status>>;

    async fn get_tree(&self, _: Request<api::GetTreeRequest>) -> Result<Response<Self::GetTreeStream>, Status> {
        Err(Status::unimplemented("not needed"))
    }

    async fn split_blob(&self, _: Request<api::SplitBlobRequest>) -> Result<Response<api::SplitBlobResponse>, Status> {
        Err(Status::unimplemented("not needed"))
    }

    type GetChunkMappingStream = tokio_stream::Empty<Result<api::GetChunkMappingResponse, Status>>;

    async fn get_chunk_mapping(
        &self,
        _: Request<api::GetChunkMappingRequest>,
    ) -> Result<Response<Self::GetChunkMappingStream>, Status> {
        Err(Status::unimplemented("not needed"))
    }

    async fn splice_blob(
        &self,
        _: Request<api::SpliceBlobRequest>,
    ) -> Result<Response<api::SpliceBlobResponse>, Status> {
        Err(Status::unimplemented("not needed"))
    }

    async fn register_chunk_mapping(
        &self,
        _: Request<Streaming<api::RegisterChunkMappingRequest>>,
    ) -> Result<Response<api::RegisterChunkMappingResponse>, Status> {
        Err(Status::unimplemented("not needed"))
    }
}

#[tonic::async_trait]
impl api::execution_server::Execution for Shared {
    type ExecuteStream = Operations;

    async fn execute(&self, request: Request<api::ExecuteRequest>) -> Result<Response<Operations>, Status> {
        self.enter("Execute", &request).await?;
        let name = self.start(&request.into_inner());
        self.stream(&name).map(Response::new)
    }

    type WaitExecutionStream = Operations;

    async fn wait_execution(
        &self,
        request: Request<api::WaitExecutionRequest>,
    ) -> Result<Response<Operations>, Status> {
        self.enter("WaitExecution", &request).await?;
        self.stream(&request.into_inner().name).map(Response::new)
    }
}

#[tonic::async_trait]
impl bytestream::byte_stream_server::ByteStream for Shared {
    type ReadStream = tokio_stream::Iter<std::vec::IntoIter<Result<bytestream::ReadResponse, Status>>>;

    async fn read(&self, request: Request<bytestream::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        self.enter("Read", &request).await?;
        let request = request.into_inner();
        let hash = request.resource_name.rsplit('/').nth(1).unwrap().to_owned();
        let blob = self.state().blobs.get(&hash).cloned().ok_or_else(|| Status::not_found("no blob"))?;
        let from = request.read_offset as usize;
        let to = if request.read_limit == 0 { blob.len() } else { blob.len().min(from + request.read_limit as usize) };
        let parts: Vec<_> =
            blob[from..to].chunks(1000).map(|data| Ok(bytestream::ReadResponse { data: data.to_vec() })).collect();
        Ok(Response::new(tokio_stream::iter(parts)))
    }

    async fn write(
        &self,
        request: Request<Streaming<bytestream::WriteRequest>>,
    ) -> Result<Response<bytestream::WriteResponse>, Status> {
        self.enter("Write", &request).await?;
        let mut stream = request.into_inner();
        let mut content = Vec::new();
        let mut name = String::new();
        while let Some(part) = stream.message().await? {
            assert_eq!(part.write_offset as usize, content.len(), "the parts of an upload follow each other");
            name = part.resource_name;
            content.extend(part.data);
            if self.state().happens(Fault::CutUpload) {
                return Err(Status::unknown("h2 protocol error"));
            }
        }
        let parts: Vec<&str> = name.split('/').collect();
        assert_eq!(parts[3], hash(&content), "a blob has the digest that it is sent with: {name}");
        let committed_size = content.len() as i64;
        let mut state = self.state();
        state.uploaded.push(content.len());
        state.blobs.insert(hash(&content), content);
        Ok(Response::new(bytestream::WriteResponse { committed_size }))
    }

    async fn query_write_status(
        &self,
        _: Request<bytestream::QueryWriteStatusRequest>,
    ) -> Result<Response<bytestream::QueryWriteStatusResponse>, Status> {
        Err(Status::unimplemented("not needed"))
    }
}

#[tonic::async_trait]
impl longrunning::operations_server::Operations for Shared {
    async fn cancel_operation(
        &self,
        request: Request<longrunning::CancelOperationRequest>,
    ) -> Result<Response<protobuf::Empty>, Status> {
        self.enter("CancelOperation", &request).await?;
        let mut state = self.state();
        let running = state.operations.get(&request.into_inner().name).cloned();
        let running = running.ok_or_else(|| Status::not_found("no such operation"))?;
        running.is_cancelled.store(true, Ordering::Relaxed);
        state.n_cancelled += 1;
        Ok(Response::new(protobuf::Empty {}))
    }

    async fn list_operations(
        &self,
        _: Request<longrunning::ListOperationsRequest>,
    ) -> Result<Response<longrunning::ListOperationsResponse>, Status> {
        Err(Status::unimplemented("not needed"))
    }

    async fn get_operation(
        &self,
        _: Request<longrunning::GetOperationRequest>,
    ) -> Result<Response<longrunning::Operation>, Status> {
        Err(Status::unimplemented("not needed"))
    }

    async fn delete_operation(
        &self,
        _: Request<longrunning::DeleteOperationRequest>,
    ) -> Result<Response<protobuf::Empty>, Status> {
        Err(Status::unimplemented("not needed"))
    }

    async fn wait_operation(
        &self,
        _: Request<longrunning::WaitOperationRequest>,
    ) -> Result<Response<longrunning::Operation>, Status> {
        Err(Status::unimplemented("not needed"))
    }
}
