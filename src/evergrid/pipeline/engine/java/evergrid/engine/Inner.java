package evergrid.engine;

import evergrid.engine.Timeline.Cursor;
import java.util.Iterator;
import scala.Tuple3;

/**
 * Inner: one row for each pair of a left and a right message that are not further apart than the
 * table's age; the newest partners first.
 *
 * <p>That rule depends on the messages alone, not on when they are read. A message is needed until
 * no message that makes rows of the table can be its partner: for twice the age.
 */
final class Inner extends JoinRule {
  private final int most;
  private final long age;
  private long edge = Long.MIN_VALUE; // when the last message came

  /** `most` is how many rows one message may make, `age` is in microseconds. */
  Inner(RowWriter writer, int most, long age) {
    super(writer);
    this.most = most;
    this.age = age;
  }

  @Override
  boolean drives(byte side) {
    return false;
  }

  @Override
  boolean isSpare(History history, byte side, long edge) {
    Cursor at = new Cursor();
    Timeline messages = history.side(side);
    return messages.first(at) && messages.ts(at) < before(edge);
  }

  @Override
  boolean matters(History history, byte side, long ts, int partition, long offset, long edge) {
    this.edge = edge;
    return ts >= before(edge);
  }

  @Override
  long rows(History history, byte side) {
    return 0; // they do not move the edge
  }

  @Override
  long nextExpiry(History history) {
    return after(Math.min(oldest(history.lefts), oldest(history.rights)));
  }

  private long before(long ts) {
    return ts < Long.MIN_VALUE + age ? Long.MIN_VALUE : ts - age;
  }

  private long after(long ts) {
    return ts > Long.MAX_VALUE - age ? Long.MAX_VALUE : ts + age;
  }

  /** The oldest partner with which a message of this time makes a row that the table keeps. */
  private long oldestPartner(long ts) {
    return ts >= edge ? before(ts) : Math.max(before(ts), edge);
  }

  @Override
  Iterator<Tuple3<Integer, byte[], byte[]>> live(History history, byte side, Cursor at) {
    return new Pairs(history, side, at, false);
  }

  @Override
  Iterator<Tuple3<Integer, byte[], byte[]>> batch(History history) {
    return new Batch(history);
  }

  @Override
  boolean mayLack(History history, byte side, Cursor at, boolean[] limited) {
    return limited[1 - side];
  }

  /** Whether a message of this side has more partners than it may make rows. */
  boolean hasTooManyPartners(History history, byte side, Cursor at) {
    Timeline others = history.side((byte) (1 - side));
    if (others.size() <= most) {
      return false;
    }
    long ts = history.side(side).ts(at);
    Cursor other = new Cursor();
    boolean isThere = others.lastUpTo(after(ts), other);
    for (int left = most; isThere && left > 0; left--) {
      isThere = others.previous(other);
    }
    return isThere && others.ts(other) >= oldestPartner(ts);
  }

  /** One message with each partner of the other side, or only with those that are not new. */
  private final class Pairs extends Rows {
    private final History history;
    private final byte side;
    private final Cursor mine;
    private final boolean onlyOld;
    private final Timeline others;
    private final Cursor other = new Cursor();
    private final long oldest;
    private boolean isThere;
    private int left = most;

    Pairs(History history, byte side, Cursor mine, boolean onlyOld) {
      this.history = history;
      this.side = side;
      this.mine = mine;
      this.onlyOld = onlyOld;
      others = history.side((byte) (1 - side));
      long ts = history.side(side).ts(mine);
      oldest = oldestPartner(ts);
      isThere = others.lastUpTo(after(ts), other) && others.ts(other) >= oldest;
    }

    @Override
    Tuple3<Integer, byte[], byte[]> find() {
      Tuple3<Integer, byte[], byte[]> row = null;
      while (isThere && left > 0 && row == null) {
        left--;
        if (!onlyOld || others.mark(other) == 0) {
          boolean isLeft = side == KeyedMessage.LEFT;
          row =
              writer.row(
                  history.lefts, isLeft ? mine : other, history.rights, isLeft ? other : mine);
        }
        isThere = others.previous(other) && others.ts(other) >= oldest;
      }
      return row;
    }
  }

  /** New left messages with all right ones, then new right messages with the old left ones. */
  private final class Batch extends Rows {
    private final History history;
    private byte side = KeyedMessage.LEFT;
    private final Cursor mine = new Cursor();
    private boolean isThere;
    private Pairs pairs;

    Batch(History history) {
      this.history = history;
      isThere = history.lefts.first(mine);
    }

    @Override
    Tuple3<Integer, byte[], byte[]> find() {
      while (true) {
        if (pairs != null && pairs.hasNext()) {
          return pairs.next();
        }
        if (pairs != null) {
          pairs = null;
          isThere = history.side(side).next(mine);
        }
        if (!isThere) {
          if (side == KeyedMessage.RIGHT) {
            return null;
          }
          side = KeyedMessage.RIGHT;
          isThere = history.rights.first(mine);
        } else if (history.side(side).mark(mine) != 0) {
          pairs = new Pairs(history, side, mine.copy(), side == KeyedMessage.RIGHT);
        } else {
          isThere = history.side(side).next(mine);
        }
      }
    }
  }
}
