package git_idd.recording;

import java.io.ByteArrayOutputStream;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.TimeZone;
import java.util.jar.Attributes;
import java.util.jar.JarFile;

/**
 * Runs the program of this virtual machine many times before it begins, with other values in the place of some each time.
 *
 * Each time the classes of the checkout are loaded anew, so their static fields keep no value. The program ends when it says
 * so, or when its last thread has ended. What a trial leaves in other classes is not undone, but for what is named in Settings:
 * whoever reads the results compares trials without other values. Classes outside of the checkout are loaded once, or anew if
 * that is ordered: those that are loaded once do not find the ones of the checkout by themselves.
 */
public final class Trials {
    /** Classes of the system that get a call of leave or bar; the other side knows where. */
    static final Class<?>[] GUARDED = {
        Runtime.class,
        System.class,
        ProcessBuilder.class,
        java.net.ServerSocket.class,
        URL.class,
        File.class,
        FileOutputStream.class,
        java.nio.file.Files.class,
    };

    private static final Charset LATIN_1 = Charset.forName("ISO-8859-1");

    /** The trial that runs. */
    private static volatile Trial current;
    /** Whether the program did what the next trial would notice. */
    private static volatile boolean isSpoilt;

    /** For each trial what it replaces, as Replacer reads it. */
    private final ArrayList<String[]> all = new ArrayList<String[]>();
    /** How long a trial may take, in milliseconds. */
    private long limit;
    /** Bytes of its output that are kept. */
    private int kept;
    /** Trials that end with code 0; then one more is made, without other values. Those without do not count. */
    private long wanted;

    /** Where classes are that are loaded anew each time. */
    private URL[] path;
    /** Loads the other ones, once. */
    private ClassLoader shared;
    private String main;
    private String[] words;

    private Trials() {}

    /**
     * The trials that are ordered for this virtual machine; null if there are none.
     *
     * root: the checkout, with a separator at its end.
     */
    static Trials ordered(File order, String root) throws IOException {
        Trials trials = new Trials();
        BufferedReader in = new BufferedReader(new InputStreamReader(new FileInputStream(order), LATIN_1));
        try {
            byte[] own = bytes(new File("/proc/self/cmdline"));
            if (!hex(own, own.length).equals(in.readLine())) {
                return null;
            }
            String[] limits = in.readLine().split("\t");
            trials.limit = Long.parseLong(limits[0]);
            trials.kept = Integer.parseInt(limits[1]);
            trials.wanted = Long.parseLong(limits[2]);
            trials.findPath(limits[3].equals("shared") ? root : "");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                trials.all.add(line.isEmpty() ? new String[0] : line.split("\t"));
            }
            trials.words = words(own);
        } finally {
            in.close();
        }
        return trials.words != null && trials.findMain() ? trials : null;
    }

    /** The main class or the archive and the arguments behind it, with a word before; null if they cannot be told. */
    private static String[] words(byte[] own) throws IOException {
        String text = new String(own, System.getProperty("sun.jnu.encoding", "UTF-8"));
        String command = System.getProperty("sun.java.command");
        String[] all = text.split("\0", -1);
        // The last word ends with a zero, too.
        all = Arrays.copyOf(all, all.length - 1);
        StringBuilder joined = new StringBuilder();
        for (int i = all.length - 1; i > 0; i--) {
            joined.insert(0, i == all.length - 1 ? all[i] : all[i] + " ");
            if (joined.toString().equals(command)) {
                return Arrays.copyOfRange(all, i - 1, all.length);
            }
        }
        return null;
    }

    /** What is on the class path, in its order; archives and directories outside of a root are loaded once. */
    private void findPath(String root) throws IOException {
        ArrayList<URL> anew = new ArrayList<URL>();
        ArrayList<URL> once = new ArrayList<URL>();
        for (String entry : System.getProperty("java.class.path", "").split(File.pathSeparator, -1)) {
            File file = new File(entry.isEmpty() ? "." : entry);
            boolean isInside = (file.getCanonicalPath() + File.separator).startsWith(root);
            (isInside ? anew : once).add(file.toURI().toURL());
        }
        path = anew.toArray(new URL[0]);
        ClassLoader system = ClassLoader.getSystemClassLoader().getParent();
        shared = once.isEmpty() ? system : new URLClassLoader(once.toArray(new URL[0]), system);
    }

    private boolean findMain() throws IOException {
        if (System.getProperty("jdk.module.main") != null) {
            return false;
        }
        main = words[1];
        if (words[0].equals("-jar")) {
            JarFile archive = new JarFile(words[1]);
            try {
                main = archive.getManifest() == null ? null : main(archive.getManifest().getMainAttributes());
            } finally {
                archive.close();
            }
        }
        if (main == null) {
            return false;
        }
        main = main.trim().replace('/', '.');
        return true;
    }

    /** The main class; null if the launcher does more than to call it. */
    private static String main(Attributes attributes) {
        for (String more : new String[] {"Add-Opens", "Add-Exports", "Launcher-Agent-Class", "Enable-Native-Access"}) {
            if (attributes.getValue(more) != null) {
                return null;
            }
        }
        return attributes.getValue("Main-Class");
    }

    /** Makes the trials, tells each one in a file, and ends the virtual machine. */
    void run(File told) throws IOException {
        FileOutputStream out = new FileOutputStream(told);
        ArrayList<JarFile> open = new ArrayList<JarFile>();
        try {
            // As long as an archive is open, its directory is read once.
            for (URL one : path) {
                if (one.getPath().endsWith(".jar")) {
                    try {
                        open.add(new JarFile(new File(one.toURI())));
                    } catch (Exception error) {
                        // It is as if it were not there.
                    }
                }
            }
            Settings settings = new Settings();
            for (int i = 0; i < all.size() && !isSpoilt; i++) {
                boolean isWithout = all.get(i).length == 0;
                if (wanted <= 0 && !isWithout) {
                    continue;
                }
                Trial trial = new Trial(kept);
                Replacer.begin(all.get(i));
                current = trial;
                trial.run(this);
                settings.restore();
                current = null;
                Replacer.end();
                if (trial.isLate || isSpoilt) {
                    break;
                }
                out.write((i + "\t" + trial.code + "\t" + Replacer.told() + "\t" + trial.output.hex() + "\n").getBytes(LATIN_1));
                if (trial.code == 0 && !isWithout) {
                    wanted--;
                }
                if (wanted <= 0 && isWithout) {
                    break;
                }
                // The next one would be slow, or fail.
                isSpoilt |= isFull();
            }
        } finally {
            out.close();
            Runtime.getRuntime().halt(1);
        }
    }

    private static boolean isFull() {
        Runtime runtime = Runtime.getRuntime();
        long most = runtime.maxMemory() / 4 * 3;
        if (runtime.totalMemory() - runtime.freeMemory() < most) {
            return false;
        }
        System.gc();
        return runtime.totalMemory() - runtime.freeMemory() >= most;
    }

    /** A class of the checkout is loaded; by the loader of the system it stays for the next trial. */
    static void meet(ClassLoader loader) {
        if (current != null && loader == ClassLoader.getSystemClassLoader()) {
            isSpoilt = true;
        }
    }

    /** The program does what the next trial would notice: there is none, and this one does not count. */
    public static void bar() {
        Trial trial = current;
        if (trial != null && trial.isOfIt(Thread.currentThread())) {
            current = null;
            Runtime.getRuntime().halt(1);
        }
    }

    /** A thread ends the virtual machine: called at the beginning of the methods of Runtime that do. */
    public static void leave(int code) {
        Trial trial = current;
        if (trial != null && trial.isOfIt(Thread.currentThread())) {
            // The system keeps 8 bits.
            trial.leave(code & 255);
        }
    }

    /** What a program may set for the whole virtual machine. */
    private static final class Settings {
        private final Properties properties = (Properties) System.getProperties().clone();
        private final PrintStream out = System.out;
        private final PrintStream err = System.err;
        private final InputStream in = System.in;
        private final Locale locale = Locale.getDefault();
        private final Locale shown = Locale.getDefault(Locale.Category.DISPLAY);
        private final Locale format = Locale.getDefault(Locale.Category.FORMAT);
        private final TimeZone zone = TimeZone.getDefault();
        private final Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();

        void restore() {
            System.setProperties((Properties) properties.clone());
            System.setOut(out);
            System.setErr(err);
            System.setIn(in);
            Locale.setDefault(locale);
            Locale.setDefault(Locale.Category.DISPLAY, shown);
            Locale.setDefault(Locale.Category.FORMAT, format);
            TimeZone.setDefault(zone);
            Thread.setDefaultUncaughtExceptionHandler(handler);
        }
    }

    /** One run of the program. */
    private static final class Trial {
        final ThreadGroup group = new ThreadGroup(Thread.currentThread().getThreadGroup().getParent(), "main");
        final Output output;
        int code;
        boolean isLate;
        /** The thread that ended the program. */
        private Thread leaving;
        private boolean isLeft;
        private boolean isUncaught;

        Trial(int kept) {
            output = new Output(kept);
        }

        boolean isOfIt(Thread thread) {
            ThreadGroup one = thread.getThreadGroup();
            while (one != null && one != group) {
                one = one.getParent();
            }
            return one != null;
        }

        void run(final Trials all) throws IOException {
            final URLClassLoader loader = new URLClassLoader(all.path, all.shared);
            Thread thread = new Thread(group, null, "main") {
                @Override
                public void run() {
                    isUncaught = true;
                    call(loader, all.main, all.words);
                    isUncaught = false;
                }
            };
            thread.setContextClassLoader(loader);
            PrintStream stream = new PrintStream(output, true);
            System.setOut(stream);
            System.setErr(stream);
            System.setIn(NO_INPUT);
            thread.start();
            try {
                await(System.nanoTime() + all.limit * 1000000);
            } catch (InterruptedException error) {
                isLate = true;
            }
            // All is there: the stream keeps nothing back. A thread that leaves may hold its lock.
            output.close();
            settle();
            loader.close();
        }

        /** Threads that the end of the program would end. */
        private void settle() {
            for (Thread one : threads()) {
                if (one == leaving || isLate) {
                    continue;
                }
                try {
                    one.join(PATIENCE);
                } catch (InterruptedException error) {
                    // It counts as going on.
                }
                isSpoilt |= one.isAlive();
            }
        }

        private void await(long end) throws InterruptedException {
            synchronized (this) {
                while (!isLeft && isRunning()) {
                    isLate = System.nanoTime() >= end;
                    if (isLate) {
                        return;
                    }
                    wait(1);
                }
                if (!isLeft) {
                    isLeft = true;
                    code = isUncaught ? 1 : 0;
                }
            }
        }

        /** Whether a thread keeps the program from its end. */
        private boolean isRunning() {
            for (Thread one : threads()) {
                if (!one.isDaemon()) {
                    return true;
                }
            }
            return false;
        }

        private List<Thread> threads() {
            Thread[] found = new Thread[group.activeCount() + 16];
            int n = group.enumerate(found, true);
            return Arrays.asList(found).subList(0, n);
        }

        /** Keeps what a thread that ends the program would do next from being done: there is no next. */
        void leave(int with) {
            synchronized (this) {
                if (!isLeft) {
                    isLeft = true;
                    code = with;
                    leaving = Thread.currentThread();
                    notifyAll();
                }
            }
            while (true) {
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException error) {
                    // It goes on to wait.
                }
            }
        }
    }

    /** The input can be read once. */
    private static final InputStream NO_INPUT = new InputStream() {
        @Override
        public int read() {
            bar();
            return -1;
        }
    };

    /** How long a thread may take to end when the program has ended, in milliseconds. */
    private static final long PATIENCE = 200;

    private static void call(ClassLoader loader, String name, String[] words) {
        Throwable thrown;
        try {
            Method method = Class.forName(name, false, loader).getMethod("main", String[].class);
            method.setAccessible(true);
            method.invoke(null, (Object) Arrays.copyOfRange(words, 2, words.length));
            return;
        } catch (InvocationTargetException error) {
            thrown = error.getCause();
        } catch (Throwable error) {
            thrown = error;
        }
        cut(thrown);
        Trials.<RuntimeException>hand(thrown);
    }

    /** Throws what the compiler would not let pass. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void hand(Throwable thrown) throws T {
        throw (T) thrown;
    }

    /** Takes the frames away that are below the main method. */
    private static void cut(Throwable thrown) {
        StackTraceElement[] frames = thrown.getStackTrace();
        int n = frames.length;
        while (n > 0 && isOurs(frames[n - 1].getClassName())) {
            n--;
        }
        thrown.setStackTrace(Arrays.copyOf(frames, n));
    }

    private static boolean isOurs(String name) {
        return name.startsWith("git_idd.recording.") || name.startsWith("java.lang.reflect.")
            || name.startsWith("jdk.internal.reflect.") || name.startsWith("sun.reflect.")
            || name.startsWith("java.lang.invoke.");
    }

    /** What a program prints. */
    private static final class Output extends OutputStream {
        private final byte[] bytes;
        private int n;
        private boolean isClosed;

        Output(int kept) {
            bytes = new byte[kept];
        }

        @Override
        public synchronized void write(int one) {
            if (!isClosed && n < bytes.length) {
                bytes[n++] = (byte) one;
            }
        }

        @Override
        public synchronized void write(byte[] from, int at, int length) {
            int more = isClosed ? 0 : Math.min(length, bytes.length - n);
            System.arraycopy(from, at, bytes, n, more);
            n += more;
        }

        @Override
        public synchronized void close() {
            isClosed = true;
        }

        synchronized String hex() {
            return Trials.hex(bytes, n);
        }
    }

    static byte[] bytes(File file) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        InputStream in = new FileInputStream(file);
        try {
            byte[] buffer = new byte[4096];
            for (int n = in.read(buffer); n > 0; n = in.read(buffer)) {
                all.write(buffer, 0, n);
            }
        } finally {
            in.close();
        }
        return all.toByteArray();
    }

    private static String hex(byte[] bytes, int n) {
        char[] digits = new char[2 * n];
        for (int i = 0; i < n; i++) {
            digits[2 * i] = Character.forDigit((bytes[i] >> 4) & 15, 16);
            digits[2 * i + 1] = Character.forDigit(bytes[i] & 15, 16);
        }
        return new String(digits);
    }
}
