package evergrid.engine;

import java.time.LocalDate;
import java.time.Month;
import java.time.chrono.IsoChronology;

/** Times as sources write them, as microseconds since 1970, UTC. */
final class Times {
  static final long NONE = Numeral.NONE;
  private static final long EARLIEST = -62_135_596_800_000_000L; // 0001-01-01T00:00:00Z
  private static final long LATEST = 253_402_300_799_999_999L; // 9999-12-31T23:59:59.999999Z
  private static final int LARGEST_OFFSET = 18 * 60;
  private static final int NO_OFFSET = Integer.MAX_VALUE;
  private static final String PATTERN = "yyyy-MM-ddTHH:mm:ss";

  private Times() {}

  /** Whether a time is in the years that every client can show. */
  static boolean canBeShown(long micros) {
    return micros >= EARLIEST && micros <= LATEST;
  }

  /** The time that ISO 8601 text with a zone means; NONE when it means none. */
  static long iso(byte[] text, int from, int to) {
    if (to - from <= PATTERN.length() || !hasSeparators(text, from)) {
      return NONE;
    }
    int year = digits(text, from, 4);
    int month = digits(text, from + 5, 2);
    int day = digits(text, from + 8, 2);
    int hour = digits(text, from + 11, 2);
    int minute = digits(text, from + 14, 2);
    int second = digits(text, from + 17, 2);
    if (year < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59) {
      return NONE;
    }
    if (second < 0 || second > 59 || !isDay(year, month, day)) {
      return NONE;
    }
    int at = from + PATTERN.length();
    long micros = 0;
    if (text[at] == '.') {
      int start = ++at;
      for (int unit = 100_000; at < to && isDigit(text[at]); unit /= 10) {
        micros += (long) unit * (text[at++] - '0');
      }
      if (at == start || at > start + 9) {
        return NONE;
      }
    }
    int offset = offsetMinutes(text, at, to);
    if (offset == NO_OFFSET) {
      return NONE;
    }
    long minutes = (LocalDate.of(year, month, day).toEpochDay() * 24 + hour) * 60 + minute - offset;
    return (minutes * 60 + second) * 1_000_000 + micros;
  }

  private static boolean hasSeparators(byte[] text, int from) {
    boolean date = text[from + 4] == '-' && text[from + 7] == '-';
    boolean time = text[from + 13] == ':' && text[from + 16] == ':';
    return date && time && (text[from + 10] == 'T' || text[from + 10] == ' ');
  }

  private static boolean isDay(int year, int month, int day) {
    if (month < 1 || month > 12 || day < 1) {
      return false;
    }
    return day <= Month.of(month).length(IsoChronology.INSTANCE.isLeapYear(year));
  }

  private static int offsetMinutes(byte[] text, int at, int to) {
    if (at + 1 == to && text[at] == 'Z') {
      return 0;
    }
    if (at + 3 > to || text[at] != '+' && text[at] != '-') {
      return NO_OFFSET;
    }
    int hours = digits(text, at + 1, 2);
    int minutes = 0;
    int rest = at + 3;
    if (rest < to) {
      rest += text[rest] == ':' ? 1 : 0;
      minutes = rest + 2 == to ? digits(text, rest, 2) : -1;
    }
    int offset = hours * 60 + minutes;
    if (hours < 0 || minutes < 0 || minutes > 59 || offset > LARGEST_OFFSET) {
      return NO_OFFSET;
    }
    return text[at] == '-' ? -offset : offset;
  }

  /** The number that `count` digits are; -1 when they are none. */
  private static int digits(byte[] text, int at, int count) {
    int number = 0;
    for (int i = at; i < at + count; i++) {
      if (!isDigit(text[i])) {
        return -1;
      }
      number = number * 10 + text[i] - '0';
    }
    return number;
  }

  private static boolean isDigit(byte one) {
    return one >= '0' && one <= '9';
  }
}
