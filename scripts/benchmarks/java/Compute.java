import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Computes with small objects and arrays, as libraries of mathematics and collections do. The argument is the number of rounds. */
public final class Compute {
    /** A complex number that does not change. */
    static final class Complex {
        final double real;
        final double imaginary;

        Complex(double real, double imaginary) {
            this.real = real;
            this.imaginary = imaginary;
        }

        Complex plus(Complex other) {
            return new Complex(real + other.real, imaginary + other.imaginary);
        }

        Complex times(Complex other) {
            return new Complex(
                real * other.real - imaginary * other.imaginary, real * other.imaginary + imaginary * other.real);
        }

        double norm() {
            return Math.sqrt(real * real + imaginary * imaginary);
        }
    }

    /** A polynomial; the first coefficient is that of the constant. */
    static final class Polynomial {
        private final double[] coefficients;

        Polynomial(double... coefficients) {
            this.coefficients = coefficients;
        }

        Polynomial times(Polynomial other) {
            double[] product = new double[coefficients.length + other.coefficients.length - 1];
            for (int i = 0; i < coefficients.length; i++) {
                for (int k = 0; k < other.coefficients.length; k++) {
                    product[i + k] += coefficients[i] * other.coefficients[k];
                }
            }
            return new Polynomial(product);
        }

        Polynomial derivative() {
            double[] derived = new double[Math.max(coefficients.length - 1, 1)];
            for (int i = 1; i < coefficients.length; i++) {
                derived[i - 1] = i * coefficients[i];
            }
            return new Polynomial(derived);
        }

        Complex at(Complex place) {
            Complex value = new Complex(0, 0);
            for (int i = coefficients.length - 1; i >= 0; i--) {
                value = value.times(place).plus(new Complex(coefficients[i], 0));
            }
            return value;
        }

        double at(double place) {
            double value = 0;
            for (int i = coefficients.length - 1; i >= 0; i--) {
                value = value * place + coefficients[i];
            }
            return value;
        }
    }

    /** A square matrix. */
    static final class Matrix {
        private final double[][] rows;

        Matrix(int size) {
            rows = new double[size][size];
        }

        static Matrix filled(int size, int seed) {
            Matrix matrix = new Matrix(size);
            for (int i = 0; i < size; i++) {
                for (int k = 0; k < size; k++) {
                    matrix.rows[i][k] = (i * 31 + k * 17 + seed) % 23 + (i == k ? 50 : 0);
                }
            }
            return matrix;
        }

        Matrix times(Matrix other) {
            Matrix product = new Matrix(rows.length);
            for (int i = 0; i < rows.length; i++) {
                for (int k = 0; k < rows.length; k++) {
                    double sum = 0;
                    for (int n = 0; n < rows.length; n++) {
                        sum += rows[i][n] * other.rows[n][k];
                    }
                    product.rows[i][k] = sum;
                }
            }
            return product;
        }

        /** By elimination with the largest pivot; destroys the matrix. */
        double determinant() {
            double product = 1;
            for (int column = 0; column < rows.length; column++) {
                int best = column;
                for (int i = column + 1; i < rows.length; i++) {
                    if (Math.abs(rows[i][column]) > Math.abs(rows[best][column])) {
                        best = i;
                    }
                }
                double[] pivot = rows[best];
                rows[best] = rows[column];
                rows[column] = pivot;
                product *= best == column ? pivot[column] : -pivot[column];
                for (int i = column + 1; i < rows.length; i++) {
                    double factor = rows[i][column] / pivot[column];
                    for (int k = column; k < rows.length; k++) {
                        rows[i][k] -= factor * pivot[k];
                    }
                }
            }
            return product;
        }
    }

    /** Sorts numbers into collections; the result depends on all of them. */
    static long collected(int n, int seed) {
        List<Integer> numbers = new ArrayList<>();
        int next = seed;
        for (int i = 0; i < n; i++) {
            next = next * 1103515245 + 12345;
            numbers.add((next >>> 16) % 997);
        }
        Map<Integer, Integer> counts = new HashMap<>();
        for (int number : numbers) {
            Integer before = counts.get(number);
            counts.put(number, before == null ? 1 : before + 1);
        }
        Collections.sort(numbers, (one, other) -> one < other ? -1 : one > other ? 1 : 0);
        ArrayDeque<Integer> window = new ArrayDeque<>();
        long sum = 0;
        for (int number : numbers) {
            window.addLast(number);
            sum += number;
            if (window.size() > 8) {
                sum -= window.removeFirst() / 2;
            }
        }
        for (Map.Entry<Integer, Integer> entry : new TreeMap<>(counts).entrySet()) {
            sum = sum * 31 + entry.getKey() * entry.getValue();
        }
        return sum;
    }

    /** How often Newton's iteration ends at each root. */
    static int iterated(Polynomial polynomial, int n) {
        Polynomial slope = polynomial.derivative();
        int sum = 0;
        for (int i = 0; i < n; i++) {
            double place = 0.3 + i;
            for (int k = 0; k < 20; k++) {
                double value = polynomial.at(place);
                if (Math.abs(value) < 1e-9) {
                    sum += k;
                    break;
                }
                place -= value / slope.at(place);
            }
        }
        return sum;
    }

    static String text(int n) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < n; i++) {
            text.append((char) ('a' + i % 26));
            if (i % 7 == 6) {
                text.append(' ');
            }
        }
        return text.toString();
    }

    static int words(String text) {
        int n = 0;
        boolean isInWord = false;
        for (int i = 0; i < text.length(); i++) {
            boolean isLetter = Character.isLetter(text.charAt(i));
            if (isLetter && !isInWord) {
                n++;
            }
            isInWord = isLetter;
        }
        return n;
    }

    public static void main(String[] arguments) {
        int rounds = Integer.parseInt(arguments[0]);
        double total = 0;
        for (int round = 0; round < rounds; round++) {
            total += Matrix.filled(12, round).times(Matrix.filled(12, round + 1)).determinant() % 1000;
            Polynomial polynomial = new Polynomial(-6, 11, -6, 1).times(new Polynomial(1, round % 3 + 1));
            total += polynomial.at(new Complex(0.5, 0.1 * (round % 10))).norm();
            total += iterated(polynomial, 10);
            total += collected(100, round) % 1000;
            total += words(text(100));
        }
        System.out.println(total);
    }
}
