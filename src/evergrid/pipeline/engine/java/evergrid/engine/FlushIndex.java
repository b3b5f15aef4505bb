package evergrid.engine;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.apache.spark.sql.streaming.MapState;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Which keys of a left join have rows that still show an older right message, and when those are to
 * be written.
 *
 * <p>Spark's timers could do this, but Spark then looks for expired timers after every single row.
 * This index is looked at with each tick. The state has the keys alone: after a restart all of them
 * are due.
 */
final class FlushIndex {
  private static final byte[] NOTHING = {};

  private record Due(byte[] key, long millis) {}

  private final MapState<byte[], byte[]> state;
  private final byte[] reducer;
  private final PriorityQueue<Due> dues = new PriorityQueue<>(Comparator.comparing(Due::millis));
  private boolean isLoaded;

  /** `reducer` is the grouping key of its ticks. */
  FlushIndex(MapState<byte[], byte[]> state, byte[] reducer) {
    this.state = state;
    this.reducer = reducer;
  }

  /** Have `take` return a key when `millis` is over. */
  void add(byte[] key, long millis) {
    load();
    dues.add(new Due(key, millis));
    Expressions.withGroupingKey(reducer, () -> state.updateValue(key, NOTHING));
  }

  /** A key that is due, which is then forgotten; null when there is none. */
  byte[] take(long now) {
    load();
    Due first = dues.peek();
    if (first == null || first.millis > now) {
      return null;
    }
    dues.remove();
    Expressions.withGroupingKey(reducer, () -> state.removeKey(first.key));
    return first.key;
  }

  private void load() {
    if (isLoaded) {
      return;
    }
    isLoaded = true;
    Expressions.withGroupingKey(
        reducer,
        () -> {
          Iterator<Tuple2<byte[], byte[]>> entries = state.iterator();
          while (entries.hasNext()) {
            dues.add(new Due(entries.next()._1(), Long.MIN_VALUE));
          }
        });
  }
}
