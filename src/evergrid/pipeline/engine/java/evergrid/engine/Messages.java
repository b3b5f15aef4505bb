package evergrid.engine;

import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;
import org.apache.spark.unsafe.types.UTF8String;

/** Turns source messages into rows for the join: a grouping key, and a {@link KeyedMessage}. */
public final class Messages {
  /** The second byte of the grouping key of a message that is not joined. */
  static final byte WITHOUT_KEY = 0;

  static final byte FLAWED = 1;

  private static final int HASH_SEED = 42; // Spark's own

  /** What one reading task has sent to each reducer; it reads one partition of one source. */
  private static final class Sent {
    private final long task;
    private final Reader reader;
    private final int[] counts;
    private final byte[] header;
    private final Bytes bytes = new Bytes();

    Sent(long task, Reader reader, int reducers) {
      this.task = task;
      this.reader = reader;
      counts = new int[reducers];
      header = new byte[KeyedMessage.header(reducers)];
    }
  }

  private static final ThreadLocal<Sent> SENT = new ThreadLocal<>();

  private Messages() {}

  /**
   * Called by Spark for each message; null for one that goes to quarantine, unless `live`: then
   * the join must count it.
   */
  public static InternalRow read(
      byte[] value,
      int partition,
      long offset,
      long kafkaMicros,
      UTF8String spec,
      int side,
      int reducers,
      boolean live) {
    Sent sent = sent(spec, reducers);
    Reader reader = sent.reader;
    boolean isGood = reader.read(value, kafkaMicros);
    if (!isGood && !live) {
      return null;
    }
    byte[] key = groupingKey(isGood ? reader.key() : null, isGood, partition);
    sent.counts[reducer(key, reducers)]++;
    Bytes out = sent.bytes;
    out.clear();
    out.put(sent.header);
    if (isGood) {
      reader.shown(out);
    }
    byte[] message = out.copy();
    message[0] = (byte) side;
    KeyedMessage.putLong(message, KeyedMessage.TIME, isGood ? reader.ts() : kafkaMicros);
    KeyedMessage.putInt(message, KeyedMessage.PARTITION, partition);
    KeyedMessage.putLong(message, KeyedMessage.OFFSET, offset);
    for (int i = 0; i < reducers; i++) {
      KeyedMessage.putInt(message, KeyedMessage.COUNTS + 4 * i, sent.counts[i]);
    }
    return new GenericInternalRow(new Object[] {key, message});
  }

  private static Sent sent(UTF8String spec, int reducers) {
    long task = TaskContext.get().taskAttemptId();
    Sent sent = SENT.get();
    if (sent == null || sent.task != task) {
      sent = new Sent(task, Reader.of(spec.toString()), reducers);
      SENT.set(sent);
    }
    return sent;
  }

  private static byte[] groupingKey(byte[] key, boolean isGood, int partition) {
    if (key == null) {
      byte[] grouping = new byte[6];
      grouping[0] = KeyedMessage.NOT_JOINED;
      grouping[1] = isGood ? WITHOUT_KEY : FLAWED;
      KeyedMessage.putInt(grouping, 2, partition);
      return grouping;
    }
    byte[] grouping = new byte[1 + key.length];
    grouping[0] = KeyedMessage.JOINED;
    System.arraycopy(key, 0, grouping, 1, key.length);
    return grouping;
  }

  /** The reducer that Spark's own partitioning sends a grouping key to. */
  static int reducer(byte[] key, int reducers) {
    int hash =
        Murmur3_x86_32.hashUnsafeBytes(key, Platform.BYTE_ARRAY_OFFSET, key.length, HASH_SEED);
    return Math.floorMod(hash, reducers);
  }

  /** Grouping keys of ticks, one for each reducer. */
  public static byte[][] tickKeys(int reducers) {
    byte[][] keys = new byte[reducers][];
    byte[] key = {KeyedMessage.TICK, 0, 0, 0, 0};
    for (int found = 0, i = 0; found < reducers; i++) {
      KeyedMessage.putInt(key, 1, i);
      int reducer = reducer(key, reducers);
      if (keys[reducer] == null) {
        keys[reducer] = key.clone();
        found++;
      }
    }
    return keys;
  }
}
