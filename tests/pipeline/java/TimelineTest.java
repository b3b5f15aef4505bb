package evergrid.engine;

import evergrid.engine.Timeline.Cursor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** A timeline against a plain sorted list, through thousands of random steps. */
public final class TimelineTest {
  private record Entry(long ts, int partition, long offset) implements Comparable<Entry> {
    @Override
    public int compareTo(Entry other) {
      int byTime = Long.compare(ts, other.ts);
      int byPartition = byTime != 0 ? byTime : Integer.compare(partition, other.partition);
      return byPartition != 0 ? byPartition : Long.compare(offset, other.offset);
    }

    byte[] body() {
      return (ts + "/" + partition + "/" + offset).getBytes();
    }
  }

  private final Random random;
  private final Timeline timeline = new Timeline();
  private final List<Entry> expected = new ArrayList<>();
  private final long times;
  private final int lateness;
  private long clock;

  private TimelineTest(long seed) {
    random = new Random(seed);
    times = new long[] {1, 3, 40, 5000, Long.MAX_VALUE}[random.nextInt(5)];
    lateness = random.nextInt(3); // in order, now and then late, always at random
  }

  public static void main(String[] arguments) {
    long seed = Long.parseLong(arguments[0]);
    for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
      try {
        new TimelineTest(seed + i).run();
      } catch (RuntimeException | AssertionError wrong) {
        System.out.println("seed " + (seed + i) + ": " + wrong);
        wrong.printStackTrace();
        return;
      }
    }
    System.out.println("OK");
  }

  private void run() {
    int steps = 1 + random.nextInt(random.nextBoolean() ? 60 : 3000);
    double removed = new double[] {0, 0.1, 0.5, 0.6}[random.nextInt(4)];
    for (int i = 0; i < steps; i++) {
      if (random.nextDouble() < removed && !expected.isEmpty()) {
        expected.remove(0);
        timeline.removeFirst();
      } else {
        insert();
      }
      if (i % 7 == 0) {
        lookUp();
      }
    }
    compareAll();
    while (!expected.isEmpty()) {
      expected.remove(0);
      timeline.removeFirst();
    }
    check(timeline.size() == 0 && timeline.bytes() == 0, "empty, and no bytes left");
    check(!timeline.first(new Cursor()) && !timeline.last(new Cursor()), "no first, no last");
    insert();
    compareAll();
  }

  private long time() {
    if (times == Long.MAX_VALUE) {
      long[] edges = {Long.MIN_VALUE, -1, 0, 1, Long.MAX_VALUE - 1, Long.MAX_VALUE};
      return edges[random.nextInt(edges.length)];
    }
    boolean isLate = lateness == 2 || (lateness == 1 && random.nextInt(20) == 0);
    clock += random.nextInt(2);
    return isLate ? random.nextLong(times + clock) - times / 2 : clock;
  }

  private void insert() {
    boolean again = !expected.isEmpty() && random.nextInt(10) == 0;
    Entry entry =
        again
            ? expected.get(random.nextInt(expected.size()))
            : new Entry(time(), random.nextInt(3), random.nextInt(20) * (1L << random.nextInt(44)));
    int found = Collections.binarySearch(expected, entry);
    if (found < 0) {
      expected.add(-found - 1, entry);
    }
    Cursor at = new Cursor();
    timeline.insert(entry.ts, entry.partition, entry.offset, entry.body(), at);
    check(entry.equals(entry(at)), "the cursor points to what was inserted");
    if (found < 0) {
      check(timeline.mark(at) == 0, "a new message has no mark");
      timeline.mark(at, entry.hashCode() | 1);
    }
    check(timeline.mark(at) == (entry.hashCode() | 1), "a mark stays with its message");
  }

  private Entry entry(Cursor at) {
    return new Entry(timeline.ts(at), timeline.partition(at), timeline.offset(at));
  }

  private void lookUp() {
    long ts = random.nextBoolean() || expected.isEmpty() ? time() : anyTime();
    Cursor at = new Cursor();
    Entry from = null;
    Entry upTo = null;
    for (Entry entry : expected) {
      from = from == null && entry.ts >= ts ? entry : from;
      upTo = entry.ts <= ts ? entry : upTo;
    }
    check(timeline.firstFrom(ts, at) == (from != null), "there is one from " + ts);
    check(from == null || from.equals(entry(at)), "the first from " + ts);
    check(timeline.lastUpTo(ts, at) == (upTo != null), "there is one up to " + ts);
    check(upTo == null || upTo.equals(entry(at)), "the last up to " + ts);
    if (!expected.isEmpty()) {
      walkFrom(random.nextInt(expected.size()));
    }
  }

  private long anyTime() {
    return expected.get(random.nextInt(expected.size())).ts;
  }

  /** A few steps to and fro from anywhere. */
  private void walkFrom(int index) {
    Entry start = expected.get(index);
    Cursor at = new Cursor();
    timeline.insert(start.ts, start.partition, start.offset, start.body(), at);
    Entry other = expected.get(random.nextInt(expected.size()));
    check(
        timeline.isBefore(at, other.ts, other.partition, other.offset)
            == (start.compareTo(other) < 0),
        "before another");
    Cursor copy = at.copy();
    check(timeline.next(copy) == (index + 1 < expected.size()), "a next one");
    check(index + 1 >= expected.size() || expected.get(index + 1).equals(entry(copy)), "the next");
    copy = at.copy();
    check(timeline.previous(copy) == (index > 0), "a previous one");
    check(index == 0 || expected.get(index - 1).equals(entry(copy)), "the previous");
    check(start.equals(entry(at)), "a copy is another cursor");
  }

  private void compareAll() {
    check(timeline.size() == expected.size(), "size");
    Cursor at = new Cursor();
    List<Entry> forward = new ArrayList<>();
    for (boolean there = timeline.first(at); there; there = timeline.next(at)) {
      Entry entry = entry(at);
      forward.add(entry);
      check(new String(timeline.body(at)).equals(new String(entry.body())), "its body");
      check(timeline.mark(at) == (entry.hashCode() | 1), "its mark");
    }
    check(forward.equals(expected), "all, the oldest first");
    List<Entry> backward = new ArrayList<>();
    for (boolean there = timeline.last(at); there; there = timeline.previous(at)) {
      backward.add(entry(at));
    }
    Collections.reverse(backward);
    check(backward.equals(expected), "all, the newest first");
  }

  private static void check(boolean isTrue, String what) {
    if (!isTrue) {
      throw new AssertionError(what);
    }
  }
}
