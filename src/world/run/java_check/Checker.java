package idd;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticListener;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Compiles sources on request, and answers with the errors. Nothing is written, and no processor or plug-in runs.
 *
 * <p>A message is 4 bytes length and so many bytes: a list of options and one of paths. A list is 4 bytes length, and so
 * many texts of {@code DataOutput.writeUTF}. An answer is a message of one list, with three texts for each error: its
 * path as asked, its code without {@code compiler.err.}, and its message in one line. An answer without content says
 * that the compiler failed.
 */
public final class Checker {
    private static final int MAX_ERRORS = 200;
    private static final int MAX_CHARS = 300;

    private Checker() {
    }

    public static void main(String[] words) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
        // Whatever else prints must not be read as an answer.
        System.setOut(System.err);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        while (true) {
            byte[] message;
            try {
                message = new byte[in.readInt()];
            } catch (EOFException end) {
                return;
            }
            in.readFully(message);
            byte[] answer = new byte[0];
            try {
                DataInputStream content = new DataInputStream(new ByteArrayInputStream(message));
                List<String> options = list(content);
                answer = answer(check(compiler, options, list(content)));
            } catch (Exception | StackOverflowError | OutOfMemoryError | AssertionError failed) {
                // The empty answer.
            }
            out.writeInt(answer.length);
            out.write(answer);
            out.flush();
        }
    }

    private static List<String> list(DataInputStream in) throws IOException {
        int length = in.readInt();
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            texts.add(in.readUTF());
        }
        return texts;
    }

    private static byte[] answer(List<String> texts) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(texts.size());
        for (String text : texts) {
            out.writeUTF(text);
        }
        return bytes.toByteArray();
    }

    private static List<String> check(JavaCompiler compiler, List<String> options, List<String> paths) throws IOException {
        List<String> found = Collections.synchronizedList(new ArrayList<String>());
        DiagnosticListener<JavaFileObject> listener = diagnostic -> {
            if (diagnostic.getKind() != Diagnostic.Kind.ERROR || found.size() >= 3 * MAX_ERRORS) {
                return;
            }
            JavaFileObject source = diagnostic.getSource();
            String code = String.valueOf(diagnostic.getCode());
            String text = String.valueOf(diagnostic.getMessage(Locale.ENGLISH)).replaceAll("\\s+", " ");
            found.add(source == null ? "" : source.toUri().getPath());
            found.add(code.startsWith("compiler.err.") ? code.substring("compiler.err.".length()) : code);
            found.add(text.substring(0, Math.min(text.length(), MAX_CHARS)));
        };
        // A new one for each request: it remembers which directories were missing.
        try (StandardJavaFileManager files = compiler.getStandardFileManager(listener, null, null)) {
            List<File> sources = new ArrayList<>();
            for (String path : paths) {
                sources.add(new File(path));
            }
            Iterable<? extends JavaFileObject> units = files.getJavaFileObjectsFromFiles(sources);
            OutputStream nowhere = new ByteArrayOutputStream();
            java.io.Writer said = new java.io.OutputStreamWriter(nowhere, "UTF-8");
            Boolean isGood = compiler.getTask(said, new Unwritten(files), listener, options, null, units).call();
            if (!isGood && found.isEmpty()) {
                throw new IOException("it failed without a word");
            }
        }
        return found;
    }

    /** Drops all that the compiler writes, and loads no code. */
    private static final class Unwritten extends ForwardingJavaFileManager<StandardJavaFileManager> {
        Unwritten(StandardJavaFileManager files) {
            super(files);
        }

        @Override
        public ClassLoader getClassLoader(Location location) {
            return null;
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("memory:///dropped" + kind.extension), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return new ByteArrayOutputStream();
                }

                @Override
                public InputStream openInputStream() {
                    return new ByteArrayInputStream(new byte[0]);
                }
            };
        }
    }
}
