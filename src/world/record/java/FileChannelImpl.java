package sun.nio.ch;

import java.nio.channels.FileChannel;

/** What the recorder needs of the class of this name, which each Java runtime has: the recorder is compiled with this one. */
public abstract class FileChannelImpl extends FileChannel {
    /** From now on, an interrupt of a thread does not close the channel. There since Java 11. */
    public abstract void setUninterruptible();
}
