//! The remote service that the user names, with what the configuration says of it.

use crate::{Context, Failure};
use idd_world::remote::address::is_secret;
use idd_world::remote::{Address, Service};
use std::path::PathBuf;

/// The address that stands for this machine.
pub const HERE: &str = "none";

/// The service at an address, with what the configuration says.
///
/// Errors: no address; a certificate without a key; a variable that is missing, or probably holds a secret.
pub fn named(text: &str, context: &Context) -> Result<Service, Failure> {
    let usage = |message: String| Failure::usage(message);
    let address = Address::parse(text).map_err(|why| {
        usage(format!("`{text}` is no address of a remote service: {why}"))
            .with_hint("an example is `grpcs://build.example.org:443/main`")
    })?;
    let file = |key: &str| context.configured(key).last().map(PathBuf::from);
    let (certificate, key) = (file("idd.remoteCertificate"), file("idd.remoteKey"));
    if certificate.is_some() != key.is_some() {
        return Err(usage("one of `idd.remoteCertificate` and `idd.remoteKey` is missing".to_owned())
            .with_hint("a certificate needs its key, and a key its certificate"));
    }
    let identity = certificate.zip(key);
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
