public class L { public static void main(String[] a) throws Exception { 
  Thread[] t = new Thread[4]; final long[] sums = new long[4];
  for (int k = 0; k < 4; k++) { final int n = k; t[k] = new Thread() { public void run() { for (int i = 0; i < 200000; i++) sums[n] += i ^ n; } }; t[k].start(); }
  for (Thread x : t) x.join(); long s = 0; for (long x : sums) s += x; System.out.println("sum " + s + " " + L.class.getClassLoader()); } }
