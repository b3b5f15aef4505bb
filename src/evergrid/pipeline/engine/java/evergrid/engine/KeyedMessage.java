package evergrid.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The layout of a message between the task that reads it and the task that joins it.
 *
 * <pre>
 *   kind (1) | time (8) | partition (4) | offset (8) | counts (4 for each reducer) | body
 * </pre>
 *
 * All numbers are big-endian. The body holds the columns that the message shows, as JSON members
 * without braces. The counts say how many messages of this partition the reader has sent to each
 * reducer so far, this one included: from them {@link Progress} tells how far a join has come.
 */
final class KeyedMessage {
  static final byte LEFT = 0;
  static final byte RIGHT = 1;

  static final int TIME = 1;
  static final int PARTITION = 9;
  static final int OFFSET = 13;
  static final int COUNTS = 21;

  /** The first byte of a grouping key: what kind of row it groups. */
  static final byte NOT_JOINED = 0;
  static final byte JOINED = 1;
  static final byte TICK = 2;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private KeyedMessage() {}

  static int header(int reducers) {
    return COUNTS + 4 * reducers;
  }

  static int getInt(byte[] bytes, int at) {
    return (int) INT.get(bytes, at);
  }

  static void putInt(byte[] bytes, int at, int value) {
    INT.set(bytes, at, value);
  }

  static long getLong(byte[] bytes, int at) {
    return (long) LONG.get(bytes, at);
  }

  static void putLong(byte[] bytes, int at, long value) {
    LONG.set(bytes, at, value);
  }

  static byte[] body(byte[] message, int reducers) {
    return Arrays.copyOfRange(message, header(reducers), message.length);
  }

  /**
   * Where the state keeps a message: side, time, partition, offset. The sign bit of the time is
   * flipped, so that entries are iterated in their order.
   */
  static byte[] stateKey(byte side, long ts, int partition, long offset) {
    byte[] key = new byte[COUNTS];
    key[0] = side;
    putLong(key, TIME, ts ^ Long.MIN_VALUE);
    putInt(key, PARTITION, partition);
    putLong(key, OFFSET, offset);
    return key;
  }

  static long timeOf(byte[] stateKey) {
    return getLong(stateKey, TIME) ^ Long.MIN_VALUE;
  }
}
