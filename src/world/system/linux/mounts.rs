//! Makes the mounts of a [`MountView`] in the process that is about to execute a command.
//!
//! The process gets a mount namespace of its own, from which no mount reaches the system. A user who may not mount gets a
//! user namespace around it, with the same user and group; executing a program takes the rights in it away again.
//!
//! Source: `mount_namespaces(7)`, `user_namespaces(7)`, the kernel's `overlayfs.rst`.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::{io, mem, ptr};

use rustix::io::Errno;

use crate::system::view::{Mount, MountView, Rights};

/// The kernel's name of the file system.
const OVERLAY: &CStr = c"overlay";

/// A view as the kernel takes it.
pub(super) struct Mounts {
    flags: libc::c_int,
    /// The files that say which users and groups the namespace has, with their content.
    maps: Vec<(CString, Vec<u8>)>,
    all: Vec<Prepared>,
}

struct Prepared {
    from: CString,
    to: CString,
    kind: Option<&'static CStr>,
    flags: libc::c_ulong,
    options: Option<CString>,
    is_read_only: bool,
}

impl Mounts {
    /// Errors: a path has a zero byte.
    pub(super) fn new(view: &MountView) -> io::Result<Self> {
        let is_of_namespace = view.rights == Rights::OfNamespace;
        let maps = if is_of_namespace {
            let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
            vec![
                (c"/proc/self/setgroups".to_owned(), b"deny".to_vec()),
                (c"/proc/self/uid_map".to_owned(), format!("{user} {user} 1").into_bytes()),
                (c"/proc/self/gid_map".to_owned(), format!("{group} {group} 1").into_bytes()),
            ]
        } else {
            Vec::new()
        };
        let flags = libc::CLONE_NEWNS | if is_of_namespace { libc::CLONE_NEWUSER } else { 0 };
        let all = view.mounts.iter().map(|mount| Prepared::new(mount, view.rights)).collect::<io::Result<_>>()?;
        Ok(Self { flags, maps, all })
    }

    /// Makes the mounts for the calling process.
    ///
    /// # Safety
    ///
    /// It makes only system calls, so it may be called between `vfork` and `exec`.
    #[expect(unsafe_code, reason = "no safe interface of these system calls works without an allocation")]
    pub(super) unsafe fn enter(&self) -> Result<(), Errno> {
        // SAFETY: all strings end with a zero, and live as long as `self`.
        unsafe {
            check(libc::unshare(self.flags))?;
            for (path, content) in &self.maps {
                write(path, content)?;
            }
            let flags = libc::MS_REC | libc::MS_PRIVATE;
            check(libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), flags, ptr::null()))?;
            for mount in &self.all {
                let kind = mount.kind.map_or(ptr::null(), CStr::as_ptr);
                let options = mount.options.as_ref().map_or(ptr::null(), |options| options.as_ptr());
                check(libc::mount(mount.from.as_ptr(), mount.to.as_ptr(), kind, mount.flags, options.cast()))?;
                if mount.is_read_only {
                    forbid_writing(&mount.to)?;
                }
            }
        }
        Ok(())
    }
}

impl Prepared {
    fn new(mount: &Mount, rights: Rights) -> io::Result<Self> {
        let path = |path: &Path| CString::new(path.as_os_str().as_bytes());
        Ok(match mount {
            Mount::Bind { from, to, is_read_only } => Self {
                from: path(from)?,
                to: path(to)?,
                kind: None,
                flags: libc::MS_BIND | libc::MS_REC,
                options: None,
                is_read_only: *is_read_only,
            },
            Mount::Overlay { lower, upper, work, to } => {
                let mut options = Vec::new();
                for (name, directory) in [("lowerdir=", lower), (",upperdir=", upper), (",workdir=", work)] {
                    options.extend(name.bytes());
                    options.extend(escaped(directory));
                }
                if rights == Rights::OfNamespace {
                    options.extend(b",userxattr");
                }
                Self {
                    from: OVERLAY.to_owned(),
                    to: path(to)?,
                    kind: Some(OVERLAY),
                    flags: 0,
                    options: Some(CString::new(options)?),
                    is_read_only: false,
                }
            }
        })
    }
}

/// Makes a mount read-only, and keeps its other attributes, which a user may not change.
///
/// # Safety
///
/// As for [`Mounts::enter`].
#[expect(unsafe_code, reason = "as above")]
unsafe fn forbid_writing(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path ends with a zero, and the kernel reads the structure, whose size is given.
    unsafe {
        let mut attributes: libc::mount_attr = mem::zeroed();
        attributes.attr_set = libc::MOUNT_ATTR_RDONLY;
        let (attributes, size) = (&raw const attributes, size_of::<libc::mount_attr>());
        let done = libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, path.as_ptr(), 0, attributes, size);
        check(if done < 0 { -1 } else { 0 })
    }
}

/// A path in the options of an overlay.
fn escaped(path: &Path) -> Vec<u8> {
    let escape = |byte: &u8| if b"\\:,".contains(byte) { vec![b'\\', *byte] } else { vec![*byte] };
    path.as_os_str().as_bytes().iter().flat_map(escape).collect()
}

fn check(result: libc::c_int) -> Result<(), Errno> {
    if result < 0 { Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL)) } else { Ok(()) }
}

/// # Safety
///
/// As for [`Mounts::enter`].
#[expect(unsafe_code, reason = "as above")]
unsafe fn write(path: &CStr, content: &[u8]) -> Result<(), Errno> {
    // SAFETY: the path ends with a zero, and the content is as long as said.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(file)?;
        let written = libc::write(file, content.as_ptr().cast(), content.len());
        let result = check(if written < 0 { -1 } else { 0 });
        libc::close(file);
        result
    }
}
