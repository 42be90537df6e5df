//! An archive of classes, as a virtual machine reads it: zip, nothing compressed.

/// Makes an archive of a manifest and files.
///
/// - `manifest`: its lines behind the version; each ends with a line feed.
/// - `files`: paths and contents.
pub(super) fn archive(manifest: &str, files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let manifest = format!("Manifest-Version: 1.0\n{manifest}\n").into_bytes();
    let manifest = ("META-INF/MANIFEST.MF".to_owned(), manifest);
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    let mut n_files: u16 = 0;
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("a class is shorter than 4 GiB");
    for (name, content) in std::iter::once(&manifest).chain(files) {
        let place = length(&bytes);
        let mut entry = Vec::new();
        // Version 1.0, no flags, stored, at midnight of the first day that zip knows.
        for number in [10_u16, 0, 0, 0, 0x21] {
            entry.extend(number.to_le_bytes());
        }
        for number in [crc32fast::hash(content), length(content), length(content)] {
            entry.extend(number.to_le_bytes());
        }
        entry.extend(u16::try_from(name.len()).expect("a name is short").to_le_bytes());
        entry.extend([0; 2]);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&entry);
        bytes.extend(name.as_bytes());
        bytes.extend(content);
        directory.extend(b"PK\x01\x02\x0a\x00");
        directory.extend(&entry);
        // No comment, the first disk, no attributes.
        directory.extend([0; 10]);
        directory.extend(place.to_le_bytes());
        directory.extend(name.as_bytes());
        n_files += 1;
    }
    let (place, size) = (length(&bytes), length(&directory));
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
    bytes.extend([n_files.to_le_bytes(), n_files.to_le_bytes()].concat());
    bytes.extend([size.to_le_bytes(), place.to_le_bytes()].concat());
    bytes.extend([0; 2]);
    bytes
}
