package evergrid.engine;

import evergrid.engine.Timeline.Cursor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.QueryInfo;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A join: messages in, changes of the joined table out, and what it needs of the past as state.
 *
 * <p>The state has one entry per message, so it grows by appending and a message costs the same
 * whatever its key has seen. Beside it, the histories of keys in use are kept on the heap, sorted.
 * In micro-batches all messages of a key come in one call, and each row that they change is written
 * once. In real-time mode a call has one message.
 */
public final class JoinProcessor
    extends StatefulProcessor<byte[], Tuple2<byte[], byte[]>, Tuple3<Integer, byte[], byte[]>> {
  private static final long serialVersionUID = 1L;

  private static final long LONGEST_EXPIRY_MILLIS = 86_400_000;
  private static final long UNKNOWN_EXPIRY_MILLIS = 600_000;
  private static final long FLUSH_MILLIS = 500;
  private static final long LONGEST_FLUSH_MILLIS = 10_000;
  private static final int FLUSHED_ROWS_PER_MILLI = 20; // leaves most of the time for other keys
  private static final int QUIET_TICKS = 8;

  private final JoinSpec spec;

  private transient MapState<byte[], byte[]> state;
  private transient ExpiryIndex expiries;
  private transient FlushIndex flushes; // of a left join
  private transient RowWriter writer;
  private transient JoinRule rule;
  private transient HistoryCache cache;
  private transient RetentionEdge edge;
  private transient Progress progress;
  private transient Gaps gaps;
  private transient QueryInfo query;
  private transient int reducer;
  private transient byte[] current; // the key whose rows are being taken
  private transient long mostKeyBytes;
  private transient int quietTicks;
  private transient long lookedAtEdge;

  JoinProcessor(JoinSpec spec) {
    this.spec = spec;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    state = mapState("messages");
    MapState<byte[], byte[]> index = mapState("expiries");
    MapState<byte[], byte[]> outdated =
        spec.type == JoinSpec.Type.LEFT ? mapState("flushes") : null;
    TaskContext task = TaskContext.get();
    if (task == null) {
      return; // the driver only asks for the names of the state
    }
    writer = new RowWriter(spec);
    rule = JoinRule.of(spec, writer, () -> gaps.add(Gaps.Reason.PAIRS, current));
    progress = new Progress(spec.reducers);
    gaps = new Gaps();
    query = getHandle().getQueryInfo();
    reducer = task.partitionId();
    byte[] tickKey = Messages.tickKeys(spec.reducers)[reducer];
    expiries = new ExpiryIndex(index, tickKey);
    flushes = outdated == null ? null : new FlushIndex(outdated, tickKey);
    long heap = Runtime.getRuntime().maxMemory();
    mostKeyBytes = heap / 4;
    cache = HistoryCache.take(slot(), run(), query.getBatchId(), spec);
    edge = cache.edge();
    lookedAtEdge = Long.MIN_VALUE;
  }

  private MapState<byte[], byte[]> mapState(String name) {
    return getHandle().getMapState(name, Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
  }

  @Override
  public void close() {
    TaskContext task = TaskContext.get();
    if (cache == null) {
      return;
    }
    if (spec.live && !task.isInterrupted() && !task.isFailed()) {
      cache.hand(slot(), run(), query.getBatchId());
    } else {
      cache.give();
    }
    cache = null; // Spark may close it twice
  }

  private String slot() {
    return query.getQueryId() + "/" + reducer;
  }

  private String run() {
    return query.getRunId().toString();
  }

  @Override
  public Iterator<Tuple3<Integer, byte[], byte[]>> handleInputRows(
      byte[] key, Iterator<Tuple2<byte[], byte[]>> rows, TimerValues timers) {
    current = key;
    java.util.Iterator<Tuple3<Integer, byte[], byte[]>> changes =
        switch (key[0]) {
          case KeyedMessage.TICK -> tick(rows);
          case KeyedMessage.NOT_JOINED -> withoutKey(rows);
          default -> spec.live ? live(key, rows) : batch(key, rows);
        };
    return CollectionConverters.asScala(changes);
  }

  // Messages that are not joined

  /** Rows of messages without a key, which match nothing; flawed messages are only counted. */
  private java.util.Iterator<Tuple3<Integer, byte[], byte[]>> withoutKey(
      Iterator<Tuple2<byte[], byte[]>> rows) {
    List<Tuple3<Integer, byte[], byte[]>> changes = new ArrayList<>();
    while (rows.hasNext()) {
      Tuple2<byte[], byte[]> row = rows.next();
      byte[] message = row._2();
      count(message);
      if (row._1()[1] == Messages.WITHOUT_KEY && rule.drives(message[0])) {
        History alone = new History();
        Cursor at = new Cursor();
        insert(alone, message, at);
        boolean isLeft = message[0] == KeyedMessage.LEFT;
        changes.add(
            writer.row(alone.lefts, isLeft ? at : null, alone.rights, isLeft ? null : at));
      }
    }
    return changes.iterator();
  }

  private java.util.Iterator<Tuple3<Integer, byte[], byte[]>> tick(
      Iterator<Tuple2<byte[], byte[]>> rows) {
    while (rows.hasNext()) {
      rows.next();
    }
    if (!spec.live) {
      return Collections.emptyIterator();
    }
    removeExpired();
    java.util.Iterator<Tuple3<Integer, byte[], byte[]>> changes =
        flushes == null ? Collections.emptyIterator() : new Flushed(System.currentTimeMillis());
    boolean isDue = progress.hasChanged() || !gaps.isEmpty() || ++quietTicks >= QUIET_TICKS;
    if (!isDue) {
      return changes;
    }
    quietTicks = 0;
    return followed(changes, this::report);
  }

  private Tuple3<Integer, byte[], byte[]> report() {
    Bytes out = new Bytes();
    out.put(RowWriter.ascii("{\"query\":"));
    out.text(spec.query);
    out.put(RowWriter.ascii(",\"run\":"));
    out.text(run());
    out.put(RowWriter.ascii(",\"batch\":"));
    out.number(query.getBatchId());
    out.put(RowWriter.ascii(",\"reducer\":"));
    out.number(reducer);
    out.put(RowWriter.ascii(",\"seen\":"));
    progress.write(out);
    out.put(RowWriter.ascii(",\"gaps\":"));
    gaps.write(out);
    out.put((byte) '}');
    byte[] name = RowWriter.ascii(spec.query + "/" + reducer);
    return new Tuple3<>(RowWriter.REPORTS, name, out.copy());
  }

  private void count(byte[] message) {
    if (spec.live) {
      progress.count(message);
    }
  }

  // Real-time mode

  private java.util.Iterator<Tuple3<Integer, byte[], byte[]>> live(
      byte[] key, Iterator<Tuple2<byte[], byte[]>> rows) {
    History history = cache.get(key);
    if (history == null) {
      history = read();
      cache.put(key, history);
    }
    long before = history.bytes();
    List<Tuple3<Integer, byte[], byte[]>> earlier = new ArrayList<>(0);
    java.util.Iterator<Tuple3<Integer, byte[], byte[]>> changes = Collections.emptyIterator();
    while (rows.hasNext()) { // one message, as far as real-time mode was seen
      changes.forEachRemaining(earlier::add);
      byte[] message = rows.next()._2();
      count(message);
      changes = joined(key, history, message);
    }
    if (!earlier.isEmpty()) {
      changes.forEachRemaining(earlier::add);
      changes = earlier.iterator();
    }
    cache.grown(history.bytes() - before);
    return changes;
  }

  private java.util.Iterator<Tuple3<Integer, byte[], byte[]>> joined(
      byte[] key, History history, byte[] message) {
    trim(key, history);
    if (!matters(history, message)) {
      return Collections.emptyIterator();
    }
    boolean[] limited = limited(history);
    Cursor at = new Cursor();
    insert(history, message, at);
    byte side = message[0];
    Timeline messages = history.side(side);
    state.updateValue(stateKey(side, messages, at), messages.body(at));
    java.util.Iterator<Tuple3<Integer, byte[], byte[]>> changes = rule.live(history, side, at);
    edge.count(messages.ts(at), rule.rows(history, side));
    noteGaps(key, history, side, at, limited);
    noteWhatIsDue(key, history);
    return changes;
  }

  // Micro-batches

  private java.util.Iterator<Tuple3<Integer, byte[], byte[]>> batch(
      byte[] key, Iterator<Tuple2<byte[], byte[]>> rows) {
    History history = query.getBatchId() == 0 ? new History() : read();
    boolean[] limited = limited(history);
    Cursor at = new Cursor();
    while (rows.hasNext()) {
      byte[] message = rows.next()._2();
      byte side = message[0];
      if (matters(history, message)) {
        insert(history, message, at);
        history.side(side).mark(at, 1);
        edge.count(history.side(side).ts(at), rule.rows(history, side));
        removeSpare(history, side);
        forgetWhatDoesNotFit(key, history);
      }
    }
    for (byte side = KeyedMessage.LEFT; side <= KeyedMessage.RIGHT; side++) {
      removeSpare(history, side);
      write(key, history, side, limited);
    }
    noteWhatIsDue(key, history);
    return followed(rule.batch(history), () -> gaps.isEmpty() ? null : report());
  }

  /** Write the new messages of a side to the state, but for those beyond the user's limit. */
  private void write(byte[] key, History history, byte side, boolean[] limited) {
    Timeline messages = history.side(side);
    int spare = Math.max(0, messages.size() - spec.history[side]);
    Cursor at = new Cursor();
    for (boolean there = messages.first(at); there; there = messages.next(at)) {
      boolean isNew = messages.mark(at) != 0;
      boolean isKept = spare-- <= 0;
      if (isNew) {
        noteGaps(key, history, side, at, limited);
      }
      if (isNew && isKept) {
        state.updateValue(stateKey(side, messages, at), messages.body(at));
      } else if (!isNew && !isKept) {
        state.removeKey(stateKey(side, messages, at));
      }
    }
  }

  private static java.util.Iterator<Tuple3<Integer, byte[], byte[]>> followed(
      java.util.Iterator<Tuple3<Integer, byte[], byte[]>> changes,
      Supplier<Tuple3<Integer, byte[], byte[]>> last) {
    return new JoinRule.Rows() {
      private boolean isOver;

      @Override
      Tuple3<Integer, byte[], byte[]> find() {
        if (changes.hasNext()) {
          return changes.next();
        }
        if (isOver) {
          return null;
        }
        isOver = true;
        return last.get();
      }
    };
  }

  // What is due later: rows of a left join, and expired messages

  private void noteWhatIsDue(byte[] key, History history) {
    long now = System.currentTimeMillis();
    if (history.flushIsWanted && !history.flushIsDue) {
      long wait = Math.max(FLUSH_MILLIS, history.lefts.size() / FLUSHED_ROWS_PER_MILLI);
      flushes.add(key, now + Math.min(wait, LONGEST_FLUSH_MILLIS));
      history.flushIsDue = true;
    }
    if (history.expirySpan == History.NEVER && edge.isBounded() && rule.canExpire(history)) {
      long wait = edge.millisUntil(rule.nextExpiry(history), UNKNOWN_EXPIRY_MILLIS);
      long due = now + Math.min(wait, LONGEST_EXPIRY_MILLIS);
      history.expirySpan = expiries.add(key, due, now);
    }
  }

  /** Nothing expires while the edge stands still: by number of rows it does so without input. */
  private void removeExpired() {
    long edgeNow = edge.now();
    if (edgeNow != lookedAtEdge
        && expiries.lookAtDue(System.currentTimeMillis(), this::removeExpired)) {
      lookedAtEdge = edgeNow;
    }
  }

  private void removeExpired(byte[] key, long span) {
    History history = cache.get(key);
    boolean isKnown = history != null;
    if (!isKnown) {
      history = read();
    }
    long before = history.bytes();
    trim(key, history);
    if (history.expirySpan <= span) {
      history.expirySpan = History.NEVER;
    }
    noteWhatIsDue(key, history);
    if (isKnown) {
      cache.grown(history.bytes() - before);
    }
  }

  /** The rows of a left join that still show an older right message, of all keys that are due. */
  private final class Flushed extends JoinRule.Rows {
    private final long now;
    private java.util.Iterator<Tuple3<Integer, byte[], byte[]>> rows = Collections.emptyIterator();

    Flushed(long now) {
      this.now = now;
    }

    @Override
    Tuple3<Integer, byte[], byte[]> find() {
      while (!rows.hasNext()) {
        byte[] key = flushes.take(now);
        if (key == null) {
          return null;
        }
        rows = outdated(key);
      }
      return rows.next();
    }

    private java.util.Iterator<Tuple3<Integer, byte[], byte[]>> outdated(byte[] key) {
      History[] history = {cache.get(key)};
      if (history[0] == null) {
        Expressions.withGroupingKey(key, () -> history[0] = read());
      }
      history[0].flushIsDue = history[0].flushIsWanted = false;
      return ((LeftJoin) rule).outdated(history[0]);
    }
  }

  // The history of a key

  /** From the state, where entries are in their order. */
  private History read() {
    History history = new History();
    Cursor at = new Cursor();
    Iterator<Tuple2<byte[], byte[]>> entries = state.iterator();
    while (entries.hasNext()) {
      Tuple2<byte[], byte[]> entry = entries.next();
      byte[] place = entry._1();
      int partition = KeyedMessage.getInt(place, KeyedMessage.PARTITION);
      long offset = KeyedMessage.getLong(place, KeyedMessage.OFFSET);
      history.side(place[0]).insert(KeyedMessage.timeOf(place), partition, offset, entry._2(), at);
    }
    history.expirySpan = rule.canExpire(history) ? History.UNKNOWN : History.NEVER;
    return history;
  }

  private void insert(History history, byte[] message, Cursor at) {
    history
        .side(message[0])
        .insert(
            KeyedMessage.getLong(message, KeyedMessage.TIME),
            KeyedMessage.getInt(message, KeyedMessage.PARTITION),
            KeyedMessage.getLong(message, KeyedMessage.OFFSET),
            KeyedMessage.body(message, spec.reducers),
            at);
  }

  private boolean matters(History history, byte[] message) {
    return rule.matters(
        history,
        message[0],
        KeyedMessage.getLong(message, KeyedMessage.TIME),
        KeyedMessage.getInt(message, KeyedMessage.PARTITION),
        KeyedMessage.getLong(message, KeyedMessage.OFFSET),
        edge.now());
  }

  /** Remove what no row needs any more, and what is beyond a limit. */
  private void trim(byte[] key, History history) {
    for (byte side = KeyedMessage.LEFT; side <= KeyedMessage.RIGHT; side++) {
      removeSpare(history, side);
      while (history.side(side).size() > spec.history[side]) {
        remove(history, side);
      }
    }
    forgetWhatDoesNotFit(key, history);
  }

  private void removeSpare(History history, byte side) {
    long edgeNow = edge.now();
    while (rule.isSpare(history, side, edgeNow)) {
      remove(history, side);
    }
  }

  private void forgetWhatDoesNotFit(byte[] key, History history) {
    while (history.bytes() > mostKeyBytes) {
      boolean isLeft = history.lefts.bytes() > history.rights.bytes();
      remove(history, isLeft ? KeyedMessage.LEFT : KeyedMessage.RIGHT);
      gaps.add(Gaps.Reason.MEMORY, key);
    }
  }

  /** Remove the oldest message of a side; one that was just inserted may not be in the state. */
  private void remove(History history, byte side) {
    Timeline messages = history.side(side);
    Cursor first = new Cursor();
    messages.first(first);
    if (spec.live || messages.mark(first) == 0) {
      state.removeKey(stateKey(side, messages, first));
    }
    messages.removeFirst();
  }

  private boolean[] limited(History history) {
    return new boolean[] {
      history.lefts.size() >= spec.history[KeyedMessage.LEFT],
      history.rights.size() >= spec.history[KeyedMessage.RIGHT]
    };
  }

  private void noteGaps(byte[] key, History history, byte side, Cursor at, boolean[] limited) {
    if ((limited[0] || limited[1]) && rule.mayLack(history, side, at, limited)) {
      gaps.add(Gaps.Reason.HISTORY, key);
    }
  }

  private static byte[] stateKey(byte side, Timeline messages, Cursor at) {
    return KeyedMessage.stateKey(side, messages.ts(at), messages.partition(at), messages.offset(at));
  }
}
