package evergrid.engine;

import java.nio.charset.StandardCharsets;

/** Helpers for the bytes of JSON: escapes, UTF-8, nesting. */
final class Json {
  static final byte[] NULL = bytes("null");
  static final byte[] TRUE = bytes("true");
  static final byte[] FALSE = bytes("false");
  private static final String ESCAPES = "\"\\/bfnrt";
  private static final String MEANINGS = "\"\\/\b\f\n\r\t";

  private Json() {}

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The character that a backslash and `letter` stand for; -1 when JSON knows none. */
  static int meaning(byte letter) {
    int known = ESCAPES.indexOf(letter);
    return known < 0 ? -1 : MEANINGS.charAt(known);
  }

  /** The number that four hexadecimal digits are; -1 when they are none. */
  static int hex(byte[] bytes, int at) {
    if (at + 4 > bytes.length) {
      return -1;
    }
    int unit = 0;
    for (int i = at; i < at + 4; i++) {
      int digit = bytes[i] < 0 ? -1 : Character.digit(bytes[i], 16);
      if (digit < 0) {
        return -1;
      }
      unit = unit << 4 | digit;
    }
    return unit;
  }

  /** Writes the characters of a valid JSON text, given without its quotes. */
  static void unescape(byte[] bytes, int from, int to, Bytes out) {
    for (int i = from; i < to; ) {
      if (bytes[i] != '\\') {
        out.put(bytes[i++]);
      } else if (bytes[i + 1] != 'u') {
        out.put((byte) meaning(bytes[i + 1]));
        i += 2;
      } else {
        int character = hex(bytes, i + 2);
        i += 6;
        if (Character.isHighSurrogate((char) character)) {
          character = Character.toCodePoint((char) character, (char) hex(bytes, i + 2));
          i += 6;
        }
        out.put(bytes(Character.toString(character)));
      }
    }
  }

  /** How many bytes the UTF-8 character at `at` has (RFC 3629); 0 when it is none. */
  static int characterLength(byte[] bytes, int at) {
    int first = bytes[at] & 0xff;
    if (first < 0x80) {
      return 1;
    }
    int length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first < 0xc2 || first > 0xf4 || at + length > bytes.length) {
      return 0;
    }
    for (int i = at + 1; i < at + length; i++) {
      if ((bytes[i] & 0xc0) != 0x80) {
        return 0;
      }
    }
    int second = bytes[at + 1] & 0xff;
    boolean overlong = first == 0xe0 && second < 0xa0 || first == 0xf0 && second < 0x90;
    boolean beyond = first == 0xed && second > 0x9f || first == 0xf4 && second > 0x8f;
    return overlong || beyond ? 0 : length;
  }

  static boolean isUtf8(byte[] bytes) {
    for (int i = 0; i < bytes.length; ) {
      int length = characterLength(bytes, i);
      if (length == 0) {
        return false;
      }
      i += length;
    }
    return true;
  }

  /** How deep brackets nest outside texts. Counts in broken JSON too, where a text may not end. */
  static int depth(byte[] bytes) {
    int deepest = 0;
    int depth = 0;
    for (int i = 0; i < bytes.length; i++) {
      switch (bytes[i]) {
        case '[', '{' -> deepest = Math.max(deepest, ++depth);
        case ']', '}' -> depth = Math.max(0, depth - 1);
        case '"' -> i = textEnd(bytes, i);
        case '\\' -> i = escapeEnd(bytes, i);
        default -> {}
      }
    }
    return deepest;
  }

  /** Where the text that begins at `start` ends; `start` itself when it does not end. */
  private static int textEnd(byte[] bytes, int start) {
    for (int i = start + 1; i < bytes.length; i++) {
      if (bytes[i] == '"') {
        return i;
      }
      if (bytes[i] == '\\') {
        i = escapeEnd(bytes, i);
      }
    }
    return start;
  }

  private static int escapeEnd(byte[] bytes, int at) {
    boolean escapes = at + 1 < bytes.length && (bytes[at + 1] == '"' || bytes[at + 1] == '\\');
    return escapes ? at + 1 : at;
  }
}
