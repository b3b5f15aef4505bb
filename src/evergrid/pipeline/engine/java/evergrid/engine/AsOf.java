package evergrid.engine;

import evergrid.engine.Timeline.Cursor;
import java.util.Iterator;
import scala.Tuple3;

/** As-of: one row per right message, with the latest left message that is not newer. */
final class AsOf extends JoinRule {
  AsOf(RowWriter writer) {
    super(writer);
  }

  @Override
  boolean drives(byte side) {
    return side == KeyedMessage.RIGHT;
  }

  /** The latest left message before the edge stays: it is the match of the first rows after it. */
  @Override
  boolean isSpare(History history, byte side, long edge) {
    Cursor at = new Cursor();
    if (side == KeyedMessage.RIGHT) {
      return history.rights.first(at) && history.rights.ts(at) < edge;
    }
    Timeline lefts = history.lefts;
    return lefts.size() > 1 && lefts.first(at) && lefts.next(at) && lefts.ts(at) <= edge;
  }

  @Override
  boolean matters(History history, byte side, long ts, int partition, long offset, long edge) {
    if (ts >= edge) {
      return true;
    }
    Cursor first = new Cursor();
    // What is older than the edge matters only as the latest of its kind.
    return side == KeyedMessage.LEFT
        && (!history.lefts.first(first)
            || history.lefts.ts(first) >= edge
            || history.lefts.isBefore(first, ts, partition, offset));
  }

  @Override
  long rows(History history, byte side) {
    return drives(side) ? 1 : 0;
  }

  /** The oldest left message goes when the edge has reached the second. */
  @Override
  long nextExpiry(History history) {
    Cursor at = new Cursor();
    boolean hasSecond = history.lefts.first(at) && history.lefts.next(at);
    long left = hasSecond ? history.lefts.ts(at) : Long.MAX_VALUE;
    return Math.min(left, oldest(history.rights));
  }

  @Override
  Iterator<Tuple3<Integer, byte[], byte[]>> live(History history, byte side, Cursor at) {
    if (side == KeyedMessage.RIGHT) {
      return one(matched(history, at));
    }
    return new Corrected(history, at);
  }

  @Override
  Iterator<Tuple3<Integer, byte[], byte[]>> batch(History history) {
    return new Batch(history);
  }

  /** A right message without a match, or a left one before right ones that are gone. */
  @Override
  boolean mayLack(History history, byte side, Cursor at, boolean[] limited) {
    Cursor other = new Cursor();
    if (side == KeyedMessage.RIGHT) {
      return limited[KeyedMessage.LEFT] && !history.lefts.lastUpTo(history.rights.ts(at), other);
    }
    return limited[KeyedMessage.RIGHT]
        && history.rights.first(other)
        && history.lefts.ts(at) <= history.rights.ts(other);
  }

  private Tuple3<Integer, byte[], byte[]> matched(History history, Cursor right) {
    Cursor left = new Cursor();
    boolean found = history.lefts.lastUpTo(history.rights.ts(right), left);
    return writer.row(history.lefts, found ? left : null, history.rights, right);
  }

  /** The rows of right messages that a left message is the match of. */
  private final class Corrected extends Rows {
    private final History history;
    private final Cursor left;
    private final Cursor right = new Cursor();
    private final long end;
    private boolean isThere;

    Corrected(History history, Cursor left) {
      this.history = history;
      this.left = left;
      Cursor next = left.copy();
      end = history.lefts.next(next) ? history.lefts.ts(next) : Long.MAX_VALUE;
      isThere = history.rights.firstFrom(history.lefts.ts(left), right);
    }

    @Override
    Tuple3<Integer, byte[], byte[]> find() {
      // The last moment of all has no end after it.
      if (!isThere || (history.rights.ts(right) >= end && end != Long.MAX_VALUE)) {
        return null;
      }
      Tuple3<Integer, byte[], byte[]> row =
          writer.row(history.lefts, left, history.rights, right);
      isThere = history.rights.next(right);
      return row;
    }
  }

  /** First what new left messages change, then the new right messages that they do not reach. */
  private final class Batch extends Rows {
    private final History history;
    private final Cursor left = new Cursor();
    private final Cursor right = new Cursor();
    private boolean hasLeft;
    private boolean hasRight;
    private Corrected corrected;

    Batch(History history) {
      this.history = history;
      hasLeft = history.lefts.first(left);
      hasRight = history.rights.first(right);
    }

    @Override
    Tuple3<Integer, byte[], byte[]> find() {
      while (corrected != null || hasLeft) {
        if (corrected != null) {
          if (corrected.hasNext()) {
            return corrected.next();
          }
          corrected = null;
          hasLeft = history.lefts.next(left);
        } else if (history.lefts.mark(left) != 0) {
          corrected = new Corrected(history, left.copy());
        } else {
          hasLeft = history.lefts.next(left);
        }
      }
      Cursor match = new Cursor();
      while (hasRight) {
        Tuple3<Integer, byte[], byte[]> row = null;
        if (history.rights.mark(right) != 0) {
          boolean found = history.lefts.lastUpTo(history.rights.ts(right), match);
          if (!found || history.lefts.mark(match) == 0) {
            row = writer.row(history.lefts, found ? match : null, history.rights, right);
          }
        }
        hasRight = history.rights.next(right);
        if (row != null) {
          return row;
        }
      }
      return null;
    }
  }
}
