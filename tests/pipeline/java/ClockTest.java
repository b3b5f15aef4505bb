package evergrid.engine;

import java.util.Random;

/** What a jump of the machine's clock does to the clock by which messages expire. */
public final class ClockTest {
  private static final long START = 1_700_000_000_000L;

  private ClockTest() {}

  public static void main(String[] arguments) {
    long seed = Long.parseLong(arguments[0]);
    for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
      followsTheMachinesClock(new Random(seed + i));
      followsAJumpSlowly(new Random(seed + i));
    }
    System.out.println("OK");
  }

  /** Read at any intervals, also many times in a millisecond, and set back now and then. */
  private static void followsTheMachinesClock(Random random) {
    long[] nanos = {random.nextLong() >> 8};
    long first = nanos[0];
    long[] offset = {0};
    RetentionClock clock =
        new RetentionClock(
            () -> START + offset[0] + (nanos[0] - first) / 1_000_000, () -> nanos[0]);
    for (int n = 0; n < 10_000; n++) {
      nanos[0] += random.nextInt(4) == 0 ? random.nextInt(2_000_000_000) : random.nextInt(3_000);
      if (random.nextInt(1_000) == 0) {
        offset[0] -= random.nextInt(10_000);
      }
      long wall = START + offset[0] + (nanos[0] - first) / 1_000_000;
      check(clock.millis() == wall, "not the machine's clock");
    }
  }

  private static void followsAJumpSlowly(Random random) {
    long[] nanos = {0};
    long[] jump = {0};
    RetentionClock clock =
        new RetentionClock(() -> START + jump[0] + nanos[0] / 1_000_000, () -> nanos[0]);
    clock.millis();
    jump[0] = 86_400_000;
    long minutes = 10;
    while (nanos[0] < minutes * 60_000_000_000L) {
      nanos[0] += 1 + random.nextInt(50_000_000);
      long passed = nanos[0] / 1_000_000;
      long ahead = clock.millis() - START;
      check(ahead <= 2 * passed, "too fast");
      check(ahead >= passed - 1, "too slow");
    }
    check(clock.millis() - START > 2 * minutes * 60_000 - 100, "does not catch up");
    jump[0] = 0;
    check(clock.millis() == START + nanos[0] / 1_000_000, "not back");
  }

  private static void check(boolean holds, String problem) {
    if (!holds) {
      throw new AssertionError(problem);
    }
  }
}
