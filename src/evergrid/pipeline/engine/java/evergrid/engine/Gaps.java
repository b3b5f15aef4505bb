package evergrid.engine;

import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.Map;

/** What a join had to leave out since it last said so: how often, why, and for which keys. */
final class Gaps {
  /** The names are those of {@code evergrid.model.gap.GapReason}. */
  enum Reason {
    HISTORY,
    PAIRS,
    MEMORY
  }

  private static final int MOST_KEYS = 20;

  private static final class Gap {
    long messages;
    final LinkedHashSet<String> keys = new LinkedHashSet<>();
  }

  private final Map<Reason, Gap> gaps = new EnumMap<>(Reason.class);

  /** `key` is a grouping key: one byte before the bytes of the join key. */
  void add(Reason reason, byte[] key) {
    Gap gap = gaps.computeIfAbsent(reason, unused -> new Gap());
    gap.messages++;
    if (gap.keys.size() < MOST_KEYS) {
      gap.keys.add(new String(key, 1, key.length - 1, java.nio.charset.StandardCharsets.UTF_8));
    }
  }

  boolean isEmpty() {
    return gaps.isEmpty();
  }

  /** `{"history": {"messages": 3, "keys": ["u1"]}}`, and begin anew. */
  void write(Bytes out) {
    out.put((byte) '{');
    boolean first = true;
    for (Map.Entry<Reason, Gap> entry : gaps.entrySet()) {
      if (!first) {
        out.put((byte) ',');
      }
      first = false;
      out.text(entry.getKey().name().toLowerCase(java.util.Locale.ROOT));
      out.put(RowWriter.ascii(":{\"messages\":"));
      out.number(entry.getValue().messages);
      out.put(RowWriter.ascii(",\"keys\":["));
      boolean firstKey = true;
      for (String key : entry.getValue().keys) {
        if (!firstKey) {
          out.put((byte) ',');
        }
        firstKey = false;
        out.text(key);
      }
      out.put(RowWriter.ascii("]}"));
    }
    out.put((byte) '}');
    gaps.clear();
  }
}
