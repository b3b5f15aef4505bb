package evergrid.engine;

import evergrid.engine.Timeline.Cursor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import scala.Tuple3;

/**
 * The three rules against a naive join of all messages, over small random histories of one key.
 *
 * <p>Messages come one by one or in batches, late ones and ties among them, while the edge of
 * retention moves on. The last row written under each id, of those that the edge has not passed,
 * must be the row of the naive join.
 */
public final class RulesTest {
  private record Message(byte side, long ts, int partition, long offset) {
    byte[] body() {
      return ("\"" + (side == 0 ? "l" : "r") + "\":" + partition * 1000 + offset).getBytes();
    }

    String id() {
      return partition + ":" + offset;
    }
  }

  private static final Comparator<Message> ORDER =
      Comparator.comparingLong(Message::ts)
          .thenComparingInt(Message::partition)
          .thenComparingLong(Message::offset);

  private final Random random;
  private final JoinSpec spec;
  private final RowWriter writer;
  private final JoinRule rule;
  private final History history = new History();
  private final List<Message> all = new ArrayList<>();
  private final Map<String, String> written = new TreeMap<>();
  private final Map<String, Integer> times = new HashMap<>();
  private final long[] offsets = new long[6];
  private final boolean flushes;
  private final long age;
  private long edge = Long.MIN_VALUE;
  private long clock;
  private final StringBuilder trail = new StringBuilder();

  private RulesTest(long seed, JoinSpec.Type type) {
    random = new Random(seed);
    age = random.nextInt(4) == 0 ? Long.MAX_VALUE : random.nextInt(40);
    spec =
        new JoinSpec(
            "{\"query\":\"q\",\"type\":\""
                + type
                + "\",\"live\":true,\"reducers\":1,\"nulls\":[\"\\\"l\\\":null\",\"\\\"r\\\":null\"],"
                + "\"sources\":[\"a\",\"b\"],\"topics\":[\"x\",\"y\"],\"age_micros\":"
                + (age == Long.MAX_VALUE ? "null" : age)
                + ",\"rows\":null,"
                + "\"history\":[null,null],\"pairs\":1000000,"
                + "\"backlog_pairs\":null}");
    writer = new RowWriter(spec);
    rule = JoinRule.of(spec, writer, () -> {});
    flushes = random.nextBoolean();
  }

  public static void main(String[] arguments) {
    long seed = Long.parseLong(arguments[0]);
    for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
      for (JoinSpec.Type type : JoinSpec.Type.values()) {
        RulesTest test = new RulesTest(seed + i, type);
        try {
          test.run();
        } catch (RuntimeException | AssertionError wrong) {
          System.out.println("seed " + (seed + i) + ", " + type + ": " + wrong);
          System.out.println(test.trail);
          wrong.printStackTrace();
          return;
        }
      }
    }
    System.out.println("OK");
  }

  private void run() {
    int steps = 1 + random.nextInt(random.nextInt(10) == 0 ? 100 : 12);
    for (int i = 0; i < steps; i++) {
      if (random.nextInt(8) == 0) {
        moveEdge();
      }
      if (random.nextInt(3) == 0) {
        batch(random.nextInt(12));
      } else {
        live(message());
      }
      boolean isLooked = all.size() < 30 || random.nextInt(all.size()) < 3; // it takes long
      if (isLooked && (!history.flushIsWanted || flushes)) {
        flush();
        compare();
      }
    }
    flush();
    compare();
  }

  private Message message() {
    clock += random.nextInt(3);
    byte side = (byte) random.nextInt(2);
    int partition = random.nextInt(3);
    boolean isLate = random.nextInt(3) == 0;
    long ts = isLate ? clock - random.nextInt(30) : clock;
    Message message = new Message(side, ts, partition, offsets[3 * side + partition]++);
    all.add(message);
    return message;
  }

  private void moveEdge() {
    trim(); // a left join needs one right message, whatever the time
    edge = Math.max(edge, clock - random.nextInt(25));
    trail.append("edge " + edge + "\n");
    long next = rule.nextExpiry(history);
    boolean isSpare =
        rule.isSpare(history, KeyedMessage.LEFT, edge)
            || rule.isSpare(history, KeyedMessage.RIGHT, edge);
    check(!isSpare || next <= edge, "what expires is foreseen: " + next + ", edge " + edge);
    if (random.nextBoolean()) {
      trim();
      check(rule.nextExpiry(history) >= edge, "what has expired is gone");
    }
  }

  private void trim() {
    for (byte side = KeyedMessage.LEFT; side <= KeyedMessage.RIGHT; side++) {
      while (rule.isSpare(history, side, edge)) {
        history.side(side).removeFirst();
      }
    }
  }

  private boolean insert(Message one, Cursor at) {
    trail.append((one.side == 0 ? "left " : "right ") + one.ts + " " + one.id() + "\n");
    if (!rule.matters(history, one.side, one.ts, one.partition, one.offset, edge)) {
      return false;
    }
    history.side(one.side).insert(one.ts, one.partition, one.offset, one.body(), at);
    return true;
  }

  private void live(Message one) {
    trim();
    Cursor at = new Cursor();
    if (insert(one, at)) {
      take(rule.live(history, one.side, at));
    }
  }

  /** As a micro-batch does it: the history is read anew, and what is new is marked. */
  private void batch(int size) {
    trail.append("batch of " + size + "\n");
    boolean wanted = history.flushIsWanted;
    forgetMarks();
    Cursor at = new Cursor();
    List<Message> messages = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      messages.add(message());
    }
    java.util.Collections.shuffle(messages, random);
    for (Message one : messages) {
      if (insert(one, at)) {
        history.side(one.side).mark(at, 1);
        while (rule.isSpare(history, one.side, edge)) {
          history.side(one.side).removeFirst();
        }
      }
    }
    trim();
    take(rule.batch(history));
    forgetMarks();
    history.flushIsWanted = wanted; // the index of flushes has it
  }

  private void forgetMarks() {
    history.version = 1;
    Cursor at = new Cursor();
    for (byte side = KeyedMessage.LEFT; side <= KeyedMessage.RIGHT; side++) {
      Timeline messages = history.side(side);
      for (boolean there = messages.first(at); there; there = messages.next(at)) {
        messages.mark(at, 0);
      }
    }
  }

  private void flush() {
    if (history.flushIsWanted) {
      history.flushIsWanted = false;
      take(((LeftJoin) rule).outdated(history));
    }
  }

  private void take(Iterator<Tuple3<Integer, byte[], byte[]>> rows) {
    times.clear();
    while (rows.hasNext()) {
      Tuple3<Integer, byte[], byte[]> row = rows.next();
      String id = new String(row._2());
      written.put(id, new String(row._3()));
      int count = times.merge(id, 1, Integer::sum);
      check(count == 1, "row " + id + " was written " + count + " times at once");
    }
  }

  private void compare() {
    Map<String, String> expected = joined(edge);
    Map<String, String> ever = joined(Long.MIN_VALUE);
    for (Map.Entry<String, String> row : expected.entrySet()) {
      String found = written.get(row.getKey());
      check(
          row.getValue().equals(found),
          "row " + row.getKey() + " is " + found + ", not " + row.getValue());
    }
    for (String id : written.keySet()) {
      check(ever.containsKey(id), "no such row: " + id);
    }
  }

  /**
   * The join of everything that ever came, without rows that are older than the edge. An inner join
   * pairs messages that are not further apart than the age, whenever they come.
   */
  private Map<String, String> joined(long edge) {
    List<Message> lefts = new ArrayList<>(all.stream().filter(m -> m.side == 0).sorted(ORDER).toList());
    List<Message> rights = new ArrayList<>(all.stream().filter(m -> m.side == 1).sorted(ORDER).toList());
    Map<String, String> rows = new TreeMap<>();
    switch (spec.type) {
      case ASOF -> {
        for (Message right : rights) {
          Message match = null;
          for (Message left : lefts) {
            match = left.ts <= right.ts ? left : match;
          }
          put(rows, right.id(), right.ts, match, right, edge);
        }
      }
      case LEFT -> {
        Message latest = rights.isEmpty() ? null : rights.get(rights.size() - 1);
        for (Message left : lefts) {
          put(rows, left.id(), left.ts, left, latest, edge);
        }
      }
      case INNER -> {
        for (Message left : lefts) {
          for (Message right : rights) {
            if (Math.abs(left.ts - right.ts) <= age) {
              String id = left.id() + ":" + right.id();
              put(rows, id, Math.max(left.ts, right.ts), left, right, edge);
            }
          }
        }
      }
    }
    return rows;
  }

  private static void put(
      Map<String, String> rows, String id, long ts, Message left, Message right, long edge) {
    if (ts >= edge) {
      rows.put(
          id,
          "{"
              + (left == null ? "\"l\":null" : new String(left.body()))
              + ","
              + (right == null ? "\"r\":null" : new String(right.body()))
              + ",\"ts\":"
              + ts
              + trace("a", "x", left)
              + trace("b", "y", right)
              + "}");
    }
  }

  private static String trace(String source, String topic, Message one) {
    String name = ",\"_" + source + "_";
    if (one == null) {
      return name + "topic\":null" + name + "partition\":null" + name + "offset\":null" + name
          + "ts\":null";
    }
    return name + "topic\":\"" + topic + "\"" + name + "partition\":" + one.partition + name
        + "offset\":" + one.offset + name + "ts\":" + one.ts;
  }

  private static void check(boolean isTrue, String what) {
    if (!isTrue) {
      throw new AssertionError(what);
    }
  }
}
