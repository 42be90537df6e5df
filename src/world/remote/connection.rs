//! The connection to a service: encryption, certificates, token.

use crate::remote::address::Service;
use crate::remote::trouble::Trouble;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

/// The deadline of a connection.
pub const LIMIT: Duration = Duration::from_secs(20);

/// The interval in which an idle connection is tested.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// The service as an endpoint. A connection is made with the first call, and again when it breaks.
///
/// Errors: a file cannot be read, or holds no certificate or key.
pub fn endpoint(service: &Service) -> Result<Endpoint, Trouble> {
    let scheme = if service.address.is_secure { "https" } else { "http" };
    let invalid = |error: tonic::transport::Error| Trouble::lasting(format!("`{}`: {error}", service.address));
    let mut endpoint = Endpoint::from_shared(format!("{scheme}://{}", service.address.authority()))
        .map_err(invalid)?
        .connect_timeout(LIMIT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE);
    if service.address.is_secure {
        let mut tls = match &service.authorities {
            Some(file) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(contents(file)?)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        if let Some((certificate, key)) = &service.identity {
            tls = tls.identity(Identity::from_pem(contents(certificate)?, contents(key)?));
        }
        endpoint = endpoint.tls_config(tls).map_err(invalid)?;
    }
    Ok(endpoint)
}

fn contents(file: &Path) -> Result<Vec<u8>, Trouble> {
    fs::read(file).map_err(|error| Trouble::lasting(format!("failed to read `{}`: {error}", file.display())))
}

/// The value of `authorization` for the token in a file.
pub fn token(file: &Path) -> Result<MetadataValue<Ascii>, Trouble> {
    let content = contents(file)?;
    let token = str::from_utf8(&content).ok().map(str::trim).filter(|token| !token.is_empty());
    let value = token.and_then(|token| format!("Bearer {token}").parse::<MetadataValue<Ascii>>().ok());
    let mut value = value.ok_or_else(|| Trouble::lasting(format!("`{}` holds no token", file.display())))?;
    value.set_sensitive(true);
    Ok(value)
}
