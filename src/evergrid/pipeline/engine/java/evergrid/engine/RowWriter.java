package evergrid.engine;

import evergrid.engine.Timeline.Cursor;
import java.nio.charset.StandardCharsets;
import scala.Tuple3;

/** Writes joined rows as changes: the row id, and the JSON that docs/changelog.md describes. */
final class RowWriter {
  /** Which topic a change goes to; Python gives the numbers their names. */
  static final int TABLE = 0;

  static final int REPORTS = 1;

  private static final byte[] TS = ascii(",\"ts\":");

  private final JoinSpec.Type type;
  private final byte[][] nulls = new byte[2][];
  private final byte[][] nullTrace = new byte[2][];
  private final byte[][] tracePartition = new byte[2][];
  private final byte[][] traceOffset = new byte[2][];
  private final byte[][] traceTs = new byte[2][];
  private final Bytes key = new Bytes();
  private final Bytes value = new Bytes();

  RowWriter(JoinSpec spec) {
    type = spec.type;
    for (int side = 0; side < 2; side++) {
      nulls[side] = ascii(spec.nulls[side]);
      String name = "\"_" + spec.sources[side];
      nullTrace[side] =
          ascii(
              String.format(
                  "%1$s_topic\":null,%1$s_partition\":null,%1$s_offset\":null,%1$s_ts\":null",
                  name));
      tracePartition[side] =
          ascii(name + "_topic\":\"" + spec.topics[side] + "\"," + name + "_partition\":");
      traceOffset[side] = ascii("," + name + "_offset\":");
      traceTs[side] = ascii("," + name + "_ts\":");
    }
  }

  /** The row of a left and a right message, one of which may be null. */
  Tuple3<Integer, byte[], byte[]> row(Timeline lefts, Cursor left, Timeline rights, Cursor right) {
    key.clear();
    if (type != JoinSpec.Type.ASOF) {
      id(lefts, left);
    }
    if (type == JoinSpec.Type.INNER) {
      key.put((byte) ':');
    }
    if (type != JoinSpec.Type.LEFT) {
      id(rights, right);
    }
    value.clear();
    value.put((byte) '{');
    shown(KeyedMessage.LEFT, lefts, left);
    shown(KeyedMessage.RIGHT, rights, right);
    value.put(TS, value.size() > 1 ? 0 : 1, TS.length); // no comma before the first member
    value.number(time(lefts, left, rights, right));
    trace(KeyedMessage.LEFT, lefts, left);
    trace(KeyedMessage.RIGHT, rights, right);
    value.put((byte) '}');
    return new Tuple3<>(TABLE, key.copy(), value.copy());
  }

  private void id(Timeline messages, Cursor at) {
    key.number(messages.partition(at));
    key.put((byte) ':');
    key.number(messages.offset(at));
  }

  private long time(Timeline lefts, Cursor left, Timeline rights, Cursor right) {
    return switch (type) {
      case ASOF -> rights.ts(right);
      case LEFT -> lefts.ts(left);
      case INNER -> Math.max(lefts.ts(left), rights.ts(right));
    };
  }

  private void shown(byte side, Timeline messages, Cursor at) {
    byte[] members = at == null ? nulls[side] : messages.body(at);
    if (members.length > 0) {
      if (value.size() > 1) {
        value.put((byte) ',');
      }
      value.put(members);
    }
  }

  private void trace(byte side, Timeline messages, Cursor at) {
    value.put((byte) ',');
    if (at == null) {
      value.put(nullTrace[side]);
      return;
    }
    value.put(tracePartition[side]);
    value.number(messages.partition(at));
    value.put(traceOffset[side]);
    value.number(messages.offset(at));
    value.put(traceTs[side]);
    value.number(messages.ts(at));
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
