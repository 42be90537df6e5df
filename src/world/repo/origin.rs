//! The public address of a repository.

use crate::repo::Repository;

/// The address of the remote `origin` as an absolute URI without user name, password, query or fragment; `None` if
/// there is no such remote or it is a local path. There is no network access.
pub fn address(user: &Repository) -> Option<String> {
    let remote = user.git().find_remote("origin").ok()?;
    published(remote.url().ok()?)
}

fn published(url: &str) -> Option<String> {
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme @ ("https" | "http" | "ssh" | "git"), rest)) => (scheme, rest.to_owned()),
        Some(_) => return None,
        // `host:path` as in scp, unless a slash in front says that it is a path with a colon.
        None => {
            let (host, path) = url.split_once(':').filter(|(host, _)| !host.contains('/'))?;
            ("ssh", format!("{host}/{}", path.trim_start_matches('/')))
        }
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or_default();
    (!host.is_empty() && is_plain(host) && is_plain(path)).then(|| format!("{scheme}://{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_what_is_secret_and_a_path_not_at_all() {
        for (url, expected) in [
            ("https://user:token@example.com/a/b.git?x=1#y", Some("https://example.com/a/b.git")),
            ("ssh://git@example.com:22/a.git", Some("ssh://example.com:22/a.git")),
            ("git@example.com:a/b.git", Some("ssh://example.com/a/b.git")),
            ("example.com:/a/b", Some("ssh://example.com/a/b")),
            ("/srv/a.git", None),
            ("../a:b", None),
            ("file:///srv/a.git", None),
            ("ext::sh -c x", None),
            ("https://", None),
            ("https://exa mple/", None),
            ("https://p@ss@host/x", Some("https://host/x")),
        ] {
            assert_eq!(published(url).as_deref(), expected, "{url}");
        }
    }
}
