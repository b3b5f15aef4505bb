package evergrid.engine;

import evergrid.engine.Timeline.Cursor;
import java.util.Collections;
import java.util.Iterator;
import scala.Tuple3;

/**
 * Left: one row per left message, with the latest right message of its key.
 *
 * <p>A new right message changes all rows of its key. The newest rows are written at once; those
 * of a key with many rows follow together, with a later tick, and show what is the latest then.
 */
final class LeftJoin extends JoinRule {
  static final int AT_ONCE = 16;

  LeftJoin(RowWriter writer) {
    super(writer);
  }

  @Override
  boolean drives(byte side) {
    return side == KeyedMessage.LEFT;
  }

  @Override
  boolean isSpare(History history, byte side, long edge) {
    if (side == KeyedMessage.RIGHT) {
      return history.rights.size() > 1;
    }
    Cursor at = new Cursor();
    return history.lefts.first(at) && history.lefts.ts(at) < edge;
  }

  @Override
  boolean matters(History history, byte side, long ts, int partition, long offset, long edge) {
    if (side == KeyedMessage.LEFT) {
      return ts >= edge;
    }
    Cursor last = new Cursor();
    return !history.rights.last(last) || history.rights.isBefore(last, ts, partition, offset);
  }

  @Override
  long rows(History history, byte side) {
    return drives(side) ? 1 : 0;
  }

  @Override
  long nextExpiry(History history) {
    return oldest(history.lefts);
  }

  @Override
  Iterator<Tuple3<Integer, byte[], byte[]>> live(History history, byte side, Cursor at) {
    if (side == KeyedMessage.LEFT) {
      history.lefts.mark(at, history.version);
      return one(row(history, at));
    }
    history.version++;
    boolean all = history.lefts.size() <= 2 * AT_ONCE;
    history.flushIsWanted |= !all;
    return all ? outdated(history) : new Outdated(history, AT_ONCE);
  }

  @Override
  Iterator<Tuple3<Integer, byte[], byte[]>> batch(History history) {
    Cursor last = new Cursor();
    boolean isNew = history.rights.last(last) && history.rights.mark(last) != 0;
    return new Marked(history, isNew);
  }

  @Override
  boolean mayLack(History history, byte side, Cursor at, boolean[] limited) {
    return side == KeyedMessage.RIGHT && limited[KeyedMessage.LEFT];
  }

  /** The rows that do not show the latest right message yet, as far as is known. */
  Iterator<Tuple3<Integer, byte[], byte[]>> outdated(History history) {
    return history.lefts.size() == 0
        ? Collections.emptyIterator()
        : new Outdated(history, Integer.MAX_VALUE);
  }

  private Tuple3<Integer, byte[], byte[]> row(History history, Cursor left) {
    Cursor right = new Cursor();
    boolean found = history.rights.last(right);
    return writer.row(history.lefts, left, history.rights, found ? right : null);
  }

  /** From the newest row on, at most so many. */
  private final class Outdated extends Rows {
    private final History history;
    private final Cursor left = new Cursor();
    private boolean isThere;
    private int most;

    Outdated(History history, int most) {
      this.history = history;
      this.most = most;
      isThere = history.lefts.last(left);
    }

    @Override
    Tuple3<Integer, byte[], byte[]> find() {
      Tuple3<Integer, byte[], byte[]> row = null;
      while (isThere && most > 0 && row == null) {
        most--;
        if (history.lefts.mark(left) != history.version) {
          history.lefts.mark(left, history.version);
          row = row(history, left);
        }
        isThere = history.lefts.previous(left);
      }
      return row;
    }
  }

  /** New rows, or all. */
  private final class Marked extends Rows {
    private final History history;
    private final boolean all;
    private final Cursor left = new Cursor();
    private boolean isThere;

    Marked(History history, boolean all) {
      this.history = history;
      this.all = all;
      isThere = history.lefts.first(left);
    }

    @Override
    Tuple3<Integer, byte[], byte[]> find() {
      Tuple3<Integer, byte[], byte[]> row = null;
      while (isThere && row == null) {
        if (all || history.lefts.mark(left) != 0) {
          row = row(history, left);
        }
        isThere = history.lefts.next(left);
      }
      return row;
    }
  }
}
