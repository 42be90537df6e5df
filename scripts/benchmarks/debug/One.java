import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/** `CLASS METHOD` runs a test method, and exits with 1 if it fails. */
public class One {
    public static void main(String[] words) throws Exception {
        Result result = test(One.class.getClassLoader(), words[0], words[1]);
        for (Failure failure : result.getFailures()) {
            System.out.println(failure.getException());
        }
        System.out.println(result.wasSuccessful() ? "OK" : "FAILED");
        System.exit(result.wasSuccessful() ? 0 : 1);
    }

    static Result test(ClassLoader loader, String name, String method) throws ClassNotFoundException {
        Class<?> of = Class.forName(name, false, loader);
        Request request = Request.classWithoutSuiteMethod(of).filterWith(Description.createTestDescription(of, method));
        return new JUnitCore().run(request);
    }
}
