/** Makes an array and an object in each iteration, and does nothing else. The argument is the number of iterations. */
public final class Allocate {
    private final int value;

    private Allocate(int value) {
        this.value = value;
    }

    public static void main(String[] arguments) {
        int n = Integer.parseInt(arguments[0]);
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += new int[] {i}.length + new Allocate(i).value;
        }
        System.out.println(sum);
    }
}
