package jdk.internal.misc;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;

/**
 * Memory at addresses, under Java 8. From Java 9 on, the system has this class itself, and this one is never loaded.
 *
 * It has what the recorder needs of it, and calls the class that Java 8 has instead, which is not in the tables of the
 * compiler.
 */
public final class Unsafe {
    private static final Object OTHER = other();
    private static final MethodHandle PUT_BYTE = method("putByte", void.class, long.class, byte.class);
    private static final MethodHandle PUT_SHORT = method("putShort", void.class, long.class, short.class);
    private static final MethodHandle PUT_INT = method("putInt", void.class, long.class, int.class);
    private static final MethodHandle PUT_LONG = method("putLong", void.class, long.class, long.class);
    private static final MethodHandle GET_LONG = method("getLong", long.class, Object.class, long.class);
    private static final MethodHandle OFFSET = method("objectFieldOffset", long.class, Field.class);
    private static final MethodHandle ALLOCATE = method("allocateMemory", long.class, long.class);

    private static final Unsafe ONE = new Unsafe();

    private Unsafe() {}

    public static Unsafe getUnsafe() {
        return ONE;
    }

    private static Object other() {
        try {
            Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return field.get(null);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    private static MethodHandle method(String name, Class<?> result, Class<?>... parameters) {
        try {
            MethodType type = MethodType.methodType(result, parameters);
            return MethodHandles.lookup().findVirtual(OTHER.getClass(), name, type).bindTo(OTHER);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    public void putByte(long address, byte value) {
        try {
            PUT_BYTE.invokeExact(address, value);
        } catch (Throwable error) {
            throw failed(error);
        }
    }

    public void putShort(long address, short value) {
        try {
            PUT_SHORT.invokeExact(address, value);
        } catch (Throwable error) {
            throw failed(error);
        }
    }

    public void putInt(long address, int value) {
        try {
            PUT_INT.invokeExact(address, value);
        } catch (Throwable error) {
            throw failed(error);
        }
    }

    public void putLong(long address, long value) {
        try {
            PUT_LONG.invokeExact(address, value);
        } catch (Throwable error) {
            throw failed(error);
        }
    }

    public long getLong(Object object, long offset) {
        try {
            return (long) GET_LONG.invokeExact(object, offset);
        } catch (Throwable error) {
            throw failed(error);
        }
    }

    public long objectFieldOffset(Field field) {
        try {
            return (long) OFFSET.invokeExact(field);
        } catch (Throwable error) {
            throw failed(error);
        }
    }

    public long allocateMemory(long size) {
        try {
            return (long) ALLOCATE.invokeExact(size);
        } catch (Throwable error) {
            throw failed(error);
        }
    }

    private static RuntimeException failed(Throwable error) {
        if (error instanceof Error) {
            throw (Error) error;
        }
        return new IllegalStateException(error);
    }
}
