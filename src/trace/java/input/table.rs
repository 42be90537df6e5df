//! What calls of the library bring from outside of the program, by their names.

/// How much of an input a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// None of it: the call only asks whether it is there, or how long it is.
    Looks,
    /// Bytes: one, which the call returns, or as many as the call returns.
    Bytes,
    /// Characters: one, which the call returns, or as many as the call returns.
    Characters,
    /// A line: the text that the call returns, and its end.
    Line,
    /// The next word: the text or number that the call returns.
    Word,
    /// All that is left.
    Rest,
    /// The whole file, whatever was read of it before.
    Whole,
    /// A part that is not known.
    Part,
    /// Nothing: the call notes the place, to come back to it.
    Mark,
    /// Nothing: the call goes back to the place that was noted.
    Reset,
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It makes a reader of what the program has in memory: that is no input.
    Memory,
    /// It makes the name of a file, of a name and parts of names.
    Names,
    /// It opens a file of its first argument, or goes on with what it is given.
    Opens,
    /// It makes a reader of its first argument. A text there is what is read, not a name.
    Wraps,
    /// It reads from its object, or from its first argument that can be read.
    Reads(Extent),
    /// It reads from an open argument, if there is one.
    ReadsArgument,
    /// It asks for the variable of the environment that its argument names.
    Environment,
    /// It asks for the property of the virtual machine that its argument names.
    Property,
    /// It asks the system for the time, a random number, a number of a process. A constructor does so without arguments.
    System,
}

/// A class, its methods, and what they do. A `*` stands for any text, at one end of a name.
type Row = (&'static str, &'static [&'static str], Effect);

/// The first row that fits counts.
const ROWS: &[Row] = &[
    // Readers of memory.
    ("java/io/StringReader", &["<init>"], Effect::Memory),
    ("java/io/CharArrayReader", &["<init>"], Effect::Memory),
    ("java/io/ByteArrayInputStream", &["<init>"], Effect::Memory),
    ("java/io/StringBufferInputStream", &["<init>"], Effect::Memory),
    ("java/io/PipedReader", &["<init>"], Effect::Memory),
    ("java/io/PipedInputStream", &["<init>"], Effect::Memory),
    ("java/io/Reader", &["of", "nullReader"], Effect::Memory),
    ("java/io/InputStream", &["nullInputStream"], Effect::Memory),
    // Names of files.
    ("java/io/File", &["<init>", "toPath", "toURI", "getAbsolute*", "getCanonical*"], Effect::Names),
    ("java/nio/file/Path", &["of", "resolve*", "toFile", "to*Path", "toUri", "normalize"], Effect::Names),
    ("java/nio/file/Paths", &["get"], Effect::Names),
    ("java/nio/file/FileSystem", &["getPath"], Effect::Names),
    ("java/net/URI", &["<init>", "create", "toURL"], Effect::Names),
    ("java/net/URL", &["<init>", "toURI", "of"], Effect::Names),
    // What is opened.
    ("java/io/FileReader", &["<init>"], Effect::Opens),
    ("java/io/FileInputStream", &["<init>"], Effect::Opens),
    ("java/io/RandomAccessFile", &["<init>"], Effect::Opens),
    ("java/util/zip/ZipFile", &["<init>"], Effect::Opens),
    ("java/util/jar/JarFile", &["<init>"], Effect::Opens),
    ("java/nio/file/Files", &["newBufferedReader", "newInputStream", "newByteChannel"], Effect::Opens),
    ("java/nio/channels/*", &["open"], Effect::Opens),
    ("java/lang/Class", &["getResource*"], Effect::Opens),
    ("java/lang/ClassLoader", &["getResource*", "getSystemResource*"], Effect::Opens),
    ("java/net/URL", &["openStream", "openConnection"], Effect::Opens),
    ("kotlin/io/FilesKt*", &["reader*", "bufferedReader*", "inputStream*"], Effect::Opens),
    // What goes on with something that is open.
    ("java/util/Scanner", &["<init>"], Effect::Wraps),
    ("java/io/StreamTokenizer", &["<init>"], Effect::Wraps),
    ("*Reader", &["<init>"], Effect::Wraps),
    ("*InputStream", &["<init>"], Effect::Wraps),
    ("java/nio/channels/Channels", &["new*"], Effect::Wraps),
    ("*", &["getInputStream", "getErrorStream", "getReader", "getChannel"], Effect::Wraps),
    ("kotlin/io/TextStreamsKt*", &["buffered*"], Effect::Wraps),
    // What reads.
    ("java/io/BufferedReader", &["readLine"], Effect::Reads(Extent::Line)),
    ("java/io/LineNumberReader", &["readLine"], Effect::Reads(Extent::Line)),
    ("java/io/RandomAccessFile", &["readLine"], Effect::Reads(Extent::Line)),
    ("java/io/DataInputStream", &["readLine"], Effect::Reads(Extent::Line)),
    ("java/io/Console", &["readLine", "readPassword"], Effect::Reads(Extent::Line)),
    ("java/lang/IO", &["readln"], Effect::Reads(Extent::Line)),
    ("kotlin/io/ConsoleKt", &["readLine", "readln*"], Effect::Reads(Extent::Line)),
    ("java/util/Scanner", &["nextLine"], Effect::Reads(Extent::Line)),
    ("java/util/Scanner", &["next*"], Effect::Reads(Extent::Word)),
    ("java/util/Scanner", &["hasNext*"], Effect::Reads(Extent::Looks)),
    ("java/util/Scanner", &["find*", "skip"], Effect::Reads(Extent::Part)),
    ("java/util/Scanner", &["tokens", "findAll"], Effect::Reads(Extent::Rest)),
    ("java/io/StreamTokenizer", &["nextToken"], Effect::Reads(Extent::Part)),
    ("*Reader", &["mark"], Effect::Reads(Extent::Mark)),
    ("*Reader", &["reset"], Effect::Reads(Extent::Reset)),
    ("*InputStream", &["mark"], Effect::Reads(Extent::Mark)),
    ("*InputStream", &["reset"], Effect::Reads(Extent::Reset)),
    ("*Reader", &["read", "skip"], Effect::Reads(Extent::Characters)),
    ("*Reader", &["lines", "readAll*", "transferTo"], Effect::Reads(Extent::Rest)),
    ("*Reader", &["ready"], Effect::Reads(Extent::Looks)),
    ("*Reader", &["read*"], Effect::Reads(Extent::Part)),
    ("*InputStream", &["read", "skip"], Effect::Reads(Extent::Bytes)),
    ("*InputStream", &["readAllBytes", "transferTo"], Effect::Reads(Extent::Rest)),
    ("*InputStream", &["available"], Effect::Reads(Extent::Looks)),
    ("*InputStream", &["read*", "skip*", "getNext*"], Effect::Reads(Extent::Part)),
    ("java/io/RandomAccessFile", &["read"], Effect::Reads(Extent::Bytes)),
    ("java/io/RandomAccessFile", &["length"], Effect::Reads(Extent::Looks)),
    ("java/io/RandomAccessFile", &["read*", "seek", "skip*"], Effect::Reads(Extent::Part)),
    ("*Channel", &["read", "map", "receive"], Effect::Reads(Extent::Part)),
    ("*Channel", &["size"], Effect::Reads(Extent::Looks)),
    ("java/io/DataInput", &["read*", "skip*"], Effect::Reads(Extent::Part)),
    ("java/io/ObjectInput", &["read*", "skip*"], Effect::Reads(Extent::Part)),
    ("java/nio/file/Files", &["readAll*", "readString", "lines", "mismatch", "copy"], Effect::Reads(Extent::Whole)),
    (
        "java/nio/file/Files",
        &["list", "walk*", "find", "exists", "notExists", "size", "is*", "getLast*", "read*", "newDirectoryStream"],
        Effect::Reads(Extent::Looks),
    ),
    (
        "java/io/File",
        &["exists", "is*", "length", "list*", "lastModified", "can*", "getTotalSpace", "getFreeSpace"],
        Effect::Reads(Extent::Looks),
    ),
    ("java/util/zip/ZipFile", &["entries", "getEntry", "stream", "size"], Effect::Reads(Extent::Part)),
    ("java/util/jar/JarFile", &["entries", "getEntry", "getManifest", "stream", "size"], Effect::Reads(Extent::Part)),
    ("java/sql/ResultSet", &["next", "get*"], Effect::Reads(Extent::Part)),
    ("java/net/http/HttpClient", &["send*"], Effect::Reads(Extent::Part)),
    ("kotlin/io/FilesKt*", &["read*", "forEach*", "useLines*"], Effect::Reads(Extent::Whole)),
    ("kotlin/io/TextStreamsKt*", &["read*", "forEach*", "useLines*", "lineSequence*"], Effect::Reads(Extent::Rest)),
    // What the environment and the system say.
    ("java/lang/System", &["getenv"], Effect::Environment),
    ("java/lang/System", &["getProperty"], Effect::Property),
    ("java/lang/*", &["getInteger", "getLong", "getBoolean"], Effect::Property),
    ("*", &["load*", "parse*", "read*", "from*", "copy*", "transferTo", "toString", "to*Array"], Effect::ReadsArgument),
];

/// Calls that ask the system.
const OF_SYSTEM: &[Row] = &[
    ("java/lang/System", &["currentTimeMillis", "nanoTime"], Effect::System),
    ("java/lang/Math", &["random"], Effect::System),
    ("java/lang/Runtime", &["totalMemory", "freeMemory", "maxMemory", "availableProcessors"], Effect::System),
    ("java/lang/ProcessHandle", &["pid", "current"], Effect::System),
    ("java/time/*", &["now", "millis", "instant"], Effect::System),
    ("java/util/Date", &["<init>"], Effect::System),
    ("java/util/Calendar", &["getInstance"], Effect::System),
    ("java/util/GregorianCalendar", &["<init>"], Effect::System),
    ("java/util/Random", &["<init>"], Effect::System),
    ("java/util/SplittableRandom", &["<init>"], Effect::System),
    ("java/util/UUID", &["randomUUID"], Effect::System),
    ("java/util/concurrent/ThreadLocalRandom", &["current"], Effect::System),
    ("java/security/SecureRandom", &["<init>", "getInstance*"], Effect::System),
];

/// What a call of a method of a class does; `None` if it brings nothing from outside.
///
/// - `class`: with slashes.
pub fn effect(class: &str, method: &str) -> Option<Effect> {
    let rows = OF_SYSTEM.iter().chain(ROWS);
    let mut fitting = rows.filter(|(of, methods, _)| fits(class, of) && methods.iter().any(|name| fits(method, name)));
    fitting.next().map(|(.., effect)| *effect)
}

/// Whether a name is the one of a pattern.
fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_that_fits_says_what_a_call_does() {
        let check =
            |class: &str, method: &str, expected| assert_eq!(effect(class, method), expected, "{class}.{method}");
        check("java/io/StringReader", "<init>", Some(Effect::Memory));
        check("java/io/InputStreamReader", "<init>", Some(Effect::Wraps));
        check("java/io/FileReader", "<init>", Some(Effect::Opens));
        check("java/io/BufferedReader", "readLine", Some(Effect::Reads(Extent::Line)));
        check("java/util/Scanner", "nextInt", Some(Effect::Reads(Extent::Word)));
        check("java/nio/file/Path", "toAbsolutePath", Some(Effect::Names));
        check("java/util/Properties", "load", Some(Effect::ReadsArgument));
        check("java/time/LocalDate", "now", Some(Effect::System));
        check("java/util/StringTokenizer", "nextToken", None);
        check("java/util/Random", "nextInt", None);
        check("java/util/ArrayList", "add", None);
    }
}
