//! How the system can be made to permit mounts to users.

use std::fs;
use std::path::Path;

/// A setting of the kernel that forbids mounts to users, the value with which it does so, and the command that permits them.
const SETTINGS: [(&str, &str, &str); 3] = [
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"),
];

/// Files that containers have.
const OF_CONTAINERS: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];

/// The option for a container.
const OPTION: &str = "start the container with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`, or \
                      with `--cap-add SYS_ADMIN` as root";

/// What would permit mounts, as far as it can be seen.
pub fn remedies() -> Vec<String> {
    let is_set = |(name, value, _): &&(&str, &str, &str)| {
        fs::read_to_string(Path::new("/proc/sys").join(name)).is_ok_and(|text| text.trim() == *value)
    };
    let settings = SETTINGS.iter().filter(is_set).map(|(_, _, command)| format!("`{command}`"));
    let is_container = OF_CONTAINERS.iter().any(|file| Path::new(file).exists());
    settings.chain(is_container.then(|| OPTION.to_owned())).collect()
}
