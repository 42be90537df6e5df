import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import jdk.internal.org.objectweb.asm.ClassReader;
import jdk.internal.org.objectweb.asm.ClassVisitor;
import jdk.internal.org.objectweb.asm.ClassWriter;
import jdk.internal.org.objectweb.asm.Handle;
import jdk.internal.org.objectweb.asm.Label;
import jdk.internal.org.objectweb.asm.MethodVisitor;
import jdk.internal.org.objectweb.asm.Opcodes;
import org.junit.runner.Result;

/**
 * Compiles and runs single test methods in one warm virtual machine.
 *
 * <p>The argument is the directory of the classes. Commands come on standard input, words separated by tabs; each answer ends
 * with a line with a full stop.
 */
public class Worker {
    private static final PrintStream OUT = System.out;
    private static List<String> lines = new ArrayList<>();
    private static Map<String, Integer> numbers = new HashMap<>();
    private static int[] hits = new int[1 << 20];
    private static long total;

    public static void main(String[] words) throws Exception {
        File classes = new File(words[0]);
        PrintStream nothing = new PrintStream(OutputStream.nullOutputStream());
        System.setOut(nothing);
        System.setErr(nothing);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] asked = line.split("\t");
            try {
                answer(asked, classes);
            } catch (Throwable thrown) {
                OUT.println("error\t" + thrown.toString().replace('\n', ' '));
            }
            OUT.println(".");
            OUT.flush();
        }
        System.exit(0);
    }

    private static void answer(String[] asked, File classes) throws Exception {
        switch (asked[0]) {
            case "compile" -> OUT.println(compile(asked));
            case "tests" -> methods(asked[1], classes).forEach(OUT::println);
            case "run" -> OUT.println(run(new Loader(false, new File(asked[3]), classes), asked));
            case "cover" -> {
                hits = new int[hits.length];
                total = 0;
                OUT.println(run(new Loader(true, new File(asked[3]), classes), asked) + "\t" + total);
                TreeSet<String> seen = new TreeSet<>();
                for (int at = 0; at < lines.size(); at++) {
                    if (hits[at] > 0) {
                        seen.add(lines.get(at));
                    }
                }
                seen.forEach(OUT::println);
            }
            default -> throw new IllegalArgumentException(asked[0]);
        }
    }

    /** `compile OUT FLAG... -- SOURCE...` */
    private static String compile(String[] asked) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> flags = new ArrayList<>(List.of("-nowarn", "-d", asked[1]));
        List<File> sources = new ArrayList<>();
        boolean isFlag = true;
        for (int at = 2; at < asked.length; at++) {
            if (isFlag && asked[at].equals("--")) {
                isFlag = false;
            } else if (isFlag) {
                flags.add(asked[at]);
            } else {
                sources.add(new File(asked[at]));
            }
        }
        StringWriter told = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            boolean isDone = compiler.getTask(told, files, null, flags, null, files.getJavaFileObjectsFromFiles(sources)).call();
            String text = told.toString();
            return isDone ? "ok" : "error\t" + text.substring(0, Math.min(2000, text.length())).replace('\n', ' ');
        }
    }

    /** The names of the test methods of a class. */
    private static List<String> methods(String name, File classes) throws Exception {
        Class<?> of = new Loader(false, classes).loadClass(name);
        List<String> found = new ArrayList<>();
        if (java.lang.reflect.Modifier.isAbstract(of.getModifiers())) {
            return found;
        }
        boolean isOld = junit.framework.TestCase.class.isAssignableFrom(of);
        for (Method method : of.getMethods()) {
            boolean isTest = isOld ? method.getName().startsWith("test") : method.isAnnotationPresent(org.junit.Test.class);
            if (isTest && method.getParameterCount() == 0) {
                found.add(method.getName());
            }
        }
        found.sort(null);
        return found;
    }

    /** `pass`, `fail`, `error` if the test is not there, or `timeout`. */
    @SuppressWarnings("removal")
    private static String run(ClassLoader loader, String[] asked) throws InterruptedException {
        String[] told = {"error"};
        Thread thread = new Thread(null, () -> {
            try {
                Result result = One.test(loader, asked[1], asked[2]);
                if (result.getRunCount() == 1 && result.getIgnoreCount() == 0) {
                    told[0] = result.wasSuccessful() ? "pass" : "fail";
                }
            } catch (Throwable thrown) {
                told[0] = "error";
            }
        }, "test", 8 << 20);
        thread.setDaemon(true);
        thread.setContextClassLoader(loader);
        thread.start();
        thread.join(Long.parseLong(asked[4]));
        if (thread.isAlive()) {
            thread.stop();
            thread.join(2000);
            return "timeout";
        }
        return told[0];
    }

    /** Called by covered classes at each line. */
    public static void hit(int line) {
        hits[line]++;
        total++;
    }

    private static int number(String line) {
        return numbers.computeIfAbsent(line, key -> {
            lines.add(key);
            return lines.size() - 1;
        });
    }

    /** Loads the classes of some directories, and counts their lines if they are covered. */
    private static final class Loader extends URLClassLoader {
        private final boolean isCovered;

        Loader(boolean isCovered, File... places) throws IOException {
            super(urls(places), Worker.class.getClassLoader());
            this.isCovered = isCovered;
        }

        private static URL[] urls(File[] places) throws IOException {
            List<URL> found = new ArrayList<>();
            for (File place : places) {
                found.add(place.toURI().toURL());
            }
            return found.toArray(new URL[0]);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            URL place = isCovered ? findResource(name.replace('.', '/') + ".class") : null;
            if (place == null) {
                return super.findClass(name);
            }
            try (var in = place.openStream()) {
                byte[] bytes = covered(in.readAllBytes());
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException failed) {
                throw new ClassNotFoundException(name, failed);
            }
        }
    }

    private static byte[] covered(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        String name = reader.getClassName();
        String directory = name.substring(0, name.lastIndexOf('/') + 1);
        reader.accept(new ClassVisitor(Opcodes.ASM8, writer) {
            private String file = "";

            @Override
            public void visitSource(String source, String debug) {
                file = directory + source;
                super.visitSource(source, debug);
            }

            @Override
            public MethodVisitor visitMethod(int access, String method, String type, String signature, String[] thrown) {
                return new Lines(file, super.visitMethod(access, method, type, signature, thrown));
            }
        }, 0);
        return writer.toByteArray();
    }

    /** Calls {@link #hit} before the first instruction of each line: only there, behind the frame, is code allowed. */
    private static final class Lines extends MethodVisitor {
        private final String file;
        private int line;

        Lines(String file, MethodVisitor next) {
            super(Opcodes.ASM8, next);
            this.file = file;
        }

        private MethodVisitor begin() {
            if (line != 0) {
                mv.visitLdcInsn(number(file + ":" + line));
                mv.visitMethodInsn(Opcodes.INVOKESTATIC, "Worker", "hit", "(I)V", false);
                line = 0;
            }
            return mv;
        }

        @Override
        public void visitLineNumber(int number, Label start) {
            line = number;
            super.visitLineNumber(number, start);
        }

        @Override
        public void visitInsn(int code) {
            begin().visitInsn(code);
        }

        @Override
        public void visitIntInsn(int code, int operand) {
            begin().visitIntInsn(code, operand);
        }

        @Override
        public void visitVarInsn(int code, int variable) {
            begin().visitVarInsn(code, variable);
        }

        @Override
        public void visitTypeInsn(int code, String type) {
            begin().visitTypeInsn(code, type);
        }

        @Override
        public void visitFieldInsn(int code, String owner, String name, String type) {
            begin().visitFieldInsn(code, owner, name, type);
        }

        @Override
        public void visitMethodInsn(int code, String owner, String name, String type, boolean isInterface) {
            begin().visitMethodInsn(code, owner, name, type, isInterface);
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String type, Handle handle, Object... arguments) {
            begin().visitInvokeDynamicInsn(name, type, handle, arguments);
        }

        @Override
        public void visitJumpInsn(int code, Label label) {
            begin().visitJumpInsn(code, label);
        }

        @Override
        public void visitLdcInsn(Object value) {
            begin().visitLdcInsn(value);
        }

        @Override
        public void visitIincInsn(int variable, int by) {
            begin().visitIincInsn(variable, by);
        }

        @Override
        public void visitTableSwitchInsn(int from, int to, Label other, Label... labels) {
            begin().visitTableSwitchInsn(from, to, other, labels);
        }

        @Override
        public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
            begin().visitLookupSwitchInsn(other, keys, labels);
        }

        @Override
        public void visitMultiANewArrayInsn(String type, int dimensions) {
            begin().visitMultiANewArrayInsn(type, dimensions);
        }
    }
}
