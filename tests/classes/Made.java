import java.util.ArrayList;
import java.util.List;

/** Constructors: nested, with conditional arguments, without a copy, and of the class that is extended. */
class Made extends ArrayList<Object> {
    final Object first;

    Made(boolean is_large, Object first) {
        super(is_large ? new Integer(1000) : Integer.valueOf(1));
        this.first = first;
    }

    Made() {
        this(true, new Object());
    }

    static List<Object> nested(boolean is_large) {
        new Object();
        return new Made(is_large, new StringBuilder(is_large ? new String("large") : "small").append(1));
    }
}
