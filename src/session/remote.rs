//! Where the probes of a hunt run: in worktrees of this machine, or on a remote service.

use crate::report::Status;
use crate::session::context::Context;
use crate::session::failure::Failure;
use crate::session::plan::Plan;
use crate::session::talk::Talk;
use crate::world::remote::Address;
use crate::world::remote::Service;
use crate::world::remote::address::is_secret;
use crate::world::repo::locate::Location;
use crate::world::repo::private;
use crate::world::run::crew::Crew;
use crate::world::run::executor::Executor;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
#[cfg(feature = "remote")]
use std::sync::atomic::Ordering;

/// The address that stands for this machine.
pub const HERE: &str = "none";

/// The service at an address, with what the configuration says.
///
/// Errors: no address; a file or a variable that is missing; a variable that holds a secret.
pub fn service(text: &str, context: &Context) -> Result<Service, Failure> {
    let usage = |message: String| Failure::new(Status::Usage, message);
    let address = Address::parse(text).map_err(|why| {
        usage(format!("`{text}` is no address of a remote service: {why}"))
            .with_hint("an example is `grpcs://build.example.org:443/main`")
    })?;
    let file = |key: &str| context.configured(key).last().map(PathBuf::from);
    let identity = file("idd.remoteCertificate").zip(file("idd.remoteKey"));
    let pair = |key: &str, value: &str| {
        let (name, value) = value
            .split_once('=')
            .ok_or_else(|| usage(format!("`{key}` is `{value}`, and not of the form `<name>=<value>`")))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    let platform = context
        .configured("idd.remotePlatform")
        .map(|value| pair("idd.remotePlatform", value))
        .collect::<Result<_, Failure>>()?;
    let names: Vec<&str> = context.configured("idd.remoteEnv").collect();
    let secrets: Vec<&str> = names.iter().copied().filter(|name| is_secret(name)).collect();
    if !secrets.is_empty() {
        let message = format!("`idd.remoteEnv` names variables that probably hold secrets: {}", secrets.join(", "));
        return Err(usage(message).with_hint(
            "everybody who can read the service's storage can read the environment of an action; give the variable another name \
             if it holds no secret",
        ));
    }
    let variable = |name: &str| {
        let value = context
            .variable(name)
            .ok_or_else(|| usage(format!("`idd.remoteEnv` names `{name}`, which is not in the environment")))?;
        let value = value.into_string().map_err(|_| usage(format!("the variable `{name}` is not UTF-8")))?;
        Ok((name.to_owned(), value))
    };
    let environment = names.into_iter().map(variable).collect::<Result<_, Failure>>()?;
    let (token_file, authorities) = (file("idd.remoteTokenFile"), file("idd.remoteAuthorities"));
    Ok(Service { address, token_file, authorities, identity, platform, environment })
}

/// The executor of a hunt.
///
/// - `root`: the directory of its sandboxes.
pub fn executor(
    plan: &Plan,
    root: &Path,
    location: &Location,
    (interrupt, talk): (&Arc<AtomicBool>, &mut dyn Talk),
) -> Result<Box<dyn Executor>, Failure> {
    let private = private::private_directory(&location.idd_directory());
    match &plan.remote {
        None => Ok(Box::new(Crew::new(root.to_owned(), private, plan.bad))),
        Some(service) => remote(service, private, location, (interrupt, talk)),
    }
}

#[cfg(feature = "remote")]
fn remote(
    service: &Service,
    private: PathBuf,
    location: &Location,
    (interrupt, talk): (&Arc<AtomicBool>, &mut dyn Talk),
) -> Result<Box<dyn Executor>, Failure> {
    use crate::plural::count;
    use crate::world::remote::client::Client;
    use crate::world::remote::fleet::Fleet;
    use crate::world::remote::toolchain::Toolchain;
    use sha2::Digest as _;
    use sha2::Sha256;

    let failed = |trouble| {
        if interrupt.load(Ordering::Relaxed) {
            return Failure::new(Status::Interrupted, "interrupted before the first test");
        }
        failure(service, &trouble)
    };
    talk.say(&format!("Connecting to `{}`.", service.address));
    let client = Client::connect(service, Arc::clone(interrupt)).map_err(failed)?;
    let toolchain = Toolchain::ask(&client, service).map_err(failed)?;
    let known = count(toolchain.names.len(), "known program");
    talk.say(&format!("The probes run on `{}`, whose workers have {known}.", service.address));
    let of_service = format!("{:?} {:?}", service.address, service.platform);
    let programs = Sha256::digest([of_service.as_bytes(), &toolchain.digest[..]].concat()).into();
    let map = location.idd_directory().join("digests");
    Ok(Box::new(Fleet::new((client, service.clone()), programs, private, &map)))
}

/// A failure of a service, with advice.
#[cfg(feature = "remote")]
pub fn failure(service: &Service, trouble: &crate::world::remote::trouble::Trouble) -> Failure {
    Failure::new(Status::Error, format!("the remote service `{}` failed: {trouble}", service.address))
        .with_hint("`git idd remote check` tests a service; `--remote none` runs the probes on this machine")
}

#[cfg(not(feature = "remote"))]
fn remote(
    _: &Service,
    _: PathBuf,
    _: &Location,
    _: (&Arc<AtomicBool>, &mut dyn Talk),
) -> Result<Box<dyn Executor>, Failure> {
    Err(absent())
}

/// The failure of a program that was built without this.
#[cfg(not(feature = "remote"))]
pub fn absent() -> Failure {
    Failure::new(Status::Usage, "this program was built without remote services")
        .with_hint("`cargo install git-idd --features remote` builds it with them")
}
