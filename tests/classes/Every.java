import java.util.function.IntUnaryOperator;

/** Instructions of every kind that javac knows. */
class Every {
    static int ints;
    static long longs = 1L << 40;
    static float floats = 2.5f;
    static double doubles = 0.1;
    byte bytes;
    Object object;

    static int arithmetic(int i, long l, float f, double d) {
        i = -(i + 1 - 2 * 3 / 4 % 5) << 2 >> 1 >>> 1 & 255 | 7 ^ i;
        l = -(l + 1 - 2 * l / 4 % 5) << 2 >> 1 >>> 1 & 255 | 7 ^ l;
        f = -(f + 1 - 2 * f / 4 % 5);
        d = -(d + 1 - 2 * d / 4 % 5);
        i += (byte) i + (char) i + (short) i;
        i += (int) l + (int) f + (int) d;
        l += (long) i + (long) f + (long) d;
        f += (float) i + (float) l + (float) d;
        d += (double) i + (double) l + (double) f;
        return l < 3 ? i : f < 1 ? 2 : d > 2 ? 3 : f > 3 ? 4 : d < 5 ? 5 : 300000;
    }

    static Object arrays(int n) {
        int[] i = new int[n];
        long[] l = {longs, 2, 0};
        float[] f = {floats, 0, 1, 2};
        double[] d = {doubles, 0, 1};
        byte[] b = {1, -100};
        char[] c = {'a'};
        short[] s = {1000};
        boolean[] z = {true};
        Object[] o = {i, l, f, d, b, c, s, z, "text", Every.class, null};
        Object[][][] cubes = new Object[n][2][];
        i[0] += l[0] + f[0] + d[0] + b[0] + c[0] + s[0] + (z[0] ? 1 : 0);
        l[1] = l[2]++;
        d[n - 1] = d[0] += 2;
        cubes[0][1] = o;
        return o.length > 3 ? cubes[0][1][2] : (Object) new String[n];
    }

    int fields(Object other) {
        bytes++;
        long before = longs++;
        doubles = floats = ints = 4;
        object = other;
        Every every = other instanceof Every ? (Every) other : this;
        return every == other && every.object != null ? (int) (before + every.bytes) : -1;
    }

    static int ways(int i, String text) {
        switch (i) {
            case -1: return 10;
            case 0: i += 300; break;
            case 1: i -= 1;
            default: i++;
        }
        switch (text) {
            case "one": return 1;
            case "a thousand": return 1000;
        }
        for (int k = 0; k <= i; k++) {
            if (k == 3 || k > 7 && k != 9 || text == null) {
                continue;
            }
            while (i >= 0) {
                i--;
            }
        }
        return i;
    }

    synchronized int calls(Runnable runnable) {
        IntUnaryOperator lambda = x -> x + ints;
        runnable.run();
        synchronized (runnable) {
            ints += lambda.applyAsInt(hidden(3));
        }
        try {
            return Integer.parseInt("x" + ints);
        } catch (NumberFormatException | NullPointerException exception) {
            throw new IllegalStateException(exception);
        } finally {
            ints = 0;
        }
    }

    private int hidden(int i) {
        return i;
    }

    static long wide(int i) {
        long a0 = i, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9;
        long c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9;
        long e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9;
        long g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9;
        long i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, j0, j1, j2, j3, j4, j5, j6, j7, j8, j9;
        long k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9;
        long m0, m1, m2, m3, m4, m5, m6, m7, m8, m9;
        long last = a0;
        int near = i;
        near += 1000;
        return last + near;
    }
}
