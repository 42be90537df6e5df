package git_idd.recording;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.Charset;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.function.IntConsumer;

/**
 * What rewritten classes call. Each thread writes its records to a mapped file, so a killed process loses none.
 *
 * Code of the program can run while a file is mapped (a security manager of its own): what it records then is dropped.
 */
public final class Recorder {
    private static final int CLOCK = 1;
    private static final int CUT = 2;

    /** Bytes at the end of a piece in which no record begins: each is shorter, and the last one of all has room. */
    private static final int SPARE = 64;

    private static final int FIRST_PIECE = 64 << 10;

    /** The file of a thread is not longer at first. */
    private static final int FIRST_OF_THREAD = 8 << 10;

    private static final int PIECE = 4 << 20;
    private static final int SMALLEST_PIECE = 4 << 10;

    /** More threads are not recorded. */
    private static final int MAX_THREADS = 1 << 16;

    /** Characters of a text that are kept. */
    private static final int MAX_TEXT = 128;

    private static final Charset UTF_8 = Charset.forName("UTF-8");

    /** Takes what is not kept. */
    private static final MappedByteBuffer NOWHERE = (MappedByteBuffer) ByteBuffer.allocateDirect(SPARE);

    private static final ThreadLocal<Stream> STREAMS = new ThreadLocal<Stream>();
    private static final Stream NOBODY = new Stream(null);

    /**
     * Whose record was the last one. Another thread takes its turn first, with a new value of the clock. Without a race
     * in the program, a thread that sees what another one wrote also sees that the other had the turn.
     */
    private static Stream last = NOBODY;
    private static final Object TURN = new Object();
    private static int clock;

    private static String directory;
    private static IntConsumer maker;

    private static final Object ROOM = new Object();
    private static long left;

    private static final Object NUMBERS = new Object();
    private static int nThreads;

    /** Which objects are described, a bit for each; bits are set under a lock, and read without. */
    private static final long[][] SEEN = new long[1 << 13][];
    private static final int PAGE = 1 << 12;

    /** The file of descriptions. */
    private static MappedByteBuffer objects;
    private static long objectsBase;
    private static int objectsPosition;
    private static boolean isDescribing;
    private static Class<?> lastClass;
    private static byte[] lastName;

    /** What the methods of buffers need where an exception goes through them. */
    private static final String[] LATE = {
        "jdk.internal.misc.ScopedMemoryAccess$Scope",
        "jdk.internal.misc.ScopedMemoryAccess$ScopedAccessError",
        "jdk.internal.misc.ScopedMemoryAccess$Scope$ScopedAccessError",
        "java.lang.invoke.WrongMethodTypeException",
        "java.lang.reflect.InvocationTargetException",
        "jdk.internal.foreign.MemorySessionImpl",
        "java.nio.channels.ClosedByInterruptException",
    };

    private Recorder() {}

    /** Runs through all that is needed later: deep in a stack, classes cannot be loaded. */
    static void load() {
        NOWHERE.order(ByteOrder.LITTLE_ENDIAN);
        STREAMS.get();
        for (int i = 0; i < LATE.length; i++) {
            try {
                Class.forName(LATE[i]);
            } catch (Throwable error) {
                // Of another version.
            }
        }
    }

    /** Begins to record. */
    public static void prepare(String place, long limit, IntConsumer files) {
        directory = place;
        left = limit;
        maker = files;
        load();
        id("");
        id(Integer.valueOf(-1));
        id(new RuntimeException(""));
        id(new int[0][0]);
        id(Recorder.class);
    }

    /** A site without a value. */
    public static void at(int site) {
        Stream stream = last;
        if (stream.thread != Thread.currentThread()) {
            stream = turn();
        }
        int position = stream.position;
        if (position > stream.end) {
            position = stream.next();
        }
        stream.buffer.putInt(position, site);
        stream.position = position + 4;
    }

    /** A value; the site is written behind it, so that a record is there as a whole or not at all. */
    public static void of(int value, int site) {
        Stream stream = last;
        if (stream.thread != Thread.currentThread()) {
            stream = turn();
        }
        int position = stream.position;
        if (position > stream.end) {
            position = stream.next();
        }
        MappedByteBuffer buffer = stream.buffer;
        buffer.putInt(position + 4, value);
        buffer.putInt(position, site);
        stream.position = position + 8;
    }

    /** A value. */
    public static void of(long value, int site) {
        Stream stream = last;
        if (stream.thread != Thread.currentThread()) {
            stream = turn();
        }
        int position = stream.position;
        if (position > stream.end) {
            position = stream.next();
        }
        MappedByteBuffer buffer = stream.buffer;
        buffer.putLong(position + 4, value);
        buffer.putInt(position, site);
        stream.position = position + 12;
    }

    /** A value. */
    public static void of(float value, int site) {
        of(Float.floatToRawIntBits(value), site);
    }

    /** A value. */
    public static void of(double value, int site) {
        of(Double.doubleToRawLongBits(value), site);
    }

    /** A value. */
    public static void of(Object value, int site) {
        of(value == null ? 0 : id(value), site);
    }

    /** The records of this thread, which has the turn from now on. */
    private static Stream turn() {
        Stream stream = STREAMS.get();
        if (stream == null) {
            stream = new Stream(Thread.currentThread());
            STREAMS.set(stream);
        }
        if (stream.isBusy || !stream.isOpen()) {
            return stream;
        }
        int now;
        synchronized (TURN) {
            now = ++clock;
            last = stream;
        }
        boolean isWritten = false;
        try {
            int position = stream.position;
            if (position > stream.end) {
                position = stream.next();
            }
            stream.buffer.putInt(position + 4, now);
            stream.buffer.putInt(position, CLOCK);
            stream.position = position + 8;
            isWritten = true;
        } finally {
            if (!isWritten) {
                last = NOBODY;
            }
        }
        return stream;
    }

    private static int id(Object object) {
        int id = System.identityHashCode(object);
        if (!isSeen(id)) {
            describe(object, id);
        }
        return id;
    }

    private static boolean isSeen(int id) {
        long[] page = SEEN[id >>> 18];
        return page != null && (page[(id >>> 6) & (PAGE - 1)] & 1L << id) != 0;
    }

    private static void describe(Object object, int id) {
        synchronized (SEEN) {
            if (isDescribing || isSeen(id)) {
                return;
            }
            isDescribing = true;
            try {
                write(object, id);
                long[] page = SEEN[id >>> 18];
                if (page == null) {
                    page = new long[PAGE];
                    SEEN[id >>> 18] = page;
                }
                page[(id >>> 6) & (PAGE - 1)] |= 1L << id;
            } finally {
                isDescribing = false;
            }
        }
    }

    /** Appends the description of an object; its id is written last. */
    private static void write(Object object, int id) {
        Class<?> type = object.getClass();
        int kind = 0;
        String text = "";
        int number = 0;
        if (object instanceof String) {
            kind = 1;
            text = (String) object;
            number = text.length();
        } else if (type.isArray()) {
            kind = 2;
            number = java.lang.reflect.Array.getLength(object);
        } else if (object instanceof Class) {
            kind = 4;
            text = ((Class<?>) object).getName();
        } else if (object instanceof Enum) {
            kind = 5;
            text = ((Enum<?>) object).name();
        } else if (object instanceof Throwable) {
            kind = 6;
            text = message((Throwable) object, type);
        } else if (isBoxed(type)) {
            kind = 3;
            text = object.toString();
        }
        if (text.length() > MAX_TEXT) {
            text = text.substring(0, MAX_TEXT);
        }
        byte[] name = name(type);
        byte[] bytes = text.length() == 0 ? NO_BYTES : text.getBytes(UTF_8);
        int total = 14 + name.length + bytes.length;
        if (objects == null || objectsPosition + total > objects.capacity() - SPARE) {
            long base = objectsBase + objectsPosition;
            // Records need room, too.
            int usual = objects == null ? FIRST_PIECE : Math.min(PIECE, 2 * objects.capacity());
            int size = Math.max(usual, total + SPARE);
            MappedByteBuffer next = piece("objects", base, size, total + SPARE);
            if (next == null) {
                return;
            }
            objects = next;
            objectsBase = base;
            objectsPosition = 0;
        }
        MappedByteBuffer out = objects;
        int at = objectsPosition;
        out.put(at + 4, (byte) kind);
        out.put(at + 5, (byte) 0);
        int behind = put(out, put(out, at + 6, name), bytes);
        out.putInt(behind, number);
        out.putInt(at, id);
        objectsPosition = at + total;
    }

    private static final byte[] NO_BYTES = new byte[0];

    /** Writes a length and bytes; returns the place behind them. */
    private static int put(MappedByteBuffer out, int at, byte[] bytes) {
        out.putShort(at, (short) bytes.length);
        for (int i = 0; i < bytes.length; i++) {
            out.put(at + 2 + i, bytes[i]);
        }
        return at + 2 + bytes.length;
    }

    private static byte[] name(Class<?> type) {
        if (type != lastClass) {
            String name = type.getName();
            // As many characters have at most as many bytes as fit into the length.
            byte[] bytes = (name.length() > 20000 ? name.substring(0, 20000) : name).getBytes(UTF_8);
            lastName = bytes;
            lastClass = type;
        }
        return lastName;
    }

    private static boolean isBoxed(Class<?> type) {
        return type == Integer.class || type == Long.class || type == Character.class || type == Boolean.class
            || type == Double.class || type == Byte.class || type == Short.class || type == Float.class;
    }

    private static String message(Throwable thrown, Class<?> type) {
        if (type.getClassLoader() != null) {
            return "";
        }
        try {
            String message = thrown.getMessage();
            return message == null ? "" : message;
        } catch (RuntimeException error) {
            return "";
        }
    }

    /** Maps the next piece of a file, the last one of all with what is left; null if there is no room. */
    static MappedByteBuffer piece(String name, long at, int size, int least) {
        int taken;
        synchronized (ROOM) {
            if (left < least) {
                left = 0;
                return null;
            }
            taken = (int) Math.min(left, size);
            left -= taken;
        }
        return AccessController.doPrivileged(new Mapping(new File(directory, name), at, taken));
    }

    /** Maps a piece of a file, whoever is on the stack. */
    static final class Mapping implements PrivilegedAction<MappedByteBuffer> {
        private final File file;
        private final long at;
        private final int size;

        Mapping(File file, long at, int size) {
            this.file = file;
            this.at = at;
            this.size = size;
        }

        @Override
        public MappedByteBuffer run() {
            // An interrupt closes a channel; the program is to find it later.
            boolean isInterrupted = false;
            try {
                for (int attempt = 0; attempt < 8; attempt++) {
                    isInterrupted |= Thread.interrupted();
                    try {
                        return map();
                    } catch (ClosedByInterruptException error) {
                        continue;
                    } catch (IOException error) {
                        return null;
                    } catch (RuntimeException error) {
                        return null;
                    } catch (OutOfMemoryError error) {
                        return null;
                    }
                }
                return null;
            } finally {
                if (isInterrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        private MappedByteBuffer map() throws IOException {
            RandomAccessFile open = new RandomAccessFile(file, "rw");
            try {
                MappedByteBuffer buffer = open.getChannel().map(FileChannel.MapMode.READ_WRITE, at, size);
                buffer.order(ByteOrder.LITTLE_ENDIAN);
                return buffer;
            } finally {
                open.close();
            }
        }
    }

    /** The records of a thread. */
    static final class Stream {
        final Thread thread;
        MappedByteBuffer buffer = NOWHERE;
        /** Where the next record begins in the buffer. */
        int position;
        /** Where the last one may begin; negative if records are dropped. */
        int end = -1;
        /** Bytes of the file before the buffer. */
        private long base;
        private int number = -1;
        private boolean isOpen;
        private boolean isOver;
        boolean isBusy;

        Stream(Thread thread) {
            this.thread = thread;
        }

        /** Whether there is a file; it is made if that was not tried before. */
        boolean isOpen() {
            if (isOpen || isOver) {
                return isOpen;
            }
            isBusy = true;
            try {
                // One after the other: a program that ends meanwhile leaves no gap before a file.
                synchronized (NUMBERS) {
                    if (number < 0) {
                        number = nThreads++;
                    }
                    if (number >= MAX_THREADS) {
                        isOver = true;
                        maker.accept(-MAX_THREADS - 1);
                        return false;
                    }
                    maker.accept(number);
                }
                MappedByteBuffer first = piece("thread-" + number, 0, FIRST_OF_THREAD, SMALLEST_PIECE);
                if (first == null) {
                    isOver = true;
                    return false;
                }
                int behind = greet(first);
                buffer = first;
                position = behind;
                end = first.capacity() - SPARE;
                isOpen = true;
                return true;
            } finally {
                isBusy = false;
            }
        }

        private int greet(MappedByteBuffer first) {
            String name = thread.getName();
            byte[] bytes = (name.length() > MAX_TEXT ? name.substring(0, MAX_TEXT) : name).getBytes(UTF_8);
            first.put(0, (byte) 'I');
            first.put(1, (byte) 'D');
            first.put(2, (byte) 'D');
            first.put(3, (byte) 'J');
            first.putInt(4, 1);
            first.putInt(8, number);
            return (put(first, 12, bytes) + 3) & ~3;
        }

        /** Goes on in the next piece; returns where the next record begins. */
        int next() {
            if (isBusy || !isOpen || isOver) {
                buffer = NOWHERE;
                end = -1;
                return 0;
            }
            MappedByteBuffer whole = buffer;
            int behind = position;
            int capacity = end;
            MappedByteBuffer next = null;
            boolean isDone = false;
            isBusy = true;
            buffer = NOWHERE;
            end = -1;
            try {
                if (base == 0) {
                    maker.accept(number);
                }
                int size = (int) Math.min(PIECE, 2L * (capacity + SPARE));
                next = piece("thread-" + number, base + behind, size, SMALLEST_PIECE);
                if (next == null) {
                    whole.putInt(behind, CUT);
                    isOver = true;
                }
                isDone = true;
            } finally {
                if (!isDone) {
                    buffer = whole;
                    position = behind;
                    end = capacity;
                }
                isBusy = false;
            }
            if (next != null) {
                buffer = next;
                base += behind;
                end = next.capacity() - SPARE;
            }
            position = 0;
            return 0;
        }
    }
}
