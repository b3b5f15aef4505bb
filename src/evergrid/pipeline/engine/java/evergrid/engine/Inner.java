package evergrid.engine;

import evergrid.engine.Timeline.Cursor;
import java.util.Collections;
import java.util.Iterator;
import scala.Tuple3;

/**
 * Inner: one row for each pair of a left and a right message that are not further apart than the
 * table's age; the newest partners first.
 *
 * <p>That rule depends on the messages alone, not on when they are read. A message is needed until
 * no message that makes rows of the table can be its partner: for twice the age.
 *
 * <p>A key that many messages share would make as many rows as the product of both sides. So a
 * message makes a limited number of rows, and a key in a batch, too: of those that its table keeps,
 * the newest ones.
 */
final class Inner extends JoinRule {
  private static final int NONE = Integer.MAX_VALUE;

  private final int most;
  private final long age;
  private final long mostInBatch;
  private final boolean mayLackInBatch; // or the table would drop the others anyway
  private final RetentionEdge shown; // by the rows that were written in this batch
  private final Runnable cut;
  private long edge = Long.MIN_VALUE; // when the last message came

  /** `cut` is told each time that a limit leaves out rows that the table would show. */
  Inner(RowWriter writer, JoinSpec spec, Runnable cut) {
    super(writer);
    this.cut = cut;
    most = spec.pairs;
    age = spec.ageMicros;
    mostInBatch = Math.min(spec.rows, spec.backlogPairs);
    mayLackInBatch = spec.backlogPairs < spec.rows;
    shown = new RetentionEdge(Long.MAX_VALUE, spec.rows);
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
    Cursor other = new Cursor();
    Timeline others = history.side((byte) (1 - side));
    boolean isThere = others.lastUpTo(after(history.side(side).ts(at)), other);
    return new Pairs(history, side, at, other, isThere, false);
  }

  @Override
  Iterator<Tuple3<Integer, byte[], byte[]>> batch(History history) {
    return new Batch(history);
  }

  @Override
  boolean mayLack(History history, byte side, Cursor at, boolean[] limited) {
    return limited[1 - side];
  }

  /** One message with each partner of the other side up to `other`, or only with new ones. */
  private final class Pairs extends Rows {
    private final History history;
    private final byte side;
    private final Cursor mine;
    private final boolean onlyNew;
    private final Timeline others;
    private final Cursor other;
    private final long oldest;
    private boolean isThere;
    private int left = most;

    Pairs(
        History history, byte side, Cursor mine, Cursor other, boolean isThere, boolean onlyNew) {
      this.history = history;
      this.side = side;
      this.mine = mine;
      this.other = other;
      this.onlyNew = onlyNew;
      others = history.side((byte) (1 - side));
      oldest = oldestPartner(history.side(side).ts(mine));
      this.isThere = isThere && others.ts(other) >= oldest;
    }

    @Override
    Tuple3<Integer, byte[], byte[]> find() {
      Tuple3<Integer, byte[], byte[]> row = null;
      while (isThere && left > 0 && row == null) {
        left--;
        if (!onlyNew || others.mark(other) != 0) {
          boolean isLeft = side == KeyedMessage.LEFT;
          row =
              writer.row(
                  history.lefts, isLeft ? mine : other, history.rights, isLeft ? other : mine);
        }
        isThere = others.previous(other) && others.ts(other) >= oldest;
      }
      if (row == null && isThere) {
        isThere = false;
        cut.run();
      }
      return row;
    }
  }

  /**
   * Each message with those before it, the latest message first: so the newest rows come first. Of
   * two messages with the same time the left one is before the right one.
   */
  private final class Batch extends Rows {
    private final History history;
    private final Cursor[] at = {new Cursor(), new Cursor()};
    private final boolean[] isThere = new boolean[2];
    private final int[] toNew = new int[2]; // messages between there and the next new one before it
    private Iterator<Tuple3<Integer, byte[], byte[]>> pairs = Collections.emptyIterator();
    private long ts; // of these pairs
    private long left = mostInBatch;

    Batch(History history) {
      this.history = history;
      for (byte side = KeyedMessage.LEFT; side <= KeyedMessage.RIGHT; side++) {
        isThere[side] = history.side(side).last(at[side]);
        lookForNew(side);
      }
    }

    @Override
    Tuple3<Integer, byte[], byte[]> find() {
      while (!pairs.hasNext()) {
        if (!isThere[KeyedMessage.LEFT] && !isThere[KeyedMessage.RIGHT]) {
          return null;
        }
        pairs = ofNextMessage();
      }
      if (left == 0 && mayLackInBatch) {
        cut.run();
      }
      if (left == 0 || ts < shown.now()) {
        isThere[KeyedMessage.LEFT] = isThere[KeyedMessage.RIGHT] = false;
        pairs = Collections.emptyIterator();
        return null;
      }
      left--;
      shown.count(ts, 1);
      return pairs.next();
    }

    private Iterator<Tuple3<Integer, byte[], byte[]>> ofNextMessage() {
      boolean isRight =
          !isThere[KeyedMessage.LEFT]
              || (isThere[KeyedMessage.RIGHT]
                  && history.rights.ts(at[KeyedMessage.RIGHT])
                      >= history.lefts.ts(at[KeyedMessage.LEFT]));
      byte side = isRight ? KeyedMessage.RIGHT : KeyedMessage.LEFT;
      int other = 1 - side;
      Timeline messages = history.side(side);
      Cursor mine = at[side].copy();
      boolean isNew = messages.mark(mine) != 0;
      ts = messages.ts(mine);
      isThere[side] = messages.previous(at[side]);
      if (toNew[side] != NONE && --toNew[side] < 0) {
        lookForNew(side);
      }
      if (isNew || toNew[other] < most) {
        return new Pairs(history, side, mine, at[other].copy(), isThere[other], !isNew);
      }
      if (toNew[other] != NONE) {
        cut.run(); // a late message that is not among its newest partners
      }
      return Collections.emptyIterator();
    }

    private void lookForNew(byte side) {
      Timeline messages = history.side(side);
      Cursor look = at[side].copy();
      boolean isFound = isThere[side];
      int steps = 0;
      while (isFound && messages.mark(look) == 0) {
        isFound = messages.previous(look);
        steps++;
      }
      toNew[side] = isFound ? steps : NONE;
    }
  }
}
