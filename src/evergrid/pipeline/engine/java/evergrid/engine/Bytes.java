package evergrid.engine;

import java.util.Arrays;

/** A growable byte buffer, so that writing a message makes no garbage. */
public final class Bytes {
  private static final String ESCAPED = "\"\\\b\f\n\r\t";
  private static final String LETTERS = "\"\\bfnrt";
  private static final String HEX = "0123456789ABCDEF";

  private byte[] bytes = new byte[64];
  private int size;

  /** The bytes themselves; valid until the next write, and only up to {@link #size}. */
  public byte[] array() {
    return bytes;
  }

  public int size() {
    return size;
  }

  public void clear() {
    size = 0;
  }

  public byte[] copy() {
    return Arrays.copyOf(bytes, size);
  }

  public void put(byte one) {
    reserve(1);
    bytes[size++] = one;
  }

  public void put(byte[] source) {
    put(source, 0, source.length);
  }

  public void put(byte[] source, int from, int to) {
    reserve(to - from);
    System.arraycopy(source, from, bytes, size, to - from);
    size += to - from;
  }

  /** Writes the digits of `value`. */
  public void number(long value) {
    if (value < 0) {
      put((byte) '-');
    }
    int digits = 1;
    for (long rest = value / 10; rest != 0; rest /= 10) {
      digits++;
    }
    reserve(digits);
    size += digits;
    long rest = value;
    for (int at = size - 1; digits > 0; at--, digits--) {
      bytes[at] = (byte) ('0' + Math.abs(rest % 10)); // no -value: the smallest has none
      rest /= 10;
    }
  }

  /** Writes `text` as a JSON text. */
  public void text(String text) {
    byte[] utf8 = Json.bytes(text);
    text(utf8, 0, utf8.length);
  }

  /** Writes UTF-8 as a JSON text: in quotes, with escapes only where JSON asks for them. */
  public void text(byte[] utf8, int from, int to) {
    put((byte) '"');
    int copied = from;
    for (int at = from; at < to; at++) {
      byte one = utf8[at];
      if (one >= 0 && one < 0x20 || one == '"' || one == '\\') {
        put(utf8, copied, at);
        copied = at + 1;
        escape(one);
      }
    }
    put(utf8, copied, to);
    put((byte) '"');
  }

  private void escape(byte one) {
    put((byte) '\\');
    int letter = ESCAPED.indexOf(one);
    if (letter >= 0) {
      put((byte) LETTERS.charAt(letter));
      return;
    }
    put((byte) 'u');
    put((byte) '0');
    put((byte) '0');
    put((byte) HEX.charAt(one >> 4));
    put((byte) HEX.charAt(one & 15));
  }

  private void reserve(int more) {
    if (size + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
    }
  }
}
