package evergrid.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker;
import org.apache.spark.sql.streaming.MapState;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Each key is named once for each time it is added, never early, and soon after it is due, by the
 * index of expiries and by that of flushes.
 */
public final class IndexTest {
  private static final byte[] TICK = {2, 0, 0, 0, 1};
  private static final byte[] OTHER = {1, 7};
  private static final long TICK_MILLIS = 250;
  private static final long LATEST_MILLIS = 200_000;

  private IndexTest() {}

  public static void main(String[] arguments) {
    long seed = Long.parseLong(arguments[0]);
    for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
      looksAtEachKeyOnce(seed + i);
      takesEachKeyThatIsDue(seed + i);
    }
    System.out.println("OK");
  }

  /** With restarts, one of them long, for which only the state is left. */
  private static void looksAtEachKeyOnce(long seed) {
    Random random = new Random(seed);
    Entries state = new Entries();
    ExpiryIndex index = new ExpiryIndex(state, TICK);
    Map<String, Long> due = new HashMap<>();
    List<String> wrong = new ArrayList<>();
    ImplicitGroupingKeyTracker.setImplicitKey(OTHER);
    long[] now = {1_700_000_000_000L + random.nextInt(100_000)};
    long end = now[0] + 1_200_000;
    int added = 0;
    long since = 0; // when it was started after a long stop
    while (now[0] < end || !due.isEmpty()) {
      now[0] += TICK_MILLIS;
      for (int n = random.nextInt(4); n > 0 && now[0] < end; n--) {
        String key = "key " + added++;
        long wait = random.nextInt(3) == 0 ? 0 : random.nextInt(400_000);
        index.add(key.getBytes(), now[0] + wait, now[0]);
        due.put(key, now[0] + wait);
      }
      boolean isLong = random.nextInt(2_000) == 0;
      if (isLong || random.nextInt(200) == 0) {
        index = new ExpiryIndex(state, TICK);
        now[0] += isLong ? 3_000_000 : 0;
        since = isLong ? now[0] : since;
      }
      index.lookAtDue(
          now[0],
          (key, span) -> {
            Long at = due.remove(new String(key));
            if (at == null || at > now[0] || span > ExpiryIndex.spanOf(now[0])) {
              wrong.add(new String(key) + " at " + now[0] + ", due at " + at);
            }
            byte[] own = (byte[]) ImplicitGroupingKeyTracker.getImplicitKeyOption().get();
            if (!Arrays.equals(own, key)) {
              wrong.add(new String(key) + " was looked at under another key");
            }
          });
      long started = since;
      due.forEach(
          (key, at) -> {
            if (Math.max(at, started) + LATEST_MILLIS < now[0]) {
              wrong.add(key + ", due at " + at + ", was not looked at until " + now[0]);
            }
          });
      if (!wrong.isEmpty()) {
        throw new AssertionError("seed " + seed + ": " + wrong.get(0));
      }
    }
    boolean isBack = ImplicitGroupingKeyTracker.getImplicitKeyOption().get() == OTHER;
    if (!isBack || state.size() != 1) {
      throw new AssertionError("seed " + seed + ": " + state.size() + " entries are left");
    }
  }

  /** Whatever a restart loses is due at once: the state has the keys, not the times. */
  private static void takesEachKeyThatIsDue(long seed) {
    Random random = new Random(seed);
    Entries state = new Entries();
    FlushIndex index = new FlushIndex(state, TICK);
    Map<String, Long> due = new HashMap<>();
    ImplicitGroupingKeyTracker.setImplicitKey(OTHER);
    int added = 0;
    for (long now = 1_000; now < 100_000 || !due.isEmpty(); now += TICK_MILLIS) {
      for (int n = random.nextInt(4); n > 0 && now < 100_000; n--) {
        String key = "key " + added++;
        long at = now + random.nextInt(10_000);
        index.add(key.getBytes(), at);
        due.put(key, at);
      }
      if (random.nextInt(50) == 0) {
        index = new FlushIndex(state, TICK);
        due.replaceAll((key, at) -> Long.MIN_VALUE);
      }
      for (byte[] key = index.take(now); key != null; key = index.take(now)) {
        Long at = due.remove(new String(key));
        if (at == null || at > now) {
          throw new AssertionError("seed " + seed + ": " + new String(key) + " at " + now);
        }
      }
      long time = now;
      if (due.values().stream().anyMatch(at -> at <= time)) {
        throw new AssertionError("seed " + seed + ": " + due + " are left at " + now);
      }
    }
    boolean isBack = ImplicitGroupingKeyTracker.getImplicitKeyOption().get() == OTHER;
    if (!isBack || state.size() != 0) {
      throw new AssertionError("seed " + seed + ": " + state.size() + " entries are left");
    }
  }

  /** State in memory, by the grouping key that Spark has set. */
  private static final class Entries implements MapState<byte[], byte[]> {
    private static final long serialVersionUID = 1L;
    private final Map<String, TreeMap<String, Tuple2<byte[], byte[]>>> maps = new HashMap<>();

    private TreeMap<String, Tuple2<byte[], byte[]>> own() {
      byte[] key = (byte[]) ImplicitGroupingKeyTracker.getImplicitKeyOption().get();
      return maps.computeIfAbsent(Arrays.toString(key), unused -> new TreeMap<>());
    }

    int size() {
      return maps.values().stream().mapToInt(TreeMap::size).sum();
    }

    @Override
    public boolean exists() {
      return !own().isEmpty();
    }

    @Override
    public byte[] getValue(byte[] key) {
      Tuple2<byte[], byte[]> entry = own().get(Arrays.toString(key));
      return entry == null ? null : entry._2();
    }

    @Override
    public boolean containsKey(byte[] key) {
      return own().containsKey(Arrays.toString(key));
    }

    @Override
    public void updateValue(byte[] key, byte[] value) {
      own().put(Arrays.toString(key), new Tuple2<>(key, value));
    }

    @Override
    public Iterator<Tuple2<byte[], byte[]>> iterator() {
      return CollectionConverters.asScala(new ArrayList<>(own().values()).iterator());
    }

    @Override
    public Iterator<byte[]> keys() {
      return CollectionConverters.asScala(own().values().stream().map(Tuple2::_1).iterator());
    }

    @Override
    public Iterator<byte[]> values() {
      return CollectionConverters.asScala(own().values().stream().map(Tuple2::_2).iterator());
    }

    @Override
    public void removeKey(byte[] key) {
      own().remove(Arrays.toString(key));
    }

    @Override
    public void clear() {
      own().clear();
    }
  }
}
