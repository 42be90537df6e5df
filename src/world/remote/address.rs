//! Where a service is, and what a connection to it needs.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

/// The port of a service if its address names none.
const PORT: u16 = 8980;

/// An address such as `grpcs://build.example.org:443/main`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Whether the connection is encrypted.
    pub is_secure: bool,
    /// The host's name or number.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The name of the instance, which a service can ask for; often empty.
    pub instance: String,
}

impl Address {
    /// Reads an address. The error is a phrase for people.
    ///
    /// `grpcs://` and `https://` are encrypted, `grpc://` and `http://` are not.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err("an address begins with `grpcs://`, or with `grpc://` for a service of this machine".to_owned());
        };
        let is_secure = match scheme.to_ascii_lowercase().as_str() {
            "grpcs" | "https" => true,
            "grpc" | "http" => false,
            _ => return Err(format!("`{scheme}://` is not known; `grpcs://` and `grpc://` are")),
        };
        let (place, instance) = rest.split_once('/').unwrap_or((rest, ""));
        if place.contains('@') {
            return Err("an address holds no name or password; `git config idd.remoteTokenFile <file>` names a token"
                .to_owned());
        }
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                (host, port.parse().map_err(|_| format!("`{port}` is no port"))?)
            }
            _ => (place, PORT),
        };
        let plain = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_name = |host: &str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        if plain.is_empty() || !(is_name(plain) || plain.parse::<IpAddr>().is_ok()) {
            return Err(format!("`{host}` is no host"));
        }
        if instance.chars().any(char::is_control) {
            return Err("the name of an instance has no control characters".to_owned());
        }
        Ok(Self { is_secure, host: plain.to_owned(), port, instance: instance.trim_end_matches('/').to_owned() })
    }

    /// Whether it is on this machine.
    pub fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost") || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Host and port, as in an address.
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "grpc{}://{}", if self.is_secure { "s" } else { "" }, self.authority())?;
        if self.instance.is_empty() { Ok(()) } else { write!(f, "/{}", self.instance) }
    }
}

/// A service with everything that is sent to it apart from trees and commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Its address.
    pub address: Address,
    /// The file with the token for `authorization: Bearer`; read for each connection.
    pub token_file: Option<PathBuf>,
    /// The file with the certificates that sign the service's; those of the system if there is none.
    pub authorities: Option<PathBuf>,
    /// The files with this program's certificate and key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The properties that a worker must have, by name.
    pub platform: BTreeMap<String, String>,
    /// The environment of the commands.
    pub environment: BTreeMap<String, String>,
}

/// `PATH` of the commands if the user names none.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

impl Service {
    /// The environment of the commands, with a `PATH` if it has none.
    pub fn commands_environment(&self) -> BTreeMap<String, String> {
        let mut environment = BTreeMap::from([("PATH".to_owned(), PATH.to_owned())]);
        environment.extend(self.environment.clone());
        environment
    }
}

/// Parts of the names of variables that hold secrets.
const SECRETS: [&str; 9] =
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "PRIVATE", "APIKEY", "API_KEY", "ACCESS_KEY"];

/// Whether a variable of this name probably holds a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRETS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_written() {
        for (text, host, port, instance, is_secure) in [
            ("grpcs://build.example.org", "build.example.org", 8980, "", true),
            ("grpcs://build.example.org:443/main/x", "build.example.org", 443, "main/x", true),
            ("grpc://127.0.0.1:1/", "127.0.0.1", 1, "", false),
            ("http://[::1]:8980/a", "::1", 8980, "a", false),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!((&*address.host, address.port, &*address.instance), (host, port, instance), "{text}");
            assert_eq!(address.is_secure, is_secure, "{text}");
            assert_eq!(Address::parse(&address.to_string()), Ok(address));
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "host:1",
            "ftp://host",
            "grpc://",
            "grpc://host:99999",
            "grpc://host:x",
            "grpc://me:pw@host:1",
            "grpc://ho st:1",
            "grpc://[::1",
            "grpcs://host:1/a\u{1b}",
            "unix:/run/x",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for (host, is_loopback) in [
            ("localhost", true),
            ("127.9.9.9", true),
            ("[::1]", true),
            ("10.0.0.1", false),
            ("localhost.example", false),
        ] {
            assert_eq!(Address::parse(&format!("grpc://{host}:1")).unwrap().is_loopback(), is_loopback, "{host}");
        }
    }

    #[test]
    fn names_of_secrets_are_known() {
        for name in ["GITHUB_TOKEN", "aws_secret_access_key", "DB_PASSWORD", "NPM_API_KEY"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "LANG", "MAKEFLAGS", "KEYMAP"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
