package evergrid.engine;

/**
 * A number as it is written, however long: some digits times a power of ten, never rounded. The
 * digits neither begin nor end with 0; zero has none.
 */
final class Numeral {
  static final long NONE = Long.MIN_VALUE; // for times, which never come near it
  private static final long FAR = 1_000_000_000_000_000L; // more than any message has digits

  private byte[] text;
  private int begin;
  private int point;
  private int mantissaEnd;
  private int end;
  private int first;
  private int last;
  private int digits;
  private long exponent;
  private boolean negative;

  /** Whether the characters from `from` to `to` are a JSON number with nothing around it. */
  boolean read(byte[] characters, int from, int to) {
    return scan(characters, from, to) == to;
  }

  /** Reads the JSON number at `from`; where it ends, or -1 when there is none. */
  int scan(byte[] characters, int from, int to) {
    text = characters;
    begin = from;
    negative = from < to && text[from] == '-';
    int whole = negative ? from + 1 : from;
    point = digitsEnd(whole, to);
    if (point == whole || point > whole + 1 && text[whole] == '0') {
      return -1;
    }
    mantissaEnd = point;
    if (point < to && text[point] == '.') {
      mantissaEnd = digitsEnd(point + 1, to);
      if (mantissaEnd == point + 1) {
        return -1;
      }
    }
    end = mantissaEnd;
    long power = 0;
    if (end < to && (text[end] == 'e' || text[end] == 'E')) {
      boolean signed = end + 1 < to && (text[end + 1] == '-' || text[end + 1] == '+');
      int start = end + (signed ? 2 : 1);
      end = digitsEnd(start, to);
      if (end == start) {
        return -1;
      }
      power = size(start);
      power = text[start - 1] == '-' ? -power : power;
    }
    normalise(whole, power);
    return end;
  }

  private int digitsEnd(int from, int to) {
    int i = from;
    while (i < to && text[i] >= '0' && text[i] <= '9') {
      i++;
    }
    return i;
  }

  private long size(int from) {
    long size = 0;
    for (int i = from; i < end && size < FAR; i++) {
      size = size * 10 + text[i] - '0';
    }
    return size;
  }

  private void normalise(int whole, long power) {
    first = whole;
    while (first < mantissaEnd && (text[first] == '0' || text[first] == '.')) {
      first++;
    }
    if (first == mantissaEnd) {
      digits = 0;
      exponent = 0;
      negative = false;
      return;
    }
    last = mantissaEnd - 1;
    while (text[last] == '0' || text[last] == '.') {
      last--;
    }
    digits = last - first + (first < point && point < last ? 0 : 1);
    exponent = power + point - last - (last < point ? 1 : 0);
  }

  boolean isWhole() {
    return exponent >= 0;
  }

  boolean fitsInteger() {
    long size = digits + exponent;
    if (size > 19) {
      return false;
    }
    long magnitude = magnitude(size);
    return magnitude >= 0 || negative && magnitude == Long.MIN_VALUE;
  }

  /** The integer that a whole number is, if it fits. */
  long integer() {
    long magnitude = magnitude(digits + exponent);
    return negative ? -magnitude : magnitude;
  }

  /** The number times 10 to the power of `places`, cut downwards; NONE beyond 18 digits. */
  long floor(int places) {
    long size = digits == 0 ? 0 : digits + exponent + places;
    if (size > 18) {
      return NONE;
    }
    long magnitude = magnitude(size);
    boolean cut = digits > 0 && exponent + places < 0;
    return negative ? -magnitude - (cut ? 1 : 0) : magnitude;
  }

  /** The first digits, followed by zeros; 19 of them fit 64 bits without a sign. */
  private long magnitude(long size) {
    long magnitude = 0;
    int at = first;
    for (long place = 0; place < size; place++) {
      magnitude *= 10;
      if (place < digits) {
        at = text[at] == '.' ? at + 1 : at;
        magnitude += text[at++] - '0';
      }
    }
    return magnitude;
  }

  boolean fitsDecimal(int precision, int scale) {
    return exponent >= -scale && digits + exponent <= precision - scale;
  }

  /** Writes a decimal that fits, with all digits of its scale. */
  void decimal(int scale, Bytes out) {
    if (negative) {
      out.put((byte) '-');
    }
    int whole = (int) (digits + exponent);
    if (whole <= 0) {
      out.put((byte) '0');
    }
    int at = first;
    for (int place = Math.min(whole, 0); place < whole + scale; place++) {
      if (place == whole) {
        out.put((byte) '.');
      }
      if (place < 0 || place >= digits) {
        out.put((byte) '0');
      } else {
        at = text[at] == '.' ? at + 1 : at;
        out.put(text[at++]);
      }
    }
  }

  /** Whether a float keeps every digit as written, so that it need not be computed. */
  boolean isShort() {
    return end == mantissaEnd && end - begin <= 16;
  }

  boolean hasPoint() {
    return point < mantissaEnd;
  }
}
