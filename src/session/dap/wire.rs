//! Messages of the Debug Adapter Protocol on a stream: a header with the length, then JSON.

use serde_json::Value;
use std::io::{self, BufRead, Read as _, Write};

/// A message is not longer, in bytes.
const MAX_MESSAGE: u64 = 16 << 20;

/// A line of a header is not longer, in bytes.
const MAX_HEADER: u64 = 4096;

/// What was read.
#[derive(Debug, PartialEq)]
pub enum ReadMessage {
    /// A message.
    Message(Value),
    /// Something with a right header that is no JSON.
    NoJson,
    /// The end of the stream.
    End,
}

/// Reads the next message.
///
/// Errors: the header has no length or too large a one, or the stream ends within a message. Nothing behind that can be
/// read.
pub fn read(input: &mut impl BufRead) -> io::Result<ReadMessage> {
    let bad = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text);
    let mut length = None;
    let mut n_lines = 0;
    loop {
        let mut line = Vec::new();
        let n_bytes = input.take(MAX_HEADER).read_until(b'\n', &mut line)?;
        if n_bytes == 0 && n_lines == 0 {
            return Ok(ReadMessage::End);
        }
        if !line.ends_with(b"\n") || n_lines > 20 {
            return Err(bad("the header of a message is cut short or too long"));
        }
        n_lines += 1;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let length = length.ok_or_else(|| bad("the header of a message has no length"))?;
    if length > MAX_MESSAGE {
        return Err(bad("a message is longer than 16 MiB"));
    }
    let mut bytes = Vec::new();
    if input.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Err(bad("the input ends within a message"));
    }
    Ok(serde_json::from_slice(&bytes).map_or(ReadMessage::NoJson, ReadMessage::Message))
}

/// Writes a message.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        write(&mut bytes, &json!({"seq": 1, "text": "ü"})).unwrap();
        write(&mut bytes, &json!([])).unwrap();
        let mut input = &bytes[..];
        assert_eq!(read(&mut input).unwrap(), ReadMessage::Message(json!({"seq": 1, "text": "ü"})));
        assert_eq!(read(&mut input).unwrap(), ReadMessage::Message(json!([])));
        assert_eq!(read(&mut input).unwrap(), ReadMessage::End);
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        assert_eq!(read(&mut &b"Content-Length: 1\r\n\r\n{"[..]).unwrap(), ReadMessage::NoJson);
        for text in ["\r\n", "Content-Length: x\r\n\r\n", "Content-Length: 9\r\n\r\n{}", "Content", "a: b\r\n\r\n"] {
            assert!(read(&mut text.as_bytes()).is_err(), "{text:?}");
        }
        assert!(read(&mut &b"Content-Length: 99999999999\r\n\r\n"[..]).is_err());
        assert!(read(&mut &[b'x'; 10000][..]).is_err());
    }
}
