package evergrid.engine;

/** Everything that a join knows of one key while a batch runs. */
final class History {
  final Timeline lefts = new Timeline();
  final Timeline rights = new Timeline();

  /** Rises with each new latest right message of a left join; rows carry the one they show. */
  int version = 1;

  /** Whether rows still show an older right message, and a tick must write them. */
  boolean flushIsWanted;

  /** Whether the index of flushes names this key, so that a tick will write those rows. */
  boolean flushIsDue;

  /** When the index of expiries names this key; a key that was just read is there, too. */
  long expirySpan = NEVER;

  static final long NEVER = Long.MIN_VALUE;
  static final long UNKNOWN = 0;

  Timeline side(byte side) {
    return side == KeyedMessage.LEFT ? lefts : rights;
  }

  long bytes() {
    return lefts.bytes() + rights.bytes();
  }
}
