package evergrid.engine;

import evergrid.engine.Timeline.Cursor;

/** The cache of histories holds no more than it may, whatever the keys are like. */
public final class CacheTest {
  private static final long MOST = 16L << 20;

  private static final JoinSpec SPEC =
      new JoinSpec(
          "{\"query\":\"g1.join-final\",\"type\":\"ASOF\",\"live\":true,\"reducers\":2,"
              + "\"nulls\":[\"\",\"\"],\"sources\":[\"a\",\"b\"],\"topics\":[\"x\",\"y\"],"
              + "\"age_micros\":null,\"rows\":null,\"history\":[null,null],\"pairs\":10,"
              + "\"backlog_pairs\":null}");

  private CacheTest() {}

  public static void main(String[] arguments) {
    isBounded(0, 0);
    isBounded(1, 40);
    isBounded(1, 1000);
    isBounded(50, 100);
    handsOverOnlyToTheNextBatchOfItsRun();
    System.out.println("OK");
  }

  /** Many keys with so many messages each; none at all is what retention leaves of a key. */
  private static void isBounded(int messages, int bodyBytes) {
    long before = used();
    HistoryCache cache = new HistoryCache(SPEC, MOST);
    Cursor at = new Cursor();
    for (int key = 0; key < 80_000; key++) {
      History history = new History();
      cache.put(("a key of some length " + key).getBytes(), history);
      long empty = history.bytes();
      for (int i = 0; i < messages; i++) {
        history.side((byte) (i & 1)).insert(i, 0, i, new byte[bodyBytes], at);
      }
      cache.grown(history.bytes() - empty);
    }
    long taken = used() - before;
    String what = "keys with " + messages + " messages of " + bodyBytes + " bytes take " + taken;
    check(taken < MOST + MOST / 2, what);
    boolean isKept = cache.get("a key of some length 79999".getBytes()) != null;
    check(isKept, "the last key is kept");
    cache.give();
  }

  private static void handsOverOnlyToTheNextBatchOfItsRun() {
    HistoryCache cache = new HistoryCache(SPEC, MOST);
    for (long batch : new long[] {4, 5, 7, 5}) {
      for (String run : new String[] {"run", "another"}) {
        cache.hand("slot", "run", 4);
        boolean fits = batch == 5 && run.equals("run");
        check((HistoryCache.take("slot", run, batch, SPEC) == cache) == fits, run + " " + batch);
        check(HistoryCache.take("slot", "run", 5, SPEC) != cache, "it is handed over once");
      }
    }
  }

  private static long used() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  private static void check(boolean isTrue, String what) {
    if (!isTrue) {
      throw new AssertionError(what);
    }
  }
}
