package git_idd.recording;

import java.io.EOFException;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.net.URL;
import java.security.AccessController;
import java.security.CodeSource;
import java.security.PrivilegedAction;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.jar.JarFile;

/**
 * Hands each class of the checkout to a program that rewrites it. The program is started when the first such class is
 * loaded: most Java programs that a test runs (compilers, build tools) have none.
 *
 * The boot loader loads this package, as the archive asks for: a security manager allows its classes everything, and no
 * class of the program comes before them. Whoever asks for a class may be allowed nothing, so the agent works as itself.
 */
public final class Agent implements ClassFileTransformer {
    /** In place of the length of a class: the number of a thread follows, and how long its file is to be. */
    private static final int FILE = -1;

    /** The number of a thread follows, and where in its file the contents of the ring begin, which is to be made. */
    private static final int RING = -2;

    /** The number of a thread follows, a half of whose ring is full. */
    private static final int FULL = -3;

    /** The number of a thread follows that is not recorded, and whether that is because of the limit. */
    private static final int LOST = -4;

    /** Calls that fit into the stack where a message is sent. */
    private static final int N_CALLS = 200;

    /** The directory for the directories of all virtual machines. */
    private final String base;
    private final String program;
    /** The checkout, with a separator at its end. */
    private final String root;
    private final long limit;

    /** Whether classes from a place are recorded. */
    private final HashMap<String, Boolean> places = new HashMap<String, Boolean>();

    /** Rewritten classes, if they are loaded more than once: an original, and what the server answered. */
    private final HashMap<String, byte[][]> known = new HashMap<String, byte[][]>();

    /** The directory for this virtual machine. */
    private File directory;
    private Process server;
    private OutputStream out;
    private InputStream in;
    private boolean isOver;
    /** Whether each class is loaded once. */
    private boolean isOnce = true;
    private boolean isFull;
    /** Whether all halves that were full have been taken, so far. */
    private boolean isTaken = true;
    /** Whether the answer to the last one is still to come. */
    private boolean isAwaited;
    private final Instrumentation instrumentation;

    private Agent(String base, String[] words, Instrumentation instrumentation) throws IOException {
        this.base = base;
        this.instrumentation = instrumentation;
        program = words[1];
        root = new File(words[2]).getCanonicalPath() + File.separator;
        limit = Long.parseLong(words[3]);
    }

    /** Starts with the virtual machine; the argument is the directory, in which the file `agent` tells the rest. */
    public static void premain(String base, Instrumentation instrumentation) {
        try {
            String[] words = text(new File(base, "agent")).split("\0");
            Agent agent = new Agent(base, words, instrumentation);
            if (Agent.class.getClassLoader() != null) {
                instrumentation.appendToBootstrapClassLoaderSearch(new JarFile(words[0]));
            }
            File order = new File(base, "trials");
            if (order.exists()) {
                agent.tryOut(order);
            } else {
                instrumentation.addTransformer(agent);
            }
        } catch (Throwable error) {
            // The program runs as it is.
            complain(base, error);
        }
    }

    /** Makes trials if they are meant for this virtual machine, which ends then. Another one runs as it is. */
    private void tryOut(File order) throws Exception {
        Trials trials = Trials.ordered(order, root);
        if (trials != null) {
            start();
            isOnce = false;
            instrumentation.addTransformer(this, true);
            instrumentation.retransformClasses(Trials.GUARDED);
            trials.run(new File(directory, "trials"));
        }
    }

    /** Leaves word that this virtual machine is not recorded any more: the file `failed-<pid>` says why. */
    private static void complain(String base, Throwable error) {
        try {
            String pid = new File("/proc/self").getCanonicalFile().getName();
            FileOutputStream out = new FileOutputStream(new File(base, "failed-" + pid));
            try {
                boolean isOfProgram = error.getClass().getClassLoader() != null;
                out.write((isOfProgram ? error.getClass().getName() : error.toString()).getBytes("UTF-8"));
            } finally {
                out.close();
            }
        } catch (Throwable other) {
            // There is no place for it.
        }
    }

    private void end(Throwable error) {
        isOver = true;
        say(error);
    }

    private void say(final Throwable error) {
        AccessController.doPrivileged(new PrivilegedAction<Void>() {
            @Override
            public Void run() {
                complain(base, error);
                return null;
            }
        });
    }

    private static String text(File file) throws IOException {
        return new String(Trials.bytes(file), System.getProperty("sun.jnu.encoding", "UTF-8"));
    }

    @Override
    public byte[] transform(
            final ClassLoader loader,
            final String name,
            Class<?> redefined,
            final ProtectionDomain domain,
            final byte[] bytes) {
        if (redefined != null && loader == null && !isOnce) {
            return rewritten(bytes);
        }
        if (loader == null || name == null || domain == null || redefined != null || isOver) {
            return null;
        }
        return AccessController.doPrivileged(new PrivilegedAction<byte[]>() {
            @Override
            public byte[] run() {
                try {
                    if (!isInScope(domain.getCodeSource())) {
                        return null;
                    }
                    return isOnce ? rewritten(bytes) : again(loader, name, bytes);
                } catch (Throwable error) {
                    return null;
                }
            }
        });
    }

    /** Whether a code source lies below the checkout: a directory, an archive, or one inside an archive. */
    private boolean isInScope(CodeSource source) throws Exception {
        URL place = source == null ? null : source.getLocation();
        if (place == null || !("file".equals(place.getProtocol()) || "jar".equals(place.getProtocol()))) {
            return false;
        }
        String text = place.toExternalForm();
        synchronized (places) {
            Boolean known = places.get(text);
            if (known == null) {
                known = Boolean.valueOf((path(text) + File.separator).startsWith(root));
                places.put(text, known);
            }
            return known.booleanValue();
        }
    }

    private static String path(String text) throws Exception {
        String file = text.startsWith("jar:") ? text.substring(4) : text;
        int inside = file.indexOf("!/");
        file = inside < 0 ? file : file.substring(0, inside);
        try {
            return new File(new java.net.URI(file)).getCanonicalPath();
        } catch (Exception error) {
            // A class loader may have put the path there as it is, with spaces.
            return new File(file.startsWith("file:") ? file.substring(5) : file).getCanonicalPath();
        }
    }

    /** The rewritten class, which a trial before may have asked for. */
    private synchronized byte[] again(ClassLoader loader, String name, byte[] bytes) {
        Trials.meet(loader);
        byte[][] before = known.get(name);
        if (before == null || !Arrays.equals(before[0], bytes)) {
            before = new byte[][] {bytes, rewritten(bytes)};
            known.put(name, before);
        }
        return before[1];
    }

    private synchronized byte[] rewritten(byte[] bytes) {
        if (isOver) {
            return null;
        }
        try {
            if (server == null) {
                start();
            }
            byte[] answer = ask(bytes.length, bytes);
            return answer.length == 0 ? null : answer;
        } catch (Throwable error) {
            end(error);
            return null;
        }
    }

    /**
     * Has the file of a thread made, or made longer; whether there is room on the disk. With a limit to the size of files,
     * only the other program can do that.
     */
    synchronized boolean lengthen(int thread, long length) {
        return ask(FILE, thread, length);
    }

    /** Has a ring made, whose contents are put into the file of a thread from a place on; whether it is there. */
    synchronized boolean ring(int thread, long at) {
        return ask(RING, thread, at);
    }

    /**
     * Hands over the half of a ring that is full. The answer to the one before is read first, so its half may be written
     * again, by whichever thread. Whether all of them were taken.
     */
    synchronized boolean hand(int thread) {
        if (isOver || !isTaken) {
            return false;
        }
        try {
            room(N_CALLS);
            settle();
            if (isTaken) {
                send(FULL, numbers(thread, 0));
                isAwaited = true;
            }
            return isTaken;
        } catch (IOException error) {
            end(error);
            return false;
        }
    }

    /** Says that a thread is not recorded, because of the limit or because there is no file. */
    synchronized void lose(int thread, boolean isFull) {
        ask(LOST, thread, isFull ? 1 : 0);
    }

    /** Says once that a thread is not recorded. */
    synchronized void refuse(int nThreads) {
        if (!isFull) {
            isFull = true;
            say(new IllegalStateException("only " + nThreads + " threads are recorded"));
        }
    }

    /** Whether the answer to a request with numbers is empty. */
    private boolean ask(int request, int thread, long at) {
        if (isOver) {
            return false;
        }
        try {
            return ask(request, numbers(thread, at)).length == 0;
        } catch (IOException error) {
            end(error);
            return false;
        }
    }

    private byte[] ask(int head, byte[] bytes) throws IOException {
        room(N_CALLS);
        settle();
        send(head, bytes);
        return receive();
    }

    /** Reads the answer that is still to come. */
    private void settle() throws IOException {
        if (isAwaited) {
            isTaken &= receive().length == 0;
            isAwaited = false;
        }
    }

    /** Calls itself: if the stack is nearly full, an exception is thrown here, and not in the middle of a message. */
    private static int room(int n) {
        return n == 0 ? 0 : 1 + room(n - 1);
    }

    private static byte[] numbers(int number, long more) {
        byte[] bytes = new byte[12];
        put(bytes, 0, number);
        put(bytes, 4, (int) more);
        put(bytes, 8, (int) (more >>> 32));
        return bytes;
    }

    private void start() throws Exception {
        long now = System.currentTimeMillis() * 1000000 + Math.floorMod(System.nanoTime(), 1000000L);
        String pid = new File("/proc/self").getCanonicalFile().getName();
        directory = new File(base, pid + "-" + now);
        if (!directory.mkdirs()) {
            throw new IOException("no directory");
        }
        FileOutputStream info = new FileOutputStream(new File(directory, "info"));
        try {
            String lines = "java=" + System.getProperty("java.version") + "\nis_counting=" + isCounting() + "\n";
            info.write(lines.getBytes("UTF-8"));
        } finally {
            info.close();
        }
        String place = directory.getPath();
        ProcessBuilder builder = new ProcessBuilder(program, "java-instrument", place);
        builder.redirectError(new File("/dev/null"));
        server = builder.start();
        out = server.getOutputStream();
        in = server.getInputStream();
        // It makes the file of objects first.
        receive();
        File points = new File(base, "points");
        if (points.exists()) {
            Replacer.prepare(points, new File(directory, "replaced"));
        }
        if (!points.exists() || new File(base, "recorded").exists()) {
            open();
            Recorder.prepare(place, limit, this);
        }
    }

    /**
     * Lets the recorder use the memory of this virtual machine by addresses, and channels that ignore interrupts: from Java 9
     * on, a module has to allow that.
     */
    private void open() throws Exception {
        Method module;
        try {
            module = Class.class.getMethod("getModule");
        } catch (NoSuchMethodException error) {
            return;
        }
        Object own = module.invoke(Agent.class);
        Map<String, Object> exports = new HashMap<String, Object>();
        exports.put("jdk.internal.misc", Collections.singleton(own));
        exports.put("sun.nio.ch", Collections.singleton(own));
        Object system = module.invoke(Object.class);
        for (Method method : Instrumentation.class.getMethods()) {
            if (method.getName().equals("redefineModule")) {
                Object none = Collections.emptyMap();
                method.invoke(instrumentation, system, Collections.emptySet(), exports, none, Collections.emptySet(), none);
            }
        }
    }

    /** Whether the virtual machine counts its objects. */
    private static boolean isCounting() {
        for (int i = 0; i < 4; i++) {
            int first = System.identityHashCode(new Object());
            if (System.identityHashCode(new Object()) == first + 1) {
                return true;
            }
        }
        return false;
    }

    private void send(int length, byte[] bytes) throws IOException {
        byte[] message = new byte[4 + bytes.length];
        put(message, 0, length);
        System.arraycopy(bytes, 0, message, 4, bytes.length);
        out.write(message, 0, message.length);
        out.flush();
    }

    private byte[] receive() throws IOException {
        byte[] head = new byte[4];
        fill(head);
        int length = (head[0] & 255) | (head[1] & 255) << 8 | (head[2] & 255) << 16 | (head[3] & 255) << 24;
        if (length < 0) {
            throw new IOException("no length");
        }
        byte[] bytes = new byte[length];
        fill(bytes);
        return bytes;
    }

    private void fill(byte[] bytes) throws IOException {
        int n = 0;
        while (n < bytes.length) {
            int more = in.read(bytes, n, bytes.length - n);
            if (more < 0) {
                throw new EOFException("the process that rewrites classes has ended");
            }
            n += more;
        }
    }

    private static void put(byte[] bytes, int at, int number) {
        for (int i = 0; i < 4; i++) {
            bytes[at + i] = (byte) (number >>> 8 * i);
        }
    }
}
