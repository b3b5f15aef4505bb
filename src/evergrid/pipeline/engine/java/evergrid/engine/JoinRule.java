package evergrid.engine;

import evergrid.engine.Timeline.Cursor;
import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import scala.Tuple3;

/**
 * What one type of join says of a key's messages: which ones it needs, and which rows they make.
 *
 * <p>Rows are made while Spark takes them, so that a large key never has all of its rows in memory.
 * Nothing may change the history before the last one is taken.
 */
abstract class JoinRule {
  final RowWriter writer;

  JoinRule(RowWriter writer) {
    this.writer = writer;
  }

  /** `cut` is told each time that a limit of an inner join leaves out rows. */
  static JoinRule of(JoinSpec spec, RowWriter writer, Runnable cut) {
    return switch (spec.type) {
      case ASOF -> new AsOf(writer);
      case LEFT -> new LeftJoin(writer);
      case INNER -> new Inner(writer, spec, cut);
    };
  }

  /** Whether each message of this side makes rows of its own, even without a match. */
  abstract boolean drives(byte side);

  /** Whether the oldest message of a side is one that no row needs that is at `edge` or later. */
  abstract boolean isSpare(History history, byte side, long edge);

  /** Whether a message that is not in the history yet can matter to a row at `edge` or later. */
  abstract boolean matters(
      History history, byte side, long ts, int partition, long offset, long edge);

  /** How many rows a message of this side, just inserted, adds to the table. */
  abstract long rows(History history, byte side);

  /**
   * When time alone makes some of the history superfluous: as soon as the edge is after this.
   * Long.MAX_VALUE when it never does. A message that stays whatever its age does not count.
   */
  abstract long nextExpiry(History history);

  boolean canExpire(History history) {
    return nextExpiry(history) != Long.MAX_VALUE;
  }

  static long oldest(Timeline messages) {
    Cursor at = new Cursor();
    return messages.first(at) ? messages.ts(at) : Long.MAX_VALUE;
  }

  /** The rows that a message, just inserted, makes or corrects. */
  abstract Iterator<Tuple3<Integer, byte[], byte[]>> live(History history, byte side, Cursor at);

  /** The rows that all messages with mark 1, just inserted, make or correct; each row once. */
  abstract Iterator<Tuple3<Integer, byte[], byte[]>> batch(History history);

  /**
   * Whether a message may have missed messages of a key that were dropped for a limit. `limited`
   * says by side whether the key has as many as the limit allows.
   */
  abstract boolean mayLack(History history, byte side, Cursor at, boolean[] limited);

  /** Rows that are found one after the other. */
  abstract static class Rows implements Iterator<Tuple3<Integer, byte[], byte[]>> {
    private Tuple3<Integer, byte[], byte[]> next;
    private boolean isLookedFor;

    /** The next row; null when there is none. */
    abstract Tuple3<Integer, byte[], byte[]> find();

    @Override
    public boolean hasNext() {
      if (!isLookedFor) {
        next = find();
        isLookedFor = true;
      }
      return next != null;
    }

    @Override
    public Tuple3<Integer, byte[], byte[]> next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      isLookedFor = false;
      return next;
    }
  }

  static Iterator<Tuple3<Integer, byte[], byte[]>> one(Tuple3<Integer, byte[], byte[]> row) {
    return Collections.singletonList(row).iterator();
  }
}
