package evergrid.engine;

import java.util.Map;
import java.util.TreeMap;

/**
 * How far back the joined table goes: rows before the edge are not in it any more.
 *
 * <p>By age that is a matter of the clock. By the number of rows it is only known for the rows that
 * this reducer has made since it was started: when as many as the table keeps are at some time or
 * later, no row before that time is among the newest. So the edge is never too late.
 */
final class RetentionEdge {
  private static final int MOST_SPANS = 4096;
  private static final long MICROS = 1000;
  private static final long SLACK_MICROS = 10_000_000; // clocks differ

  private final RetentionClock clock = new RetentionClock();
  private final long ageMicros;
  private final long rows;
  private final TreeMap<Long, long[]> counts = new TreeMap<>(); // rows by time span
  private long lastSpan;
  private long[] last; // the count of that span: most messages come in order
  private long spanMicros = 1000;
  private long counted;
  private long edge = Long.MIN_VALUE;

  RetentionEdge(JoinSpec spec) {
    // An inner join pairs old messages with new ones: its rows do not say which are needed.
    this(spec.ageMicros, spec.type == JoinSpec.Type.INNER ? Long.MAX_VALUE : spec.rows);
  }

  RetentionEdge(long ageMicros, long rows) {
    this.ageMicros = ageMicros;
    this.rows = rows;
  }

  boolean isBounded() {
    return ageMicros != Long.MAX_VALUE || rows != Long.MAX_VALUE;
  }

  /** Note that rows of this time were made. */
  void count(long ts, long made) {
    if (rows == Long.MAX_VALUE || made == 0 || ts < edge) {
      return;
    }
    long span = Math.floorDiv(ts, spanMicros);
    if (last == null || span != lastSpan) {
      last = counts.computeIfAbsent(span, unused -> new long[1]);
      lastSpan = span;
    }
    last[0] += made;
    counted += made;
    if (counted >= rows) {
      advance();
    }
    if (counts.size() > MOST_SPANS) {
      widen();
    }
  }

  private void advance() {
    while (counted - counts.firstEntry().getValue()[0] >= rows) {
      counted -= counts.pollFirstEntry().getValue()[0];
      edge = counts.firstKey() * spanMicros;
      last = null;
    }
  }

  private void widen() {
    TreeMap<Long, long[]> wider = new TreeMap<>();
    for (Map.Entry<Long, long[]> entry : counts.entrySet()) {
      long span = Math.floorDiv(entry.getKey(), 2);
      wider.computeIfAbsent(span, unused -> new long[1])[0] += entry.getValue()[0];
    }
    counts.clear();
    counts.putAll(wider);
    spanMicros *= 2;
    last = null;
  }

  long now() {
    if (ageMicros == Long.MAX_VALUE) {
      return edge;
    }
    return Math.max(edge, clock.millis() * MICROS - ageMicros - SLACK_MICROS);
  }

  /** In how many milliseconds a message of this time may be before the edge, as far as is known. */
  long millisUntil(long ts, long unknown) {
    long edgeNow = now();
    return edgeNow == Long.MIN_VALUE ? unknown : Math.max(0, (ts - edgeNow) / MICROS);
  }
}
