package idd;

import java.util.function.Consumer;

/** Counts without the text of each frame, where there is a way to (Java 9). */
final class Walker extends Depth {
    private static final StackWalker FRAMES = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    @Override
    int count() {
        Counter counter = new Counter();
        FRAMES.forEach(counter);
        return counter.count;
    }

    static final class Counter implements Consumer<StackWalker.StackFrame> {
        int count;

        @Override
        public void accept(StackWalker.StackFrame frame) {
            if (Recorder.isRewritten(frame.getDeclaringClass().getName())) {
                count++;
            }
        }
    }
}
