/** A `finally` that a compiler of 1997 calls as a subroutine. */
class Old {
    static int divide(int a, int b) {
        try {
            return a / b;
        } finally {
            System.out.println(b);
        }
    }

    static int add(int a, int b) {
        return a + b;
    }
}
