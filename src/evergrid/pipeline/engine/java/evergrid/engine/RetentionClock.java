package evergrid.engine;

import java.util.function.LongSupplier;

/**
 * The machine's clock, for what expires by age.
 *
 * <p>After a jump forward it catches up at twice the speed of time: messages that are removed from
 * the state do not come back when the clock is set right. So one that is wrong for some minutes costs
 * messages of the next minutes at most. Each reducer has its own; it is not thread-safe.
 */
final class RetentionClock {
  private static final long FASTEST = 2;
  private static final long NANOS = 1_000_000;

  private final LongSupplier wallMillis;
  private final LongSupplier nanoTime;
  private long millis;
  private long nanos;

  RetentionClock() {
    this(System::currentTimeMillis, System::nanoTime);
  }

  RetentionClock(LongSupplier wallMillis, LongSupplier nanoTime) {
    this.wallMillis = wallMillis;
    this.nanoTime = nanoTime;
    millis = wallMillis.getAsLong();
    nanos = nanoTime.getAsLong();
  }

  /** Milliseconds since the epoch. */
  long millis() {
    long wall = wallMillis.getAsLong();
    if (wall <= millis) { // in the same millisecond, or set back
      millis = wall;
      nanos = nanoTime.getAsLong();
      return wall;
    }
    long now = nanoTime.getAsLong();
    long passed = (now - nanos) / NANOS;
    // A clock that is read often is never ahead by more than the rounding of these two.
    long fastest = millis + FASTEST * passed + 1;
    if (wall <= fastest) {
      millis = wall;
      nanos = now;
      return wall;
    }
    if (passed > 0) {
      millis += FASTEST * passed;
      nanos += passed * NANOS;
    }
    return millis;
  }
}
