package evergrid.engine;

import java.util.ArrayList;
import java.util.Arrays;

/**
 * One side of a key: its messages by (time, partition, offset), the oldest first.
 *
 * <p>They are kept in blocks of at most {@value #FULL} messages, so that a late message moves few
 * others, however many there are.
 */
final class Timeline {
  static final int FULL = 256;
  private static final int OBJECT_BYTES = 64; // about what an entry takes beside its body
  private static final int PARTITION_SHIFT = 48; // offsets stay below 2^48

  /** A place between the messages of a timeline; valid until one is inserted or removed. */
  static final class Cursor {
    private int block;
    private int index;

    Cursor copy() {
      Cursor copy = new Cursor();
      copy.block = block;
      copy.index = index;
      return copy;
    }
  }

  private static final class Block {
    long[] ts = new long[2];
    long[] place = new long[2];
    byte[][] body = new byte[2][];
    int[] mark = new int[2];
    int size;

    void grow() {
      int length = Math.min(FULL, 2 * ts.length);
      ts = Arrays.copyOf(ts, length);
      place = Arrays.copyOf(place, length);
      body = Arrays.copyOf(body, length);
      mark = Arrays.copyOf(mark, length);
    }

    void insert(int at, long newTs, long newPlace, byte[] newBody) {
      if (size == ts.length) {
        grow();
      }
      int moved = size - at;
      System.arraycopy(ts, at, ts, at + 1, moved);
      System.arraycopy(place, at, place, at + 1, moved);
      System.arraycopy(body, at, body, at + 1, moved);
      System.arraycopy(mark, at, mark, at + 1, moved);
      ts[at] = newTs;
      place[at] = newPlace;
      body[at] = newBody;
      mark[at] = 0;
      size++;
    }

    void removeFirst() {
      size--;
      System.arraycopy(ts, 1, ts, 0, size);
      System.arraycopy(place, 1, place, 0, size);
      System.arraycopy(body, 1, body, 0, size);
      System.arraycopy(mark, 1, mark, 0, size);
      body[size] = null;
    }

    Block split() {
      int half = size / 2;
      Block later = new Block();
      later.ts = Arrays.copyOfRange(ts, half, half + FULL);
      later.place = Arrays.copyOfRange(place, half, half + FULL);
      later.body = Arrays.copyOfRange(body, half, half + FULL);
      later.mark = Arrays.copyOfRange(mark, half, half + FULL);
      later.size = size - half;
      Arrays.fill(body, half, size, null);
      size = half;
      return later;
    }

    /** The first index whose entry is not before this position. */
    int from(long wantedTs, long wantedPlace) {
      int low = 0;
      int high = size;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (isBefore(middle, wantedTs, wantedPlace)) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    }

    boolean beginsAfter(long wantedTs, long wantedPlace) {
      return ts[0] > wantedTs || (ts[0] == wantedTs && place[0] > wantedPlace);
    }

    boolean isBefore(int index, long wantedTs, long wantedPlace) {
      return ts[index] < wantedTs || (ts[index] == wantedTs && place[index] < wantedPlace);
    }
  }

  private final ArrayList<Block> blocks = new ArrayList<>(1);
  private int size;
  private long bytes;

  int size() {
    return size;
  }

  long bytes() {
    return bytes;
  }

  /** Insert a message and point to it; one with the same position is replaced. */
  void insert(long ts, int partition, long offset, byte[] body, Cursor at) {
    long place = place(partition, offset);
    if (blocks.isEmpty()) {
      blocks.add(new Block());
    }
    at.block = blockOf(ts, place);
    Block block = blocks.get(at.block);
    at.index = block.from(ts, place);
    if (at.index < block.size && block.ts[at.index] == ts && block.place[at.index] == place) {
      bytes += body.length - block.body[at.index].length;
      block.body[at.index] = body;
      return;
    }
    if (block.size == FULL) {
      split(at, block);
      block = blocks.get(at.block);
    }
    block.insert(at.index, ts, place, body);
    size++;
    bytes += body.length + OBJECT_BYTES;
  }

  /** Messages come mostly in order: a last block that is full is left full. */
  private void split(Cursor at, Block block) {
    if (at.index == FULL && at.block == blocks.size() - 1) {
      blocks.add(new Block());
      at.block++;
      at.index = 0;
      return;
    }
    blocks.add(at.block + 1, block.split());
    if (at.index > block.size) {
      at.index -= block.size;
      at.block++;
    }
  }

  /** The last block whose first entry is not after this position. */
  private int blockOf(long ts, long place) {
    int last = blocks.size() - 1;
    Block newest = blocks.get(last);
    if (last == 0 || !newest.beginsAfter(ts, place)) {
      return last;
    }
    int low = 0;
    int high = last;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (blocks.get(middle).beginsAfter(ts, place)) {
        high = middle - 1;
      } else {
        low = middle;
      }
    }
    return low;
  }

  /** Point to the first message at this time or later; false when there is none. */
  boolean firstFrom(long ts, Cursor at) {
    if (size == 0) {
      return false;
    }
    at.block = blockOf(ts, Long.MIN_VALUE);
    at.index = blocks.get(at.block).from(ts, Long.MIN_VALUE);
    return at.index < blocks.get(at.block).size || nextBlock(at);
  }

  /** Point to the last message at this time or earlier; false when there is none. */
  boolean lastUpTo(long ts, Cursor at) {
    if (size == 0) {
      return false;
    }
    at.block = blockOf(ts, Long.MAX_VALUE);
    at.index = blocks.get(at.block).from(ts, Long.MAX_VALUE);
    return previous(at);
  }

  boolean first(Cursor at) {
    at.block = 0;
    at.index = 0;
    return size > 0;
  }

  boolean last(Cursor at) {
    if (size == 0) {
      return false;
    }
    at.block = blocks.size() - 1;
    at.index = blocks.get(at.block).size - 1;
    return true;
  }

  boolean next(Cursor at) {
    at.index++;
    return at.index < blocks.get(at.block).size || nextBlock(at);
  }

  private boolean nextBlock(Cursor at) {
    at.block++;
    at.index = 0;
    return at.block < blocks.size();
  }

  boolean previous(Cursor at) {
    if (at.index > 0) {
      at.index--;
      return true;
    }
    if (at.block == 0) {
      return false;
    }
    at.block--;
    at.index = blocks.get(at.block).size - 1;
    return true;
  }

  void removeFirst() {
    Block block = blocks.get(0);
    bytes -= block.body[0].length + OBJECT_BYTES;
    size--;
    block.removeFirst();
    if (block.size == 0) {
      blocks.remove(0);
    }
  }

  long ts(Cursor at) {
    return blocks.get(at.block).ts[at.index];
  }

  int partition(Cursor at) {
    return (int) (blocks.get(at.block).place[at.index] >>> PARTITION_SHIFT);
  }

  long offset(Cursor at) {
    return blocks.get(at.block).place[at.index] & ((1L << PARTITION_SHIFT) - 1);
  }

  boolean isBefore(Cursor at, long ts, int partition, long offset) {
    return blocks.get(at.block).isBefore(at.index, ts, place(partition, offset));
  }

  byte[] body(Cursor at) {
    return blocks.get(at.block).body[at.index];
  }

  /** A number that the join notes beside a message; 0 at first. */
  int mark(Cursor at) {
    return blocks.get(at.block).mark[at.index];
  }

  void mark(Cursor at, int mark) {
    blocks.get(at.block).mark[at.index] = mark;
  }

  private static long place(int partition, long offset) {
    return ((long) partition << PARTITION_SHIFT) | offset;
  }
}
