package git_idd.recording;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;

/**
 * Puts other values in the place of some. Each point is one instruction of a method; a value is replaced when that runs for
 * the nth time.
 */
public final class Replacer {
    private static final Charset UTF_8 = Charset.forName("UTF-8");

    private static volatile Point[] points = {};
    private static File told;
    /** What is told of a trial, see Trials; null if there are none. */
    private static StringBuilder heard;

    private Replacer() {}

    /** Reads the points; what is done there is told in another file. */
    static void prepare(File order, File hits) throws IOException {
        ArrayList<Point> found = new ArrayList<Point>();
        BufferedReader in = new BufferedReader(new InputStreamReader(new FileInputStream(order), UTF_8));
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split("\t");
                found.add(new Point(Long.parseLong(words[7]), words[8], words[9]));
            }
        } finally {
            in.close();
        }
        told = hits;
        points = found.toArray(new Point[0]);
        // What is needed later is loaded now: deep in a stack, classes cannot be loaded.
        new Telling("").run();
    }

    /** Begins a trial, in which only these values are replaced: the number of the point, nth, expected, instead. */
    static synchronized void begin(String[] replacements) {
        end();
        heard = new StringBuilder();
        for (String replacement : replacements) {
            String[] words = replacement.split(",");
            Point point = points[Integer.parseInt(words[0])];
            synchronized (point) {
                point.left = Long.parseLong(words[1]);
                point.expected = words[2];
                point.instead = words[3];
            }
        }
    }

    /** From here on, nothing is replaced. */
    static synchronized void end() {
        for (Point point : points) {
            synchronized (point) {
                point.left = 0;
            }
        }
    }

    /** What was done in the last trial: as in the file, but with commas in the place of the ends of lines. */
    static synchronized String told() {
        return heard.toString();
    }

    private static synchronized boolean hear(String what) {
        if (heard != null) {
            heard.append(what).append(',');
        }
        return heard != null;
    }

    /** A value, or the one in its place. */
    public static int of(int value, int number) {
        Point point = now(number);
        return point == null ? value : (int) bits(point, number, value & 0xffffffffL);
    }

    /** A value, or the one in its place. */
    public static long of(long value, int number) {
        Point point = now(number);
        return point == null ? value : bits(point, number, value);
    }

    /** A value, or the one in its place. */
    public static float of(float value, int number) {
        Point point = now(number);
        return point == null
            ? value
            : Float.intBitsToFloat((int) bits(point, number, Float.floatToRawIntBits(value) & 0xffffffffL));
    }

    /** A value, or the one in its place. */
    public static double of(double value, int number) {
        Point point = now(number);
        return point == null ? value : Double.longBitsToDouble(bits(point, number, Double.doubleToRawLongBits(value)));
    }

    /** A value, or the one in its place. */
    public static Object of(Object value, int number) {
        Point point = now(number);
        if (point == null) {
            return value;
        }
        // What is put there may come from a point before.
        boolean isExpected = is(value, point.expected) || is(value, point.instead);
        Object instead = isExpected ? object(point.instead, value) : NONE;
        say(number, instead != NONE);
        return instead == NONE ? value : instead;
    }

    /** Whether an object is the one that is written as a word. */
    private static boolean is(Object value, String word) {
        return word.equals("?")
            || (word.equals("n") ? value == null : value != null && word.substring(1).equals(text(value)));
    }

    /** The point if a value is to be replaced there now. */
    private static Point now(int number) {
        Point[] all = points;
        if (number >= all.length) {
            return null;
        }
        Point point = all[number];
        synchronized (point) {
            point.left--;
            return point.left == 0 ? point : null;
        }
    }

    private static long bits(Point point, int number, long value) {
        String word = "b" + Long.toHexString(value);
        boolean isExpected =
            point.expected.equals("?") || point.expected.equals(word) || point.instead.equals(word);
        say(number, isExpected);
        return isExpected ? Long.parseUnsignedLong(point.instead.substring(1), 16) : value;
    }

    private static final Object NONE = new Object();

    /** The object that is written as a word; NONE if it cannot be made. */
    private static Object object(String word, Object value) {
        String text = word.substring(1);
        try {
            switch (word.charAt(0)) {
                case 'n':
                    return null;
                case 'o':
                    return Replacer.class;
                case 't':
                    // As the constants of the program are.
                    return decoded(text).intern();
                case 'e':
                    return constant(decoded(text), value);
                case 'x':
                    return boxed(decoded(text), value);
                default:
                    return NONE;
            }
        } catch (RuntimeException error) {
            return NONE;
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object constant(String name, Object value) {
        return value instanceof Enum ? Enum.valueOf(((Enum) value).getDeclaringClass(), name) : NONE;
    }

    /** A number, character or truth value of the class of another one. */
    private static Object boxed(String text, Object value) {
        if (value instanceof Integer) {
            return Integer.valueOf(text);
        } else if (value instanceof Long) {
            return Long.valueOf(text);
        } else if (value instanceof Double) {
            return Double.valueOf(text);
        } else if (value instanceof Float) {
            return Float.valueOf(text);
        } else if (value instanceof Boolean) {
            return Boolean.valueOf(text);
        } else if (value instanceof Short) {
            return Short.valueOf(text);
        } else if (value instanceof Byte) {
            return Byte.valueOf(text);
        } else if (value instanceof Character && text.length() == 1) {
            return Character.valueOf(text.charAt(0));
        }
        return NONE;
    }

    /** The text of a string, a number or a constant, in hexadecimal digits; null for other objects. */
    private static String text(Object value) {
        String text;
        if (value instanceof String) {
            text = (String) value;
        } else if (value instanceof Enum) {
            text = ((Enum<?>) value).name();
        } else if (boxed("0", value) != NONE) {
            text = value.toString();
        } else {
            return null;
        }
        StringBuilder digits = new StringBuilder();
        for (byte one : text.getBytes(UTF_8)) {
            digits.append(Character.forDigit((one >> 4) & 15, 16)).append(Character.forDigit(one & 15, 16));
        }
        return digits.toString();
    }

    private static String decoded(String digits) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i + 1 < digits.length(); i += 2) {
            bytes.write(Character.digit(digits.charAt(i), 16) << 4 | Character.digit(digits.charAt(i + 1), 16));
        }
        return new String(bytes.toByteArray(), UTF_8);
    }

    private static void say(int number, boolean isDone) {
        String what = number + (isDone ? " done" : " other");
        if (!hear(what)) {
            AccessController.doPrivileged(new Telling(what + "\n"));
        }
    }

    /** Appends to the file, whoever is on the stack. */
    private static final class Telling implements PrivilegedAction<Void> {
        private final String text;

        Telling(String text) {
            this.text = text;
        }

        @Override
        public Void run() {
            try {
                FileOutputStream out = new FileOutputStream(told, true);
                try {
                    out.write(text.getBytes(UTF_8));
                } finally {
                    out.close();
                }
            } catch (IOException error) {
                // What is not told counts as not done.
            }
            return null;
        }
    }

    private static final class Point {
        long left;
        String expected;
        String instead;

        Point(long left, String expected, String instead) {
            this.left = left;
            this.expected = expected;
            this.instead = instead;
        }
    }
}
