//! What functions of the C library do to memory: one row for each.
//!
//! Only what is not recorded has to be told: the library is not instrumented, so a row says which ranges it reads and writes, which bytes it copies, and what it
//! does to the heap. Functions without a row are found out by the [check of values](crate::stat::ValueCheck).

/// How long a range is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// So many bytes.
    Bytes(u64),
    /// What an argument says.
    Argument(usize),
    /// The product of two arguments.
    Product(usize, usize),
    /// What the call returned, if that is positive.
    Result,
    /// What the call returned, times an argument.
    ResultTimes(usize),
    /// Up to a zero byte and with it.
    String,
    /// Up to a zero byte and with it, at most an argument.
    StringAtMost(usize),
    /// The length, with its zero byte, of the string that another argument points to.
    StringOf(usize),
    /// As the one before, at most another argument.
    StringOfAtMost(usize, usize),
    /// Up to the end of the variable or block.
    Rest,
}

/// No argument: the byte zero.
pub const ZERO: usize = usize::MAX;

/// What is done, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The range at an argument is read.
    Reads(usize, Length),
    /// The `std::string` at an argument is read.
    ReadsString(usize),
    /// The range at an argument is written.
    Writes(usize, Length),
    /// The ranges of a list (`iovec`) are written: the list, and how many they are. The call returns the number of bytes.
    WritesParts(usize, usize),
    /// The range at what was returned is written.
    WritesResult(Length),
    /// The range at an argument (first) gets the bytes at another (second).
    Copies(usize, usize, Length),
    /// The range at an argument gets what a format, which is another argument, and the arguments behind it give; no more than a third argument says.
    Prints(usize, usize, Option<usize>),
    /// As the one before, with what is in a list that is the argument behind the format.
    PrintsList(usize, usize, Option<usize>),
    /// The pointer at an argument is written with a block of the heap, which gets what a format and the arguments behind it give.
    PrintsAt(usize, usize),
    /// As the one before, with what is in a list that is the argument behind the format.
    PrintsListAt(usize, usize),
    /// What the arguments behind a format point to is written, for as many conversions as the call returned.
    Scans(usize),
    /// Bytes are put behind the string at an argument: the string at another, at most as many bytes as a third says.
    Appends(usize, usize, Option<usize>),
    /// A format, which is an argument, is read, and the strings that the arguments behind it point to.
    Formats(usize),
    /// As the one before, with what is in a list that is the argument behind the format.
    FormatsList(usize),
    /// Something is printed to the stream that is an argument.
    Emits(usize, Emitted),
    /// A stream is returned. When it is flushed, a pointer and a size at two arguments are written, and the block gets what was printed.
    OpensBlock(usize, usize),
    /// A stream is returned that reads and writes the range at an argument, of as many bytes as another says.
    OpensBuffer(usize, usize),
    /// A stream is flushed; all if the argument is null.
    Flushes(usize),
    /// A stream is closed.
    Closes(usize),
    /// A token is cut out of the string at the first argument, or where the last call stopped. The argument says where the position is kept; the library
    /// keeps it if there is none.
    Splits(Option<usize>),
    /// The range at an argument is filled with the byte that another says; with zeros if that is [`ZERO`].
    Fills(usize, usize, Length),
    /// The returned block gets the bytes of the string at an argument.
    Duplicates(usize),
    /// A block of the heap is returned.
    Allocates(Length),
    /// A block of the heap is returned, all zero.
    AllocatesZero(Length),
    /// The block at an argument is gone.
    Frees(usize),
    /// The block at an argument is moved to the returned one.
    Moves(usize, Length),
    /// The pointer at an argument is written with a block of the heap.
    AllocatesAt(usize, Length),
    /// A node is put into a tree (see [`nodes`](crate::native::nodes)): whether to the left, the node, its parent, the header.
    InsertsNode,
    /// A node is put before another one of a list.
    HooksNode,
    /// A node is taken out of a list.
    UnhooksNode,
    /// A line of input: the pointer and the size at two arguments may change, and the block gets what was returned and one byte.
    ReadsLine(usize, usize),
}

/// What is printed to a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emitted {
    /// What a format, which is an argument, and the arguments behind it give.
    Format(usize),
    /// As the one before, with what is in a list.
    FormatList(usize),
    /// The string at an argument.
    Text(usize),
    /// An argument, as a byte.
    Byte(usize),
    /// As many elements as the call returned of the range at an argument; the next argument is the size of one.
    Block(usize),
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// The functions.
    pub names: &'static [&'static str],
    /// What each of them does.
    pub effects: &'static [Effect],
    /// The argument that it returns.
    pub alias: Option<usize>,
    /// Where bytes come from that it brings into the program.
    pub input: Option<Input>,
}

impl Model {
    /// Whether it does more than to read.
    pub fn changes_anything(&self) -> bool {
        let only_reads = |effect: &Effect| {
            matches!(
                effect,
                Reads(..) | ReadsString(..) | Formats(..) | FormatsList(..) | Emits(..) | Flushes(..) | Closes(..)
            )
        };
        !self.effects.iter().all(only_reads)
    }
}

/// An input of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// The file whose descriptor is this argument.
    Descriptor(usize),
    /// The stream that is this argument.
    Stream(usize),
    /// Standard input.
    Standard,
    /// A variable of the environment, named by the first argument.
    Environment,
    /// Something else of the system: the time, a number of a process, chance.
    System,
}

use Effect::{
    Allocates, AllocatesAt, AllocatesZero, Appends, Closes, Copies, Duplicates, Emits, Fills, Flushes, Formats,
    FormatsList, Frees, HooksNode, InsertsNode, Moves, OpensBlock, OpensBuffer, Prints, PrintsAt, PrintsList,
    PrintsListAt, Reads, ReadsLine, ReadsString, Scans, Splits, UnhooksNode, Writes, WritesParts, WritesResult,
};
use Length::{Argument, Bytes, Product, ResultTimes, String as Text, StringAtMost, StringOf, StringOfAtMost};

const fn row(names: &'static [&'static str], effects: &'static [Effect]) -> Model {
    Model { names, effects, alias: None, input: None }
}

const fn same(names: &'static [&'static str], alias: usize, effects: &'static [Effect]) -> Model {
    Model { names, effects, alias: Some(alias), input: None }
}

const fn input(names: &'static [&'static str], input: Input, effects: &'static [Effect]) -> Model {
    Model { names, effects, alias: None, input: Some(input) }
}

/// The table.
pub const MODELS: &[Model] = &[
    same(&["memcpy", "memmove", "__memcpy_chk", "__memmove_chk"], 0, &[Copies(0, 1, Argument(2))]),
    row(&["mempcpy"], &[Copies(0, 1, Argument(2))]),
    row(&["bcopy"], &[Copies(1, 0, Argument(2))]),
    same(&["memset", "__memset_chk"], 0, &[Fills(0, 1, Argument(2))]),
    row(&["memcmp"], &[Reads(0, Argument(2)), Reads(1, Argument(2))]),
    row(&["memchr", "memrchr"], &[Reads(0, Argument(2))]),
    row(&["rawmemchr", "strlen", "strchr", "strrchr", "strchrnul", "atoi", "atol", "atof", "puts"], &[Reads(0, Text)]),
    row(&["perror"], &[Reads(0, Text)]),
    same(&["strcpy", "__strcpy_chk"], 0, &[Copies(0, 1, StringOf(1))]),
    row(&["stpcpy"], &[Copies(0, 1, StringOf(1))]),
    same(&["strncpy"], 0, &[Fills(0, ZERO, Argument(2)), Copies(0, 1, StringOfAtMost(1, 2))]),
    same(&["strcat"], 0, &[Appends(0, 1, None)]),
    same(&["strncat"], 0, &[Appends(0, 1, Some(2))]),
    row(&["strnlen"], &[Reads(0, StringAtMost(1))]),
    row(&["strcmp", "strcoll", "strcasecmp", "strstr", "strspn", "strcspn"], &[Reads(0, Text), Reads(1, Text)]),
    row(&["strpbrk"], &[Reads(0, Text), Reads(1, Text)]),
    row(&["strncmp", "strncasecmp"], &[Reads(0, StringAtMost(2)), Reads(1, StringAtMost(2))]),
    row(&["strdup"], &[Duplicates(0)]),
    row(&["strndup"], &[Reads(0, StringAtMost(1)), Allocates(StringAtMost(1))]),
    row(&["strtol", "strtoul", "strtoll", "strtoull", "strtod"], &[Reads(0, Text), Writes(1, Bytes(8))]),
    row(&["__isoc23_strtol", "__isoc23_strtoul"], &[Reads(0, Text), Writes(1, Bytes(8))]),
    row(&["malloc"], &[Allocates(Argument(0))]),
    row(&["calloc"], &[AllocatesZero(Product(0, 1))]),
    row(&["realloc"], &[Moves(0, Argument(1))]),
    row(&["reallocarray"], &[Moves(0, Product(1, 2))]),
    row(&["aligned_alloc", "memalign"], &[Allocates(Argument(1))]),
    row(&["posix_memalign"], &[AllocatesAt(0, Argument(2))]),
    row(&["free"], &[Frees(0)]),
    row(&["qsort", "qsort_r"], &[Reads(0, Product(1, 2)), Writes(0, Product(1, 2))]),
    row(&["sprintf"], &[Prints(0, 1, None)]),
    row(&["vsprintf"], &[PrintsList(0, 1, None)]),
    row(&["snprintf"], &[Prints(0, 2, Some(1))]),
    row(&["vsnprintf"], &[PrintsList(0, 2, Some(1))]),
    row(&["asprintf"], &[PrintsAt(0, 1)]),
    row(&["vasprintf"], &[PrintsListAt(0, 1)]),
    row(&["strtok"], &[Splits(None)]),
    row(&["strtok_r", "__strtok_r"], &[Splits(Some(2))]),
    row(&["printf"], &[Formats(0)]),
    row(&["__printf_chk", "dprintf"], &[Formats(1)]),
    row(&["vprintf"], &[FormatsList(0)]),
    row(&["vdprintf"], &[FormatsList(1)]),
    row(&["fprintf"], &[Formats(1), Emits(0, Emitted::Format(1))]),
    row(&["__fprintf_chk"], &[Formats(2), Emits(0, Emitted::Format(2))]),
    row(&["vfprintf"], &[FormatsList(1), Emits(0, Emitted::FormatList(1))]),
    row(&["__vfprintf_chk"], &[FormatsList(2), Emits(0, Emitted::FormatList(2))]),
    row(&["fputs", "fputs_unlocked"], &[Reads(0, Text), Emits(1, Emitted::Text(0))]),
    row(&["fputc", "fputc_unlocked", "putc", "putc_unlocked", "_IO_putc"], &[Emits(1, Emitted::Byte(0))]),
    row(&["fwrite", "fwrite_unlocked"], &[Reads(0, Product(1, 2)), Emits(3, Emitted::Block(0))]),
    row(&["open_memstream"], &[OpensBlock(0, 1)]),
    row(&["fmemopen"], &[OpensBuffer(0, 1)]),
    row(&["fflush"], &[Flushes(0)]),
    row(&["fclose"], &[Closes(0)]),
    row(&["write"], &[Reads(1, Argument(2))]),
    input(&["read", "pread", "pread64", "recv", "recvfrom"], Input::Descriptor(0), &[Writes(1, Length::Result)]),
    input(&["readv", "preadv", "preadv64"], Input::Descriptor(0), &[WritesParts(1, 2)]),
    input(&["fread", "fread_unlocked"], Input::Stream(3), &[Writes(0, ResultTimes(1))]),
    // The line may be shorter; nobody reads behind its end.
    input(&["fgets", "fgets_unlocked"], Input::Stream(2), &[WritesResult(Argument(1))]),
    input(&["gets"], Input::Standard, &[WritesResult(Length::Rest)]),
    input(&["getline"], Input::Stream(2), &[ReadsLine(0, 1)]),
    input(&["getdelim", "__getdelim"], Input::Stream(3), &[ReadsLine(0, 1)]),
    input(&["fgetc", "fgetc_unlocked", "getc", "getc_unlocked"], Input::Stream(0), &[]),
    input(&["getchar", "getchar_unlocked"], Input::Standard, &[]),
    input(&["scanf", "__isoc99_scanf", "__isoc23_scanf"], Input::Standard, &[Scans(0)]),
    input(&["fscanf", "__isoc99_fscanf", "__isoc23_fscanf"], Input::Stream(0), &[Scans(1)]),
    row(&["sscanf", "__isoc99_sscanf", "__isoc23_sscanf"], &[Reads(0, Text), Scans(1)]),
    input(&["getenv", "secure_getenv"], Input::Environment, &[Reads(0, Text)]),
    input(&["time"], Input::System, &[Writes(0, Bytes(8))]),
    input(&["clock_gettime"], Input::System, &[Writes(1, Bytes(16))]),
    input(&["gettimeofday"], Input::System, &[Writes(0, Bytes(16))]),
    input(&["getpid", "rand", "random"], Input::System, &[]),
    input(&["getrandom"], Input::System, &[Writes(0, Length::Result)]),
    row(&["exit", "_exit", "abort", "__assert_fail", "setvbuf", "setbuf", "feof", "ferror", "clearerr", "fileno"], &[]),
    row(&["ungetc", "rewind", "fseek", "ftell"], &[]),
    row(&["setlocale"], &[Reads(1, Text)]),
    row(&["remove", "unlink", "access", "system", "open"], &[Reads(0, Text)]),
    row(&["localtime", "gmtime"], &[Reads(0, Bytes(8)), WritesResult(Bytes(56))]),
    row(&["stat", "lstat"], &[Reads(0, Text), Writes(1, Bytes(144))]),
    row(&["fstat"], &[Writes(1, Bytes(144))]),
    row(&["pipe"], &[Writes(0, Bytes(8))]),
    row(&["fopen"], &[Reads(0, Text), Reads(1, Text)]),
    // C++: `new`, `delete`, exceptions, the trees of `std::map`, what is printed.
    row(&["_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t"], &[Allocates(Argument(0))]),
    row(&["_ZnwmSt11align_val_t", "__cxa_allocate_exception"], &[Allocates(Argument(0))]),
    row(&["_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm", "_ZdlPvmSt11align_val_t"], &[Frees(0)]),
    row(&["__cxa_begin_catch", "__cxa_end_catch", "__cxa_atexit"], &[]),
    row(&["_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base"], &[]),
    row(&["_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base", "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base"], &[]),
    row(&["_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_"], &[InsertsNode]),
    row(&["_ZNSt8__detail15_List_node_base7_M_hookEPS0_"], &[HooksNode]),
    row(&["_ZNSt8__detail15_List_node_base9_M_unhookEv"], &[UnhooksNode]),
    row(&["_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc"], &[Reads(1, Text)]),
    row(&["_ZNSo5writeEPKcl"], &[Reads(1, Argument(2))]),
    row(&["_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l"], &[Reads(1, Argument(2))]),
    row(
        &["_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE"],
        &[ReadsString(1)],
    ),
];

/// The row of a function.
pub fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_one_row() {
        let names: Vec<_> = MODELS.iter().flat_map(|model| model.names).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(!names[..index].contains(name), "{name}");
        }
    }
}
