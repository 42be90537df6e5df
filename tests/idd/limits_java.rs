//! Known limits of recordings of Java programs: dependences that lead through something outside of the virtual machine. Each
//! test states what is found now and what would be ideal, as in [`limits`](crate::limits).

use crate::java::{asked, record, repository, version};
use crate::limits::check;

/// Whether the slice back from the exception that ends a program has the line with a text.
#[track_caller]
fn has(source: &str, text: &str, words: &[&str]) -> bool {
    let place = repository(&[("Main.java", source)]);
    record(place.path(), &["--once"], "java -cp out Main");
    let slice = asked(place.path(), &[&["slice", "--backward", "crash", "--json"], words].concat());
    let slice: serde_json::Value = serde_json::from_str(&slice).unwrap();
    let line = source.lines().position(|line| line.contains(text)).unwrap() + 1;
    let lines = slice["lines"].as_array().unwrap();
    assert!(lines.len() > 2, "{slice}");
    lines.iter().any(|found| found["line"] == line)
}

/// Which file a path names is known, but a file is no place that calls write and read.
#[test]
fn what_a_java_program_reads_from_a_file_does_not_lead_to_what_it_wrote_there() {
    if version().is_none() {
        return;
    }
    let with_names = "import java.nio.file.*;
public class Main {
    public static void main(String[] args) throws Exception {
        int total = args.length + 21;
        Files.write(Paths.get(\"out/total\"), Integer.toString(total).getBytes());
        String text = new String(Files.readAllBytes(Paths.get(\"out/total\")));
        if (!text.equals(\"42\")) {
            throw new IllegalStateException(text);
        }
    }
}
";
    check(&has(with_names, "int total", &[]), &false, &true);
    // One object of a path is taken for the file.
    let with_object = with_names
        .replace("(Paths.get(\"out/total\")", "(path")
        .replace("int total", "Path path = Paths.get(\"out/total\"); int total");
    assert!(has(&with_object, "int total", &[]), "{with_object}");
    let streams = "import java.io.*;
public class Main {
    public static void main(String[] args) throws Exception {
        int total = args.length + 21;
        FileWriter out = new FileWriter(\"out/total\");
        out.write(total);
        out.close();
        FileReader in = new FileReader(\"out/total\");
        int read = in.read();
        if (read != 42) {
            throw new IllegalStateException(\"read \" + read);
        }
    }
}
";
    check(&has(streams, "int total", &[]), &false, &true);
}

/// The two ends of a connection are not known to be the same.
#[test]
fn what_a_java_program_receives_from_a_socket_does_not_lead_to_what_it_sent() {
    if version().is_none() {
        return;
    }
    let source = "import java.net.*;
public class Main {
    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        int port = server.getLocalPort();
        Socket client = new Socket(InetAddress.getLoopbackAddress(), port);
        Socket accepted = server.accept();
        int total = args.length + 21;
        client.getOutputStream().write(total);
        int read = accepted.getInputStream().read();
        if (read != 42) {
            throw new IllegalStateException(\"read \" + read);
        }
    }
}
";
    check(&has(source, "int total", &[]), &false, &true);
}

/// Each virtual machine has a recording of its own, and a slice is one of one process.
#[test]
fn what_a_java_program_reads_from_a_child_does_not_lead_into_the_recording_of_the_child() {
    if version().is_none() {
        return;
    }
    let source = "import java.io.*;
public class Main {
    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            int total = args[0].length() + 20;
            System.out.println(total);
            return;
        }
        String given = \"x\";
        Process child = new ProcessBuilder(\"java\", \"-cp\", \"out\", \"Main\", given).start();
        String read = new BufferedReader(new InputStreamReader(child.getInputStream())).readLine();
        if (!read.equals(\"42\")) {
            throw new IllegalStateException(\"read \" + read);
        }
    }
}
";
    check(&has(source, "int total", &["--process", "0"]), &false, &true);
    // What the child was given is known.
    assert!(has(source, "String given", &["--process", "0"]));
}

/// Records are mapped a piece at a time, and the library asks the security manager for each.
#[test]
fn a_security_manager_of_a_java_program_that_refuses_all_files_ends_its_recording() {
    // Later versions have none.
    let Some(version) = version().filter(|version| *version < 24) else { return };
    let source = "public class Main {
    public static void main(String[] args) {
        System.setSecurityManager(new SecurityManager() {
            @Override
            public void checkPermission(java.security.Permission permission) {
                if (permission instanceof java.io.FilePermission) {
                    throw new SecurityException();
                }
            }
        });
        int[] sum = new int[1];
        for (int i = 0; i < 50000; i++) {
            sum[0] += i;
        }
        System.exit(sum[0] > 0 ? 1 : 2);
    }
}
";
    let place = repository(&[("Main.java", source)]);
    let allowed = if version < 17 { "" } else { "-Djava.security.manager=allow" };
    let (said, recording) = record(place.path(), &["--once"], &format!("java {allowed} -cp out Main"));
    assert_eq!(recording["ending"], "exit code 1", "{said}");
    check(&recording["processes"][0]["is_lost"].as_bool(), &Some(true), &Some(false));
}
