package evergrid.engine;

import evergrid.engine.Timeline.Cursor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import scala.Tuple3;

/**
 * The limits of an inner join, over random histories of one key, late messages and ties among them.
 *
 * <p>In one batch the rows are those of the rule: of each message with its newest partners before
 * it, and of these rows the newest ones. In several batches at least these rows are written. Live, a
 * late message may spend its limit on later partners. What is not written is always told.
 */
public final class InnerTest {
  private record Message(byte side, long ts, long offset) {}

  private record Pair(Message left, Message right) {
    Message later() {
      return right.ts >= left.ts ? right : left;
    }

    Message earlier() {
      return later() == left ? right : left;
    }

    long ts() {
      return later().ts;
    }

    String id() {
      return "0:" + left.offset + ":0:" + right.offset;
    }
  }

  private final Random random;
  private final int most;
  private final int rows;
  private final int backlog;
  private final long age;
  private final JoinRule rule;
  private History history = new History();
  private final List<Message> all = new ArrayList<>();
  private final Set<String> written = new LinkedHashSet<>();
  private long start;
  private int cuts;

  private InnerTest(long seed, boolean isLimitedInBatch) {
    random = new Random(seed);
    most = 1 + random.nextInt(8);
    age = random.nextInt(3) == 0 ? 1_000_000 : random.nextInt(40);
    rows = isLimitedInBatch ? 1 + random.nextInt(200) : Integer.MAX_VALUE;
    backlog = isLimitedInBatch ? 1 + random.nextInt(200) : Integer.MAX_VALUE;
    JoinSpec spec =
        new JoinSpec(
            "{\"query\":\"q\",\"type\":\"INNER\",\"live\":true,\"reducers\":1,"
                + "\"nulls\":[\"\",\"\"],\"sources\":[\"a\",\"b\"],\"topics\":[\"x\",\"y\"],"
                + "\"history\":[null,null],\"age_micros\":" + age + ",\"rows\":" + rows
                + ",\"pairs\":" + most + ",\"backlog_pairs\":" + backlog + "}");
    rule = JoinRule.of(spec, new RowWriter(spec), () -> cuts++);
  }

  public static void main(String[] arguments) {
    long seed = Long.parseLong(arguments[0]);
    for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
      new InnerTest(seed + i, true).inOneBatch("seed " + (seed + i));
      new InnerTest(seed + i, false).inSteps("seed " + (seed + i));
      new InnerTest(seed + i, true).ofTwoKeys("seed " + (seed + i));
    }
    System.out.println("OK");
  }

  private void inOneBatch(String seed) {
    batch(random.nextInt(60));
    List<Pair> expected = limited();
    List<Long> times = expected.stream().map(Pair::ts).sorted(Comparator.reverseOrder()).toList();
    int kept = Math.min(times.size(), Math.min(rows, backlog));
    // Of rows with the same time any may be left out.
    long last = kept == 0 || kept == times.size() ? Long.MIN_VALUE : times.get(kept - 1);
    Set<String> possible = ids(expected.stream().filter(pair -> pair.ts() >= last).toList());
    Set<String> certain = ids(expected.stream().filter(pair -> pair.ts() > last).toList());
    check(written.size() == kept && possible.containsAll(written), seed + ": " + written);
    check(written.containsAll(certain), seed + ": not the newest");
    boolean isMessageCut = expected.size() < pairs().size();
    boolean isBatchCut = kept < expected.size() && backlog < rows;
    check(!isBatchCut || cuts > 0, seed + ": a cut is not told");
    check(kept < expected.size() || isMessageCut == cuts > 0, seed + ": " + cuts + " cuts");
  }

  private void inSteps(String seed) {
    boolean isLive = random.nextBoolean();
    for (int steps = random.nextInt(12); steps >= 0; steps--) {
      if (!isLive || random.nextBoolean()) {
        batch(random.nextInt(12));
      } else {
        live();
      }
      Set<String> pairs = ids(pairs());
      check(pairs.containsAll(written), seed + ": a row that is no pair");
      check(isLive || written.containsAll(ids(limited())), seed + ": a row is missing");
      check(written.size() == pairs.size() || cuts > 0, seed + ": a cut is not told");
    }
  }

  /** What the rows of one key push out of the table is not written for another. */
  private void ofTwoKeys(String seed) {
    batch(1 + random.nextInt(20));
    int before = written.size();
    start = 5_000;
    batch(random.nextInt(60));
    boolean isFull = before > 0 && written.size() - before >= rows; // of a later time span
    history = new History();
    all.clear();
    written.clear();
    start = -1_000_000;
    batch(random.nextInt(60));
    check(written.isEmpty() == (isFull || pairs().isEmpty()), seed + ": " + written);
  }

  private static void check(boolean isRight, String what) {
    if (!isRight) {
      throw new AssertionError(what);
    }
  }

  private static Set<String> ids(List<Pair> pairs) {
    return pairs.stream().map(Pair::id).collect(Collectors.toSet());
  }

  /** All pairs, without a limit. */
  private List<Pair> pairs() {
    return all.stream()
        .filter(left -> left.side == KeyedMessage.LEFT)
        .flatMap(
            left ->
                all.stream()
                    .filter(right -> right.side == KeyedMessage.RIGHT)
                    .filter(right -> Math.abs(left.ts - right.ts) <= age)
                    .map(right -> new Pair(left, right)))
        .toList();
  }

  /** Those whose earlier message is among the newest ones before the later one. */
  private List<Pair> limited() {
    List<Pair> pairs = pairs();
    Comparator<Pair> newest =
        Comparator.<Pair>comparingLong(pair -> pair.earlier().ts)
            .thenComparingLong(pair -> pair.earlier().offset)
            .reversed();
    return pairs.stream()
        .collect(Collectors.groupingBy(Pair::later))
        .values()
        .stream()
        .flatMap(mine -> mine.stream().sorted(newest).limit(most))
        .toList();
  }

  private Cursor insert() {
    Message message =
        new Message(
            (byte) random.nextInt(2), start + random.nextInt(30) + all.size() / 4, all.size());
    all.add(message);
    Cursor at = new Cursor();
    history.side(message.side).insert(message.ts, 0, message.offset, new byte[0], at);
    return at;
  }

  private void live() {
    Cursor at = insert();
    take(rule.live(history, all.get(all.size() - 1).side, at));
  }

  private void batch(int size) {
    for (byte side = KeyedMessage.LEFT; side <= KeyedMessage.RIGHT; side++) {
      Cursor at = new Cursor();
      Timeline messages = history.side(side);
      for (boolean there = messages.first(at); there; there = messages.next(at)) {
        messages.mark(at, 0);
      }
    }
    for (int i = 0; i < size; i++) {
      Cursor at = insert();
      history.side(all.get(all.size() - 1).side).mark(at, 1);
    }
    int before = written.size();
    int made = take(rule.batch(history));
    check(written.size() == before + made, "a row was written twice");
  }

  private int take(Iterator<Tuple3<Integer, byte[], byte[]>> changes) {
    int made = 0;
    while (changes.hasNext()) {
      made++;
      written.add(new String(changes.next()._2()));
    }
    return made;
  }
}
