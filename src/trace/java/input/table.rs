//! What calls of the library bring from outside of the program, by their names.

use crate::java::contents::fits;

/// How much of an input a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputExtent {
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
pub enum InputEffect {
    /// It makes a reader of what the program has in memory: that is no input.
    Memory,
    /// It makes the name of a file, of a name and parts of names.
    Names,
    /// It opens a file of its first argument, or goes on with what it is given.
    Opens,
    /// It makes a reader of its first argument. A text there is what is read, not a name.
    Wraps,
    /// It reads from its object, or from its first argument that can be read.
    Reads(InputExtent),
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
type ClassRow = (&'static str, &'static [&'static str], InputEffect);

/// The first row that fits counts.
const ROWS: &[ClassRow] = &[
    // Readers of memory.
    ("java/io/StringReader", &["<init>"], InputEffect::Memory),
    ("java/io/CharArrayReader", &["<init>"], InputEffect::Memory),
    ("java/io/ByteArrayInputStream", &["<init>"], InputEffect::Memory),
    ("java/io/StringBufferInputStream", &["<init>"], InputEffect::Memory),
    ("java/io/PipedReader", &["<init>"], InputEffect::Memory),
    ("java/io/PipedInputStream", &["<init>"], InputEffect::Memory),
    ("java/io/Reader", &["of", "nullReader"], InputEffect::Memory),
    ("java/io/InputStream", &["nullInputStream"], InputEffect::Memory),
    // Names of files.
    ("java/io/File", &["<init>", "toPath", "toURI", "getAbsolute*", "getCanonical*"], InputEffect::Names),
    ("java/nio/file/Path", &["of", "resolve*", "toFile", "to*Path", "toUri", "normalize"], InputEffect::Names),
    ("java/nio/file/Paths", &["get"], InputEffect::Names),
    ("java/nio/file/FileSystem", &["getPath"], InputEffect::Names),
    ("java/net/URI", &["<init>", "create", "toURL"], InputEffect::Names),
    ("java/net/URL", &["<init>", "toURI", "of"], InputEffect::Names),
    // What is opened.
    ("java/io/FileReader", &["<init>"], InputEffect::Opens),
    ("java/io/FileInputStream", &["<init>"], InputEffect::Opens),
    ("java/io/RandomAccessFile", &["<init>"], InputEffect::Opens),
    ("java/util/zip/ZipFile", &["<init>"], InputEffect::Opens),
    ("java/util/jar/JarFile", &["<init>"], InputEffect::Opens),
    ("java/nio/file/Files", &["newBufferedReader", "newInputStream", "newByteChannel"], InputEffect::Opens),
    ("java/nio/channels/*", &["open"], InputEffect::Opens),
    ("java/lang/Class", &["getResource*"], InputEffect::Opens),
    ("java/lang/ClassLoader", &["getResource*", "getSystemResource*"], InputEffect::Opens),
    ("java/net/URL", &["openStream", "openConnection"], InputEffect::Opens),
    ("kotlin/io/FilesKt*", &["reader*", "bufferedReader*", "inputStream*"], InputEffect::Opens),
    // What goes on with something that is open.
    ("java/util/Scanner", &["<init>"], InputEffect::Wraps),
    ("java/io/StreamTokenizer", &["<init>"], InputEffect::Wraps),
    ("*Reader", &["<init>"], InputEffect::Wraps),
    ("*InputStream", &["<init>"], InputEffect::Wraps),
    ("java/nio/channels/Channels", &["new*"], InputEffect::Wraps),
    ("*", &["getInputStream", "getErrorStream", "getReader", "getChannel"], InputEffect::Wraps),
    ("kotlin/io/TextStreamsKt*", &["buffered*"], InputEffect::Wraps),
    // What reads.
    ("java/io/BufferedReader", &["readLine"], InputEffect::Reads(InputExtent::Line)),
    ("java/io/LineNumberReader", &["readLine"], InputEffect::Reads(InputExtent::Line)),
    ("java/io/RandomAccessFile", &["readLine"], InputEffect::Reads(InputExtent::Line)),
    ("java/io/DataInputStream", &["readLine"], InputEffect::Reads(InputExtent::Line)),
    ("java/io/Console", &["readLine", "readPassword"], InputEffect::Reads(InputExtent::Line)),
    ("java/lang/IO", &["readln"], InputEffect::Reads(InputExtent::Line)),
    ("kotlin/io/ConsoleKt", &["readLine", "readln*"], InputEffect::Reads(InputExtent::Line)),
    ("java/util/Scanner", &["nextLine"], InputEffect::Reads(InputExtent::Line)),
    ("java/util/Scanner", &["next*"], InputEffect::Reads(InputExtent::Word)),
    ("java/util/Scanner", &["hasNext*"], InputEffect::Reads(InputExtent::Looks)),
    ("java/util/Scanner", &["find*", "skip"], InputEffect::Reads(InputExtent::Part)),
    ("java/util/Scanner", &["tokens", "findAll"], InputEffect::Reads(InputExtent::Rest)),
    ("java/io/StreamTokenizer", &["nextToken"], InputEffect::Reads(InputExtent::Part)),
    ("*Reader", &["mark"], InputEffect::Reads(InputExtent::Mark)),
    ("*Reader", &["reset"], InputEffect::Reads(InputExtent::Reset)),
    ("*InputStream", &["mark"], InputEffect::Reads(InputExtent::Mark)),
    ("*InputStream", &["reset"], InputEffect::Reads(InputExtent::Reset)),
    ("*Reader", &["read", "skip"], InputEffect::Reads(InputExtent::Characters)),
    ("*Reader", &["lines", "readAll*", "transferTo"], InputEffect::Reads(InputExtent::Rest)),
    ("*Reader", &["ready"], InputEffect::Reads(InputExtent::Looks)),
    ("*Reader", &["read*"], InputEffect::Reads(InputExtent::Part)),
    ("*InputStream", &["read", "skip"], InputEffect::Reads(InputExtent::Bytes)),
    ("*InputStream", &["readAllBytes", "transferTo"], InputEffect::Reads(InputExtent::Rest)),
    ("*InputStream", &["available"], InputEffect::Reads(InputExtent::Looks)),
    ("*InputStream", &["read*", "skip*", "getNext*"], InputEffect::Reads(InputExtent::Part)),
    ("java/io/RandomAccessFile", &["read"], InputEffect::Reads(InputExtent::Bytes)),
    ("java/io/RandomAccessFile", &["length"], InputEffect::Reads(InputExtent::Looks)),
    ("java/io/RandomAccessFile", &["read*", "seek", "skip*"], InputEffect::Reads(InputExtent::Part)),
    ("*Channel", &["read", "map", "receive"], InputEffect::Reads(InputExtent::Part)),
    ("*Channel", &["size"], InputEffect::Reads(InputExtent::Looks)),
    ("java/io/DataInput", &["read*", "skip*"], InputEffect::Reads(InputExtent::Part)),
    ("java/io/ObjectInput", &["read*", "skip*"], InputEffect::Reads(InputExtent::Part)),
    (
        "java/nio/file/Files",
        &["readAll*", "readString", "lines", "mismatch", "copy"],
        InputEffect::Reads(InputExtent::Whole),
    ),
    (
        "java/nio/file/Files",
        &["list", "walk*", "find", "exists", "notExists", "size", "is*", "getLast*", "read*", "newDirectoryStream"],
        InputEffect::Reads(InputExtent::Looks),
    ),
    (
        "java/io/File",
        &["exists", "is*", "length", "list*", "lastModified", "can*", "getTotalSpace", "getFreeSpace"],
        InputEffect::Reads(InputExtent::Looks),
    ),
    ("java/util/zip/ZipFile", &["entries", "getEntry", "stream", "size"], InputEffect::Reads(InputExtent::Part)),
    (
        "java/util/jar/JarFile",
        &["entries", "getEntry", "getManifest", "stream", "size"],
        InputEffect::Reads(InputExtent::Part),
    ),
    ("java/sql/ResultSet", &["next", "get*"], InputEffect::Reads(InputExtent::Part)),
    ("java/net/http/HttpClient", &["send*"], InputEffect::Reads(InputExtent::Part)),
    ("kotlin/io/FilesKt*", &["read*", "forEach*", "useLines*"], InputEffect::Reads(InputExtent::Whole)),
    (
        "kotlin/io/TextStreamsKt*",
        &["read*", "forEach*", "useLines*", "lineSequence*"],
        InputEffect::Reads(InputExtent::Rest),
    ),
    // What the environment and the system say.
    ("java/lang/System", &["getenv"], InputEffect::Environment),
    ("java/lang/System", &["getProperty"], InputEffect::Property),
    ("java/lang/*", &["getInteger", "getLong", "getBoolean"], InputEffect::Property),
    (
        "*",
        &["load*", "parse*", "read*", "from*", "copy*", "transferTo", "toString", "to*Array"],
        InputEffect::ReadsArgument,
    ),
];

/// Calls that ask the system.
const OF_SYSTEM: &[ClassRow] = &[
    ("java/lang/System", &["currentTimeMillis", "nanoTime"], InputEffect::System),
    ("java/lang/Math", &["random"], InputEffect::System),
    ("java/lang/Runtime", &["totalMemory", "freeMemory", "maxMemory", "availableProcessors"], InputEffect::System),
    ("java/lang/ProcessHandle", &["pid", "current"], InputEffect::System),
    ("java/time/*", &["now", "millis", "instant"], InputEffect::System),
    ("java/util/Date", &["<init>"], InputEffect::System),
    ("java/util/Calendar", &["getInstance"], InputEffect::System),
    ("java/util/GregorianCalendar", &["<init>"], InputEffect::System),
    ("java/util/Random", &["<init>"], InputEffect::System),
    ("java/util/SplittableRandom", &["<init>"], InputEffect::System),
    ("java/util/UUID", &["randomUUID"], InputEffect::System),
    ("java/util/concurrent/ThreadLocalRandom", &["current"], InputEffect::System),
    ("java/security/SecureRandom", &["<init>", "getInstance*"], InputEffect::System),
];

/// What a call of a method of a class does; `None` if it brings nothing from outside.
///
/// - `class`: with slashes.
pub fn effect(class: &str, method: &str) -> Option<InputEffect> {
    let rows = OF_SYSTEM.iter().chain(ROWS);
    let mut fitting = rows.filter(|(of, methods, _)| fits(class, of) && methods.iter().any(|name| fits(method, name)));
    fitting.next().map(|(.., effect)| *effect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_that_fits_says_what_a_call_does() {
        let check =
            |class: &str, method: &str, expected| assert_eq!(effect(class, method), expected, "{class}.{method}");
        check("java/io/StringReader", "<init>", Some(InputEffect::Memory));
        check("java/io/InputStreamReader", "<init>", Some(InputEffect::Wraps));
        check("java/io/FileReader", "<init>", Some(InputEffect::Opens));
        check("java/io/BufferedReader", "readLine", Some(InputEffect::Reads(InputExtent::Line)));
        check("java/util/Scanner", "nextInt", Some(InputEffect::Reads(InputExtent::Word)));
        check("java/nio/file/Path", "toAbsolutePath", Some(InputEffect::Names));
        check("java/util/Properties", "load", Some(InputEffect::ReadsArgument));
        check("java/time/LocalDate", "now", Some(InputEffect::System));
        check("java/util/StringTokenizer", "nextToken", None);
        check("java/util/Random", "nextInt", None);
        check("java/util/ArrayList", "add", None);
    }
}
