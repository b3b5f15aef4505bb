package evergrid.engine;

import java.lang.ref.SoftReference;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Histories of the keys that one task used last. All caches of a process share a quarter of its heap.
 *
 * <p>When a batch ends, its task hands them to the task of the next batch for the same reducer of
 * the same run, which then need not read them from the state again.
 */
final class HistoryCache {
  private static final class Key {
    private final byte[] bytes;
    private final int hash;

    Key(byte[] bytes) {
      this.bytes = bytes;
      hash = Arrays.hashCode(bytes);
    }

    @Override
    public int hashCode() {
      return hash;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key && Arrays.equals(bytes, ((Key) other).bytes);
    }
  }

  private record Handed(String run, long batch, HistoryCache cache) {}

  private static final int KEY_BYTES = 512; // about what a key takes beside its messages

  private static final Map<String, SoftReference<Handed>> HANDED = new ConcurrentHashMap<>();

  private final LinkedHashMap<Key, History> histories = new LinkedHashMap<>(1024, 0.75f, true);
  private static final AtomicLong TOTAL = new AtomicLong();
  private static final long MOST = Runtime.getRuntime().maxMemory() / 4;

  private final RetentionEdge edge;
  private final long most;
  private long bytes;

  HistoryCache(JoinSpec spec, long most) {
    edge = new RetentionEdge(spec);
    this.most = most;
  }

  RetentionEdge edge() {
    return edge;
  }

  /** The cache of the batch before, if this very run left one; else an empty one. */
  static HistoryCache take(String slot, String run, long batch, JoinSpec spec) {
    SoftReference<Handed> reference = HANDED.remove(slot);
    Handed handed = reference == null ? null : reference.get();
    boolean fits = handed != null && handed.run.equals(run) && handed.batch == batch - 1;
    if (!fits) {
      return new HistoryCache(spec, MOST);
    }
    TOTAL.addAndGet(handed.cache.bytes);
    return handed.cache;
  }

  /** Hand it on; what nobody takes is given up when memory is short. */
  void hand(String slot, String run, long batch) {
    give();
    HANDED.put(slot, new SoftReference<>(new Handed(run, batch, this)));
  }

  /** It is not used any more. */
  void give() {
    TOTAL.addAndGet(-bytes);
  }

  History get(byte[] key) {
    return histories.get(new Key(key));
  }

  void put(byte[] key, History history) {
    histories.put(new Key(key), history);
    grown(size(key, history));
  }

  /** Note that histories take so many bytes more, and let the least recently used ones go. */
  void grown(long more) {
    bytes += more;
    if (TOTAL.addAndGet(more) <= most) {
      return;
    }
    Iterator<Map.Entry<Key, History>> oldest = histories.entrySet().iterator();
    while (TOTAL.get() > most && histories.size() > 1) {
      Map.Entry<Key, History> entry = oldest.next();
      long freed = size(entry.getKey().bytes, entry.getValue());
      oldest.remove();
      bytes -= freed;
      TOTAL.addAndGet(-freed);
    }
  }

  /** A history without messages takes room too: retention leaves such of keys that are gone. */
  private static long size(byte[] key, History history) {
    return KEY_BYTES + key.length + history.bytes();
  }
}
