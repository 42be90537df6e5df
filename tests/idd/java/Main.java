import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

public class Main {
    interface Shape {
        double area();

        default String told() {
            return getClass().getSimpleName() + " " + area();
        }

        static Shape unit() {
            return new Square(1);
        }
    }

    static class Square implements Shape {
        final double side;

        Square(double side) {
            this.side = side;
            if (side < 0) {
                throw new IllegalArgumentException("negative: " + side);
            }
        }

        public double area() {
            return side * side;
        }
    }

    enum Op {
        ADD("+") {
            long apply(long a, long b) {
                return a + b;
            }
        },
        MUL("*") {
            long apply(long a, long b) {
                return a * b;
            }
        };

        final String sign;

        Op(String sign) {
            this.sign = sign;
        }

        abstract long apply(long a, long b);
    }

    static class Base {
        final String name;
        static int made;

        Base(String name) {
            this.name = name;
            made++;
            called();
        }

        void called() {
            System.out.println("base " + name);
        }
    }

    static class Derived extends Base {
        int value = 7;

        Derived(int n) {
            super(n > 0 ? "positive" : n < 0 ? "negative" : fail("zero"));
            value += n;
        }

        @Override
        void called() {
            System.out.println("derived " + value);
        }

        static String fail(String why) {
            throw new IllegalStateException(why);
        }
    }

    static class BadInit {
        static final int VALUE = compute();

        static int compute() {
            int[] none = new int[0];
            return none[1];
        }
    }

    class Inner {
        int n = outer * 2;

        class Deeper {
            int m = n + outer;
        }
    }

    int outer = 21;
    static volatile boolean stop;
    private static final Object LOCK = new Object();
    private static int shared;

    static int nested(int n) {
        int result = 0;
        try {
            try {
                result += 1;
                if (n == 1) {
                    return result;
                }
                if (n == 2) {
                    throw new RuntimeException("two");
                }
                result += 10;
            } catch (RuntimeException error) {
                result += 100;
                if (n == 2) {
                    throw new IllegalStateException("again", error);
                }
            } finally {
                result += 1000;
                System.out.println("inner finally " + result);
            }
        } catch (IllegalStateException error) {
            result += 10000;
            return result;
        } finally {
            result += 100000;
            System.out.println("outer finally " + result);
        }
        return result;
    }

    @SuppressWarnings("finally")
    static int overridden() {
        for (int i = 0; i < 3; i++) {
            try {
                if (i == 1) {
                    continue;
                }
                throw new RuntimeException("lost");
            } finally {
                if (i == 2) {
                    return i;
                }
                continue;
            }
        }
        return -1;
    }

    static class Resource implements AutoCloseable {
        final String name;

        Resource(String name) {
            this.name = name;
        }

        public void close() throws Exception {
            System.out.println("close " + name);
            throw new Exception("closing " + name);
        }
    }

    static String resources() {
        try (Resource one = new Resource("one"); Resource two = new Resource("two")) {
            throw new Exception("body " + one.name + two.name);
        } catch (Exception error) {
            return error.getMessage() + " suppressed " + Arrays.toString(error.getSuppressed());
        }
    }

    static String switched(String text) {
        switch (text) {
            case "Aa":
                return "first";
            case "BB":
                return "same hash";
            case "":
                return "empty";
            default:
                return "other " + text;
        }
    }

    static int dense(int n) {
        int r = 0;
        switch (n) {
            case -1:
                r += 1;
            case 0:
                r += 2;
                break;
            case 1:
            case 2:
                r += 4;
                break;
            case 1000000:
                r += 8;
                break;
            default:
                r = -1;
        }
        return r;
    }

    static int deep(int n) {
        return deep(n + 1) + 1;
    }

    static int deepFinally(int[] count) {
        try {
            return deepFinally(count) + 1;
        } finally {
            count[0] |= 1;
        }
    }

    static long arithmetic() {
        long sum = 0;
        int i = Integer.MAX_VALUE;
        i += 1.5;
        sum += i;
        byte b = (byte) 200;
        b >>>= 1;
        short s = (short) 70000;
        char c = (char) -1;
        sum += b + s + c;
        sum ^= Long.MIN_VALUE >>> 3;
        sum += (long) Double.NaN + (int) Float.POSITIVE_INFINITY;
        double d = 5.5 % 2.25;
        float f = -0.0f;
        sum += Double.doubleToLongBits(d) + Float.floatToIntBits(f);
        long[] longs = {1, 2, 3};
        longs[1] <<= 33;
        longs[2]++;
        int at = 0;
        longs[at++] += at;
        sum += longs[0] + longs[1] + longs[2];
        double[][] matrix = new double[3][4];
        matrix[1][2] = 3;
        matrix[1][2] *= matrix[1][2]++;
        sum += (long) matrix[1][2];
        boolean[] flags = new boolean[2];
        flags[1] = !flags[0] ^ flags[1];
        sum += flags[1] ? 1 : 0;
        char[] text = "abc".toCharArray();
        text[0]++;
        sum += text[0];
        return sum;
    }

    static void throwing() {
        String[] found = new String[6];
        try {
            Object[] strings = new String[1];
            strings[0] = Integer.valueOf(1);
        } catch (ArrayStoreException error) {
            found[0] = error.getMessage();
        }
        try {
            Object text = "text";
            found[1] = "" + (Integer) text;
        } catch (ClassCastException error) {
            found[1] = "cast";
        }
        try {
            int[] none = null;
            none[0]++;
        } catch (NullPointerException error) {
            found[2] = "null";
        }
        try {
            found[3] = "" + 1 / (found.length - 6);
        } catch (ArithmeticException error) {
            found[3] = error.getMessage();
        }
        try {
            found[4] = "" + new int[-1].length;
        } catch (NegativeArraySizeException error) {
            found[4] = error.getMessage();
        }
        try {
            found[5] = "" + BadInit.VALUE;
        } catch (ExceptionInInitializerError error) {
            found[5] = error.getCause().getMessage();
        }
        System.out.println(Arrays.toString(found));
        try {
            System.out.println(BadInit.VALUE);
        } catch (NoClassDefFoundError error) {
            System.out.println("no class");
        }
    }

    static synchronized int add(int n) {
        synchronized (LOCK) {
            shared += n;
            if (n == 13) {
                throw new RuntimeException("in monitor");
            }
            return shared;
        }
    }

    static void threads() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Future<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            final int n = i;
            futures.add(pool.submit(new Callable<Integer>() {
                public Integer call() {
                    try {
                        return add(n);
                    } catch (RuntimeException error) {
                        return -1;
                    }
                }
            }));
        }
        int n = 0;
        for (Future<Integer> future : futures) {
            n += future.get() > 0 ? 1 : 0;
        }
        pool.shutdown();
        System.out.println("shared " + shared + " " + (n > 20));
        final AtomicInteger interrupted = new AtomicInteger();
        final CountDownLatch begun = new CountDownLatch(1);
        Thread sleeper = new Thread("sleeper") {
            @Override
            public void run() {
                begun.countDown();
                try {
                    Thread.sleep(100000);
                } catch (InterruptedException error) {
                    interrupted.incrementAndGet();
                }
                Thread.currentThread().interrupt();
                int sum = 0;
                for (int i = 0; i < 400000; i++) {
                    sum += i ^ shared;
                }
                if (Thread.interrupted()) {
                    interrupted.addAndGet(10 + (sum & 1) * 0);
                }
            }
        };
        sleeper.start();
        begun.await();
        sleeper.interrupt();
        sleeper.join();
        System.out.println("interrupted " + interrupted);
        Thread spinner = new Thread(() -> {
            long turns = 0;
            while (!stop) {
                turns++;
            }
            System.out.println(turns >= 0 ? "stopped" : "never");
        });
        spinner.start();
        stop = true;
        spinner.join();
        final int[] waited = {0};
        Thread waiter = new Thread(() -> {
            synchronized (waited) {
                while (waited[0] == 0) {
                    try {
                        waited.wait();
                    } catch (InterruptedException error) {
                        return;
                    }
                }
                waited[0]++;
            }
        });
        waiter.start();
        synchronized (waited) {
            waited[0] = 1;
            waited.notifyAll();
        }
        waiter.join();
        System.out.println("waited " + waited[0]);
    }

    static void lambdas() {
        int base = 10;
        Function<Integer, Function<Integer, Integer>> curried = a -> b -> a * base + b;
        Supplier<List<String>> make = ArrayList::new;
        List<String> list = make.get();
        Map<String, Integer> counts = new TreeMap<>();
        for (String word : "the cat the dog the end".split(" ")) {
            counts.merge(word, 1, Integer::sum);
            list.add(word);
        }
        list.sort((a, b) -> b.compareTo(a));
        int total = list.stream().filter(word -> word.length() == 3).mapToInt(String::length).sum();
        System.out.println(curried.apply(4).apply(2) + " " + counts + " " + list + " " + total);
    }

    static <T extends Comparable<T>> T largest(List<? extends T> all) {
        T best = null;
        for (T one : all) {
            if (best == null || one.compareTo(best) > 0) {
                best = one;
            }
        }
        return best;
    }

    static int varargs(Object... all) {
        return all == null ? -1 : all.length;
    }

    static int labelled() {
        int n = 0;
        outer:
        for (int i = 0; i < 10; i++) {
            for (int j = 0; j < 10; j++) {
                if (j == i) {
                    continue outer;
                }
                if (i * j > 20) {
                    break outer;
                }
                n += i * j;
            }
        }
        do {
            n--;
        } while (n > 50);
        return n;
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3; i++) {
            System.out.println(nested(i));
        }
        System.out.println(overridden() + " " + resources());
        for (String text : new String[] {"Aa", "BB", "", "x"}) {
            System.out.println(switched(text));
        }
        for (int n : new int[] {-1, 0, 1, 2, 3, 1000000, Integer.MIN_VALUE}) {
            System.out.print(dense(n) + " ");
        }
        System.out.println(arithmetic());
        throwing();
        for (Op op : Op.values()) {
            System.out.println(op + op.sign + op.apply(6, 7));
        }
        System.out.println(Shape.unit().told() + " " + new Square(3).told());
        for (int n : new int[] {1, -1, 0}) {
            try {
                System.out.println(new Derived(n).value + " " + Base.made);
            } catch (IllegalStateException error) {
                System.out.println("none: " + error.getMessage());
            }
        }
        try {
            new Square(-1);
        } catch (IllegalArgumentException error) {
            System.out.println(error.getMessage());
        }
        Main main = new Main();
        Inner inner = main.new Inner();
        System.out.println(inner.n + " " + inner.new Deeper().m);
        lambdas();
        System.out.println(largest(Arrays.asList(3, 9, 4)) + " " + varargs() + varargs(1, "2", 3.0) + varargs((Object[]) null));
        System.out.println(labelled());
        try {
            deep(0);
        } catch (StackOverflowError error) {
            System.out.println("overflow");
        }
        int[] count = {0};
        try {
            deepFinally(count);
        } catch (StackOverflowError error) {
            System.out.println("overflow " + count[0]);
        }
        threads();
        Object[] mixed = {1, 2L, 'c', true, 1.5, 2.5f, (byte) 3, (short) 4, "s", null, new int[2], Op.ADD, String.class};
        Map<Class<?>, Integer> kinds = new HashMap<>();
        for (Object one : mixed) {
            if (one != null) {
                kinds.merge(one instanceof Number ? Number.class : one.getClass(), 1, Integer::sum);
            }
        }
        System.out.println(kinds.get(Number.class) + " " + kinds.size());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
        try {
            System.exit(3);
        } finally {
            System.out.println("never");
        }
    }
}
