package git_idd.recording;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.Buffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.Charset;
import java.security.AccessController;
import java.security.PrivilegedAction;
import jdk.internal.misc.Unsafe;
import sun.nio.ch.FileChannelImpl;

/**
 * What rewritten classes call. Each thread writes its records to mapped memory, so a killed process loses none.
 *
 * Code of the program can run while a file is mapped (a security manager of its own): what it records then is dropped.
 */
public final class Recorder {
    private static final int CLOCK = 1;
    private static final int CUT = 2;
    private static final int LOST = 3;

    /** Bytes at the end of a piece in which no record begins: each is shorter, and the last one of all has room. */
    private static final int SPARE = 64;

    private static final int FIRST_PIECE = 64 << 10;

    /** The file of a thread is not longer at first. */
    private static final int FIRST_OF_THREAD = 8 << 10;

    /** The largest piece of a file. What comes after it goes through a ring. */
    private static final int PIECE = 256 << 10;
    private static final int SMALLEST_PIECE = 4 << 10;

    /** A ring has a page for the other process, and two halves, which begin with HEAD bytes: their number, and how long they are. */
    private static final int PAGE_OF_RING = 4 << 10;
    private static final int HALF = 1 << 20;
    private static final int HEAD = 8;

    /** If less is left, there is no ring: it would not be filled. */
    private static final int LEAST_FOR_RING = 16 * HALF;

    /** More threads are not recorded. */
    private static final int MAX_THREADS = 1 << 16;

    /** In place of the number of a thread: the file of descriptions. */
    static final int OBJECTS = -1;

    /** Characters of a text that are kept. */
    private static final int MAX_TEXT = 128;

    /** Bits of a number whose digits are kept. */
    private static final int MAX_BITS = 400;

    private static final Charset UTF_8 = Charset.forName("UTF-8");

    private static final Unsafe MEMORY = Unsafe.getUnsafe();

    /** Takes what is not kept. */
    private static final long NOWHERE = MEMORY.allocateMemory(SPARE);

    private static final long ADDRESS = offsetOfAddress();

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
    private static Agent agent;

    private static final Object ROOM = new Object();
    private static long left;
    /** Whether there is no more room for another reason than the limit. */
    private static boolean isLost;

    private static final Object NUMBERS = new Object();
    private static int nThreads;

    /** Which objects are described, a bit for each; bits are set under a lock, and read without. */
    private static final long[][] SEEN = new long[1 << 13][];
    private static final int PAGE = 1 << 12;

    private static final Tape OBJECTS_TAPE = new Tape(OBJECTS, "objects");
    private static boolean isDescribing;

    /** Kinds of objects. */
    private static final int OTHER = 0;
    private static final int STRING = 1;
    private static final int ARRAY = 2;
    private static final int BOXED = 3;
    private static final int CLASS = 4;
    private static final int CONSTANT = 5;
    private static final int EXCEPTION = 6;

    /** What is known of classes; each class keeps its own, so none is kept from being unloaded. */
    private static final ClassValue<Type> TYPES = new ClassValue<Type>() {
        @Override
        protected Type computeValue(Class<?> type) {
            return new Type(type);
        }
    };

    /** What the methods of buffers need where an exception goes through them. */
    private static final String[] LATE = {
        "java.lang.reflect.InvocationTargetException",
        "jdk.internal.foreign.MemorySessionImpl",
        "java.nio.channels.ClosedByInterruptException",
    };

    private Recorder() {}

    private static long offsetOfAddress() {
        try {
            return MEMORY.objectFieldOffset(Buffer.class.getDeclaredField("address"));
        } catch (NoSuchFieldException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Runs through all that is needed later: deep in a stack, classes cannot be loaded. */
    private static void load() {
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
    static void prepare(String place, long limit, Agent server) {
        directory = place;
        left = limit;
        agent = server;
        load();
        // A description is written under a lock, in which no file should be mapped: a security manager could wait for it.
        if (!OBJECTS_TAPE.goRound(0)) {
            OBJECTS_TAPE.goOn(0, OBJECTS_TAPE.lengthen(0, FIRST_PIECE, 0));
        }
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
        long position = stream.position;
        if (position > stream.end) {
            position = stream.next();
        }
        MEMORY.putInt(position, site);
        stream.position = position + 4;
    }

    /** A value; the site is written behind it, so that a record is there as a whole or not at all. */
    public static void of(int value, int site) {
        Stream stream = last;
        if (stream.thread != Thread.currentThread()) {
            stream = turn();
        }
        long position = stream.position;
        if (position > stream.end) {
            position = stream.next();
        }
        MEMORY.putInt(position + 4, value);
        MEMORY.putInt(position, site);
        stream.position = position + 8;
    }

    /** A value. */
    public static void of(long value, int site) {
        Stream stream = last;
        if (stream.thread != Thread.currentThread()) {
            stream = turn();
        }
        long position = stream.position;
        if (position > stream.end) {
            position = stream.next();
        }
        MEMORY.putLong(position + 4, value);
        MEMORY.putInt(position, site);
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
            long position = stream.position;
            if (position > stream.end) {
                position = stream.next();
            }
            MEMORY.putInt(position + 4, now);
            MEMORY.putInt(position, CLOCK);
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
        Type type = TYPES.get(object.getClass());
        byte[] text = NO_BYTES;
        int number = 0;
        if (type.kind == ARRAY) {
            number = length(object);
        } else if (type.kind != OTHER) {
            String whole = text(object, type.kind);
            number = type.kind == STRING ? whole.length() : 0;
            text = (whole.length() > MAX_TEXT ? whole.substring(0, MAX_TEXT) : whole).getBytes(UTF_8);
        }
        int total = 10 + type.length + text.length;
        Tape out = OBJECTS_TAPE;
        long at = out.position;
        if (at + total > out.end) {
            at = out.next(total);
            if (at == NOWHERE) {
                return;
            }
        }
        // The last word may be longer than the description, and has zeros there.
        for (int i = 0; i < type.words.length; i++) {
            MEMORY.putLong(at + 4 + 8 * i, type.words[i]);
        }
        long behind = put(at + 4 + type.length, text);
        MEMORY.putInt(behind, number);
        MEMORY.putInt(at, id);
        out.position = at + total;
    }

    private static final byte[] NO_BYTES = new byte[0];

    /** Writes a length and bytes; returns the address behind them. */
    private static long put(long at, byte[] bytes) {
        MEMORY.putShort(at, (short) bytes.length);
        for (int i = 0; i < bytes.length; i++) {
            MEMORY.putByte(at + 2 + i, bytes[i]);
        }
        return at + 2 + bytes.length;
    }

    private static int length(Object array) {
        if (array instanceof Object[]) {
            return ((Object[]) array).length;
        }
        if (array instanceof int[]) {
            return ((int[]) array).length;
        }
        if (array instanceof double[]) {
            return ((double[]) array).length;
        }
        if (array instanceof byte[]) {
            return ((byte[]) array).length;
        }
        return Array.getLength(array);
    }

    private static String text(Object object, int kind) {
        switch (kind) {
            case STRING:
                return (String) object;
            case CLASS:
                return ((Class<?>) object).getName();
            case CONSTANT:
                return ((Enum<?>) object).name();
            case EXCEPTION:
                return message((Throwable) object);
            default:
                return number(object);
        }
    }

    /** A number, character or truth value as text. Of a number with too many digits to show, only the size and a hash. */
    private static String number(Object object) {
        BigInteger digits = object instanceof BigInteger ? (BigInteger) object
            : object instanceof BigDecimal ? ((BigDecimal) object).unscaledValue() : BigInteger.ZERO;
        int bits = digits.bitLength();
        return bits <= MAX_BITS ? object.toString() : bits + " bits, hash " + Integer.toHexString(object.hashCode());
    }

    /** A class of objects: the bytes of a description from the kind on to the name, in words. */
    private static final class Type {
        final int kind;
        final int length;
        final long[] words;

        Type(Class<?> type) {
            String name = type.getName();
            // As many characters have at most as many bytes as fit into the length.
            byte[] bytes = (name.length() > 20000 ? name.substring(0, 20000) : name).getBytes(UTF_8);
            kind = kind(type);
            length = 4 + bytes.length;
            words = new long[(length + 7) / 8];
            words[0] = kind | (long) bytes.length << 16;
            for (int i = 0; i < bytes.length; i++) {
                words[(4 + i) / 8] |= (bytes[i] & 255L) << 8 * ((4 + i) % 8);
            }
        }

        private static int kind(Class<?> type) {
            if (type.isArray()) {
                return ARRAY;
            }
            if (type == String.class) {
                return STRING;
            }
            if (type == Class.class) {
                return CLASS;
            }
            if (Enum.class.isAssignableFrom(type)) {
                return CONSTANT;
            }
            if (Throwable.class.isAssignableFrom(type)) {
                return EXCEPTION;
            }
            return isBoxed(type) ? BOXED : OTHER;
        }

        private static boolean isBoxed(Class<?> type) {
            return type == Integer.class || type == Long.class || type == Character.class || type == Boolean.class
                || type == Double.class || type == Byte.class || type == Short.class || type == Float.class
                || type == BigInteger.class || type == BigDecimal.class;
        }
    }

    private static String message(Throwable thrown) {
        if (thrown.getClass().getClassLoader() != null) {
            return "";
        }
        try {
            String message = thrown.getMessage();
            return message == null ? "" : message;
        } catch (RuntimeException error) {
            return "";
        }
    }

    /** Takes up to so many bytes of what may be recorded, and at least some; 0 if there is less. */
    private static int take(int size, int least) {
        synchronized (ROOM) {
            if (left < least) {
                left = 0;
                return 0;
            }
            int taken = (int) Math.min(left, size);
            left -= taken;
            return taken;
        }
    }

    /** No stream gets more room. */
    private static void stop() {
        synchronized (ROOM) {
            isLost |= left > 0;
            left = 0;
        }
    }

    /** Whether there is no more room because of the limit. */
    private static boolean isFull() {
        synchronized (ROOM) {
            return left == 0 && !isLost;
        }
    }

    private static MappedByteBuffer map(String name, long at, int size) {
        return AccessController.doPrivileged(new Mapping(new File(directory, name), at, size));
    }

    /** Maps a piece of a file, whoever is on the stack. */
    static final class Mapping implements PrivilegedAction<MappedByteBuffer> {
        private static final int MAX_ATTEMPTS = 1000;

        /** Whether a channel can be told to ignore interrupts. */
        private static boolean hasUninterruptible = true;

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
            // Before Java 11, an interrupt closes a channel; the program is to find it later.
            boolean isInterrupted = false;
            try {
                for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
                    isInterrupted |= !hasUninterruptible && Thread.interrupted();
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
                FileChannel channel = open.getChannel();
                if (hasUninterruptible) {
                    ignoreInterrupts(channel);
                }
                return channel.map(FileChannel.MapMode.READ_WRITE, at, size);
            } finally {
                open.close();
            }
        }

        private static void ignoreInterrupts(FileChannel channel) {
            try {
                ((FileChannelImpl) channel).setUninterruptible();
            } catch (LinkageError error) {
                hasUninterruptible = false;
            }
        }
    }

    /**
     * A file that becomes longer: first by mapped pieces, each twice as long as the one before. A page that is touched for the
     * first time costs more than the records that it takes, so what comes then goes through a ring of two halves: while one
     * is written, the other process appends the other one to the file.
     */
    static class Tape {
        private final String name;
        int number;
        /** The address of the next record. */
        long position = NOWHERE;
        /** The last address at which one may begin; negative if records are dropped. */
        long end = -1;
        /** The first address of the piece or the half. */
        private long first;
        /** Keeps the mapping. */
        private MappedByteBuffer buffer;
        /** Bytes of the file before the piece. */
        private long base;
        private int size;
        /** The number of the half, counted from 1; 0 if there is no ring. */
        private int half;
        boolean isOver;
        boolean isBusy;

        Tape(int number, String name) {
            this.number = number;
            this.name = name;
        }

        /** The name of its file, behind the number. */
        String name() {
            return name;
        }

        /** Makes the file longer by up to so many bytes, and at least some; by how many: 0 if there is no room. */
        int lengthen(long before, int wanted, int least) {
            int taken = take(Math.max(wanted, least), Math.max(least, SMALLEST_PIECE));
            return taken > 0 && agent.lengthen(number, before + taken) ? taken : 0;
        }

        /** Goes on in so many bytes behind others; whether they are there. A security manager of the program may run meanwhile. */
        boolean goOn(long before, int length) {
            if (length == 0 || !isMapped(map(name(), before, length), length)) {
                return false;
            }
            base = before;
            return true;
        }

        /** Goes on in a ring behind so many bytes; whether there is one, and it may be recorded so much. */
        boolean goRound(long before) {
            if (left < LEAST_FOR_RING || take(2 * HALF, 2 * HALF) == 0 || !agent.ring(number, before)) {
                return false;
            }
            return isMapped(map("ring-" + number, PAGE_OF_RING, 2 * HALF), 2 * HALF) && turn(1, HALF);
        }

        private boolean isMapped(MappedByteBuffer next, int length) {
            if (next == null) {
                return false;
            }
            buffer = next;
            size = length;
            first = MEMORY.getLong(next, ADDRESS);
            position = first;
            end = first + length - SPARE;
            return true;
        }

        /** Finds room for a record of at most SPARE bytes; returns its address. */
        long next() {
            return next(0);
        }

        /** Finds room for a record of so many bytes; returns its address: NOWHERE if it is to be dropped. */
        long next(int least) {
            if (isBusy || isOver || buffer == null) {
                position = NOWHERE;
                end = -1;
                return NOWHERE;
            }
            long place = position;
            long border = end;
            boolean isDone = false;
            isBusy = true;
            position = NOWHERE;
            end = -1;
            try {
                if (!hasMore((int) (place - first), least + SPARE)) {
                    cut(place);
                }
                isDone = true;
            } finally {
                if (!isDone) {
                    position = place;
                    end = border;
                }
                isBusy = false;
            }
            return position;
        }

        /** Drops what comes from now on. */
        private void cut(long place) {
            if (number != OBJECTS) {
                MEMORY.putInt(place, isFull() ? CUT : LOST);
            } else {
                stop();
            }
            if (half > 0) {
                MEMORY.putInt(first + 4, 0);
            }
            isOver = true;
            position = NOWHERE;
            end = -1;
        }

        /** Goes on behind so many bytes of a piece or half; whether there is room. */
        private boolean hasMore(int used, int least) {
            if (half > 0) {
                int taken = take(HALF, SMALLEST_PIECE);
                MEMORY.putInt(first + 4, used);
                return taken > 0 && agent.hand(number) && turn(half + 1, taken);
            }
            if (size >= PIECE && left >= LEAST_FOR_RING) {
                return goRound(base + used);
            }
            return goOn(base + used, lengthen(base + used, Math.min(2 * size, PIECE), least));
        }

        /** Begins a half of the ring, of which so many bytes are to be used. */
        private boolean turn(int next, int length) {
            half = next;
            first = MEMORY.getLong(buffer, ADDRESS) + (1 - next & 1) * HALF;
            MEMORY.putInt(first + 4, 0);
            MEMORY.putInt(first, next);
            position = first + HEAD;
            end = first + length - SPARE;
            return true;
        }
    }

    /** The records of a thread. */
    static final class Stream extends Tape {
        final Thread thread;
        private boolean isOpen;

        Stream(Thread thread) {
            super(OBJECTS, "thread-");
            this.thread = thread;
        }

        @Override
        String name() {
            return super.name() + number;
        }

        /** Whether there is a file; it is made if that was not tried before. */
        boolean isOpen() {
            if (isOpen || isOver) {
                return isOpen;
            }
            isBusy = true;
            try {
                int length;
                // One after the other: a program that ends meanwhile leaves no gap before a file.
                synchronized (NUMBERS) {
                    if (number < 0) {
                        number = nThreads++;
                    }
                    if (number >= MAX_THREADS) {
                        isOver = true;
                        agent.refuse(MAX_THREADS);
                        return false;
                    }
                    length = lengthen(0, FIRST_OF_THREAD, 0);
                }
                isOver = !goOn(0, length);
                if (isOver) {
                    agent.lose(number, length == 0 && isFull());
                } else {
                    greet();
                    isOpen = true;
                }
                return isOpen;
            } finally {
                isBusy = false;
            }
        }

        private void greet() {
            String name = thread.getName();
            byte[] bytes = (name.length() > MAX_TEXT ? name.substring(0, MAX_TEXT) : name).getBytes(UTF_8);
            long first = position;
            MEMORY.putByte(first, (byte) 'I');
            MEMORY.putByte(first + 1, (byte) 'D');
            MEMORY.putByte(first + 2, (byte) 'D');
            MEMORY.putByte(first + 3, (byte) 'J');
            MEMORY.putInt(first + 4, 1);
            MEMORY.putInt(first + 8, number);
            position = first + (put(first + 12, bytes) - first + 3 & ~3L);
        }
    }
}
