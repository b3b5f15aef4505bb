package evergrid.engine;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.Consumer;
import org.apache.spark.sql.streaming.MapState;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Which keys have messages that expire, by time: they must be looked at even when nothing new comes.
 *
 * <p>Spark's timers could do this, but Spark then looks for expired timers after every single row.
 * This index is looked at with each tick. Keys are kept by spans of time, each span under a grouping
 * key of its own, so that finding the due ones reads nothing else.
 */
final class ExpiryIndex {
  static final long SPAN_MILLIS = 10_000;
  private static final long LEAST_SPANS = 6; // a key is looked at no more often
  private static final int KEYS_PER_TICK = 500;
  private static final int SPANS_PER_TICK = 5_000; // after a long stop there are many
  private static final byte[] NOTHING = {};
  private static final byte[] NEXT = {0};

  private final MapState<byte[], byte[]> state;
  private final byte[] reducer;
  private final ArrayDeque<byte[]> due = new ArrayDeque<>();
  private long next = Long.MIN_VALUE; // the span that is looked at next

  /** `reducer` is the grouping key of its ticks. */
  ExpiryIndex(MapState<byte[], byte[]> state, byte[] reducer) {
    this.state = state;
    this.reducer = reducer;
  }

  /** Have a key looked at when `millis` is over, or somewhat later; returns the span. */
  long add(byte[] key, long millis, long now) {
    load(now);
    long soonest = Math.max(next, spanOf(now)) + LEAST_SPANS;
    long span = spanOf(millis) + 1;
    if (span < soonest) {
      // The same one for all that is added within a minute, so that a key is not there twice.
      long minute = Math.floorDiv(soonest, LEAST_SPANS) + 1;
      span = minute * LEAST_SPANS + Math.floorMod(Arrays.hashCode(key), LEAST_SPANS);
    }
    under(span, () -> state.updateValue(key, NOTHING));
    return span;
  }

  /**
   * Look at keys that are due, some of them at each call; `look` is told the span, too. Returns
   * whether that were all.
   */
  boolean lookAtDue(long now, Look look) {
    load(now);
    int keys = 0;
    for (int spans = 0; spans < SPANS_PER_TICK && keys < KEYS_PER_TICK; spans++) {
      if (next >= spanOf(now)) {
        return true;
      }
      if (due.isEmpty()) {
        under(next, () -> readKeys(due::add));
      }
      for (; keys < KEYS_PER_TICK && !due.isEmpty(); keys++) {
        byte[] key = due.remove();
        long span = next;
        under(span, () -> state.removeKey(key));
        Expressions.withGroupingKey(key, () -> look.at(key, span));
      }
      if (due.isEmpty()) {
        advance();
      }
    }
    return false;
  }

  interface Look {
    void at(byte[] key, long span);
  }

  static long spanOf(long millis) {
    return Math.floorDiv(millis, SPAN_MILLIS);
  }

  private void load(long now) {
    if (next != Long.MIN_VALUE) {
      return;
    }
    byte[][] kept = new byte[1][];
    Expressions.withGroupingKey(reducer, () -> kept[0] = state.getValue(NEXT));
    if (kept[0] != null) {
      next = KeyedMessage.getLong(kept[0], 0);
    } else {
      next = spanOf(now);
      keep();
    }
  }

  private void advance() {
    next++;
    keep();
  }

  private void keep() {
    byte[] kept = new byte[Long.BYTES];
    KeyedMessage.putLong(kept, 0, next);
    Expressions.withGroupingKey(reducer, () -> state.updateValue(NEXT, kept));
  }

  private void readKeys(Consumer<byte[]> keys) {
    Iterator<Tuple2<byte[], byte[]>> entries = state.iterator();
    while (entries.hasNext()) {
      keys.accept(entries.next()._1());
    }
  }

  private void under(long span, Runnable action) {
    byte[] key = Arrays.copyOf(reducer, reducer.length + Long.BYTES);
    KeyedMessage.putLong(key, reducer.length, span);
    Expressions.withGroupingKey(key, action);
  }
}
