//! What calls of the library do to the objects that they get.

/// Beginnings of the names of classes whose objects never change.
const CONSTANT: [&str; 16] = [
    "java.lang.String",
    "java.lang.Integer",
    "java.lang.Long",
    "java.lang.Short",
    "java.lang.Byte",
    "java.lang.Character",
    "java.lang.Boolean",
    "java.lang.Float",
    "java.lang.Double",
    "java.lang.Class",
    "java.lang.Enum",
    "java.math.",
    "java.time.",
    "java.util.Optional",
    "java.util.UUID",
    "java.util.Locale",
];

/// Classes whose names begin like that, but whose objects change.
const CHANGING: [&str; 3] = ["java.lang.StringBuilder", "java.lang.StringBuffer", "java.lang.ClassLoader"];

/// Names of methods that leave their object as it is, and beginnings of such names.
const READS: [&str; 36] = [
    "get",
    "size",
    "isEmpty",
    "contains",
    "length",
    "charAt",
    "substring",
    "toString",
    "hashCode",
    "equals",
    "indexOf",
    "lastIndexOf",
    "keySet",
    "values",
    "entrySet",
    "iterator",
    "listIterator",
    "stream",
    "peek",
    "hasNext",
    "hasPrevious",
    "toArray",
    "compare",
    "is",
    "has",
    "intValue",
    "longValue",
    "doubleValue",
    "floatValue",
    "booleanValue",
    "byteValue",
    "shortValue",
    "charValue",
    "first",
    "last",
    "forEach",
];

/// Methods whose names begin like that, but which change their object.
const WRITES: [&str; 5] = ["getAndIncrement", "getAndDecrement", "getAndAdd", "getAndSet", "getAndUpdate"];

/// Whether what the objects of a class hold can change.
///
/// - `class`: with dots.
pub fn is_changing(class: &str) -> bool {
    let begins = |names: &[&str]| names.iter().any(|name| class.starts_with(name));
    begins(&CHANGING) || !begins(&CONSTANT)
}

/// The same for a class that the code names, with slashes.
pub fn is_changing_class(class: &str) -> bool {
    is_changing(&class.replace('/', "."))
}

/// Whether a method of the library leaves the object as it is on which it is called.
///
/// Deviation: it is judged by its name; there is no analysis of the code of the library.
pub fn only_reads(method: &str) -> bool {
    READS.iter().any(|name| method.starts_with(name)) && !WRITES.contains(&method)
}

/// Whether a method changes at most the object on which it is called, not the one of which that was made: an iterator
/// goes on, and the collection stays as it is.
pub fn leaves_base(method: &str) -> bool {
    ["next", "previous", "tryAdvance"].iter().any(|name| method.starts_with(name))
}

/// Whether what a program wrote to an object before does not matter for what it writes: the stream goes out of the
/// program.
///
/// - `class`: of the object, with dots.
/// - `is_of_program`: whether the program made the object.
pub fn is_outlet(class: &str, is_of_program: bool) -> bool {
    !is_of_program && class == "java.io.PrintStream"
}
