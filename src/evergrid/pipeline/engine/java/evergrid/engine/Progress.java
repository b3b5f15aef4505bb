package evergrid.engine;

import java.util.Map;
import java.util.TreeMap;

/**
 * How far one reducer has come with each source partition, told in its reports.
 *
 * <p>A message carries how many messages of its partition went to each reducer up to it. So whoever
 * has the reports of all reducers knows whether everything up to that message has been joined:
 * each reducer must have counted at least as many.
 */
final class Progress {
  private static final class Seen {
    int count;
    long offset;
    byte[] counts;
  }

  private final Map<Integer, Seen> seen = new TreeMap<>();
  private final int reducers;
  private boolean changed = true; // the first report says that the reducer runs

  Progress(int reducers) {
    this.reducers = reducers;
  }

  void count(byte[] message) {
    int partition = KeyedMessage.getInt(message, KeyedMessage.PARTITION);
    Seen one = seen.computeIfAbsent(partition << 1 | message[0], unused -> new Seen());
    one.count++;
    one.offset = KeyedMessage.getLong(message, KeyedMessage.OFFSET);
    one.counts = message;
    changed = true;
  }

  boolean hasChanged() {
    return changed;
  }

  /** `[[side, partition, joined, offset, [sent to each reducer]], ...]` */
  void write(Bytes out) {
    changed = false;
    out.put((byte) '[');
    boolean first = true;
    for (Map.Entry<Integer, Seen> entry : seen.entrySet()) {
      if (!first) {
        out.put((byte) ',');
      }
      first = false;
      write(entry.getKey(), entry.getValue(), out);
    }
    out.put((byte) ']');
  }

  private void write(int place, Seen one, Bytes out) {
    out.put((byte) '[');
    out.number(place & 1);
    out.put((byte) ',');
    out.number(place >>> 1);
    out.put((byte) ',');
    out.number(one.count);
    out.put((byte) ',');
    out.number(one.offset);
    out.put((byte) ',');
    for (int reducer = 0; reducer < reducers; reducer++) {
      out.put((byte) (reducer == 0 ? '[' : ','));
      out.number(KeyedMessage.getInt(one.counts, KeyedMessage.COUNTS + 4 * reducer));
    }
    out.put((byte) ']');
    out.put((byte) ']');
  }
}
