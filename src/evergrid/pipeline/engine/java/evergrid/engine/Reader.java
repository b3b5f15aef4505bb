package evergrid.engine;

import evergrid.engine.JsonScanner.Kind;
import evergrid.engine.SourceSpec.Field;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the messages of one source by docs/messages.md: each is a row, or has a flaw that says why
 * it goes to quarantine. Its answers are about the message that was read last. Each thread needs a
 * reader of its own.
 */
public final class Reader {
  private static final int KEPT = 100; // readers of one thread, so that old generations' go
  private static final int QUOTED = 64; // characters of a bad value that a reason quotes
  private static final String IS_NOT = "is not";
  private static final String OUT_OF_RANGE = "is out of range for";
  private static final String DOES_NOT_FIT = "does not fit";
  private static final byte[] POINT_ZERO = Json.bytes(".0");
  private static final ThreadLocal<Map<String, Reader>> READERS =
      ThreadLocal.withInitial(HashMap::new);

  private final SourceSpec spec;
  private final Field[] fields;
  private final int[] slots; // by field: what the message knows its name by
  private final byte[][] names; // by field, as a JSON member begins
  private final int[] shown; // fields
  private final byte[][] shownNames;
  private final int time; // the field that is the row's time, or -1
  private final int key; // the field that a join compares, or -1

  private final Message message;
  private final Numeral numeral = new Numeral();
  private final Bytes cells = new Bytes(); // the JSON values of all fields, one after another
  private final int[] cellEnds;
  private long ts;
  private String flaw;

  private Reader(SourceSpec spec) {
    this.spec = spec;
    message = new Message(spec);
    fields = spec.fields().toArray(Field[]::new);
    slots = spec.fields().stream().mapToInt(field -> message.slot(field.from())).toArray();
    names = memberNames(spec.fields().stream().map(Field::name).toList());
    shown = spec.shown().stream().mapToInt(column -> spec.index(column.field())).toArray();
    shownNames = memberNames(spec.shown().stream().map(SourceSpec.Shown::name).toList());
    time = spec.index(spec.time());
    key = spec.index(spec.key());
    cellEnds = new int[fields.length];
  }

  private static byte[][] memberNames(List<String> names) {
    return names.stream().map(name -> Json.bytes('"' + name + "\":")).toArray(byte[][]::new);
  }

  /** This thread's reader for the specification that evergrid.pipeline.engine.raw_changes writes. */
  public static Reader of(String spec) {
    Map<String, Reader> readers = READERS.get();
    Reader reader = readers.get(spec);
    if (reader == null) {
      if (readers.size() >= KEPT) {
        readers.clear();
      }
      reader = new Reader(SourceSpec.of(spec));
      readers.put(spec, reader);
    }
    return reader;
  }

  SourceSpec spec() {
    return spec;
  }

  /** Reads a message; false when it is no row, and {@link #flaw} says why. */
  public boolean read(byte[] value, long kafkaMicros) {
    ts = kafkaMicros;
    flaw = sizeFlaw(value);
    if (flaw == null) {
      flaw = message.read(value);
    }
    if (flaw == null) {
      flaw = fieldFlaws();
    }
    return flaw == null;
  }

  /** Why the message is no row, in words for whoever sent it. */
  public String flaw() {
    return flaw;
  }

  /** The row's time in microseconds. */
  public long ts() {
    return ts;
  }

  /** How many names of the message the source does not know. */
  public int unknownFields() {
    return message.unknownNames();
  }

  /** The value of the key field, equal bytes for equal values; null when it has none. */
  public byte[] key() {
    if (key < 0 || message.isNull(slots[key])) {
      return null;
    }
    SourceSpec.Kind kind = fields[key].kind();
    if (kind == SourceSpec.Kind.TEXT) {
      message.look(slots[key]);
      return Arrays.copyOfRange(message.text, message.from, message.to);
    }
    int quote = kind == SourceSpec.Kind.DECIMAL ? 1 : 0;
    int end = cellEnds[key] - quote;
    byte[] cell = Arrays.copyOfRange(cells.array(), cellStart(key) + quote, end);
    if (kind != SourceSpec.Kind.FLOAT) {
      return cell;
    }
    double number = Double.parseDouble(new String(cell, StandardCharsets.UTF_8));
    return Json.bytes(Double.toString(number + 0.0)); // -0.0 + 0.0 is 0.0
  }

  /** Writes all fields of the row as JSON members, without braces. */
  public void members(Bytes out) {
    for (int i = 0; i < fields.length; i++) {
      member(names[i], i, i > 0, out);
    }
  }

  /** Writes the columns that the join shows as JSON members; nothing when there are none. */
  public void shown(Bytes out) {
    for (int i = 0; i < shown.length; i++) {
      member(shownNames[i], shown[i], i > 0, out);
    }
  }

  private void member(byte[] name, int field, boolean follows, Bytes out) {
    if (follows) {
      out.put((byte) ',');
    }
    out.put(name);
    out.put(cells.array(), cellStart(field), cellEnds[field]);
  }

  private int cellStart(int field) {
    return field == 0 ? 0 : cellEnds[field - 1];
  }

  private String sizeFlaw(byte[] value) {
    if (value == null) {
      return "tombstone";
    }
    if (value.length == 0) {
      return "empty value";
    }
    int limit = spec.messageBytes();
    boolean fits = value.length <= limit;
    return fits ? null : "too large: " + value.length + " bytes, limit " + limit;
  }

  /** Reads the fields by their types; returns what is wrong with them, null if nothing is. */
  private String fieldFlaws() {
    StringBuilder flaws = null;
    cells.clear();
    for (int i = 0; i < fields.length; i++) {
      String verdict = cell(i);
      cellEnds[i] = cells.size();
      if (verdict != null) {
        flaws = flaws == null ? new StringBuilder() : flaws.append("; ");
        flaws.append(fields[i].from()).append(": '").append(quoted(slots[i])).append("' ");
        flaws.append(verdict).append(' ').append(fields[i].type());
      }
    }
    if (flaws != null) {
      return flaws.toString();
    }
    boolean timeless = time >= 0 && message.isNull(slots[time]);
    return timeless ? "no time: field " + fields[time].from() + " is missing or null" : null;
  }

  private String quoted(int slot) {
    message.look(slot);
    int length = message.to - message.from;
    String all = new String(message.text, message.from, length, StandardCharsets.UTF_8);
    if (all.codePointCount(0, all.length()) <= QUOTED) {
      return all;
    }
    return all.substring(0, all.offsetByCodePoints(0, QUOTED)) + "…";
  }

  /** Writes a field's JSON value; returns what is wrong with it, null if nothing is. */
  private String cell(int index) {
    Field field = fields[index];
    int slot = slots[index];
    if (message.isNull(slot)) {
      cells.put(Json.NULL);
      return null;
    }
    if (field.kind() == SourceSpec.Kind.TEXT && message.copiesText(slot, cells)) {
      return null;
    }
    message.look(slot);
    return switch (field.kind()) {
      case TEXT -> text();
      case BOOLEAN -> bool();
      case TIMESTAMP -> timestamp(index, message.kind(slot));
      default -> isNumber(message.kind(slot)) ? number(field) : IS_NOT;
    };
  }

  private String text() {
    cells.text(message.text, message.from, message.to);
    return null;
  }

  private String bool() {
    byte[] word = is(Json.TRUE) ? Json.TRUE : Json.FALSE;
    if (!is(word)) {
      return IS_NOT;
    }
    cells.put(word);
    return null;
  }

  private boolean is(byte[] word) {
    return Arrays.equals(message.text, message.from, message.to, word, 0, word.length);
  }

  /** Digits in quotes are not a time: whether they are a year or an epoch would be a guess. */
  private String timestamp(int index, Kind kind) {
    long micros = Times.NONE;
    if (kind == Kind.TEXT) {
      micros = Times.iso(message.text, message.from, message.to);
    } else if (isNumber(kind)) {
      micros = numeral.floor(fields[index].places());
    }
    if (!Times.canBeShown(micros)) {
      return IS_NOT;
    }
    cells.number(micros);
    ts = index == time ? micros : ts;
    return null;
  }

  /** Whether the value is a number, or a text that is exactly one. */
  private boolean isNumber(Kind kind) {
    boolean candidate = kind == Kind.NUMBER || kind == Kind.TEXT;
    return candidate && numeral.read(message.text, message.from, message.to);
  }

  private String number(Field field) {
    return switch (field.kind()) {
      case INTEGER -> integer();
      case FLOAT -> floating();
      default -> decimal(field);
    };
  }

  private String integer() {
    if (!numeral.isWhole()) {
      return IS_NOT;
    }
    if (!numeral.fitsInteger()) {
      return OUT_OF_RANGE;
    }
    cells.number(numeral.integer());
    return null;
  }

  private String floating() {
    if (numeral.isShort()) {
      cells.put(message.text, message.from, message.to);
      cells.put(POINT_ZERO, 0, numeral.hasPoint() ? 0 : POINT_ZERO.length);
      return null;
    }
    int length = message.to - message.from;
    String digits = new String(message.text, message.from, length, StandardCharsets.ISO_8859_1);
    double nearest = Double.parseDouble(digits);
    if (Double.isInfinite(nearest)) {
      return OUT_OF_RANGE;
    }
    cells.put(Json.bytes(Double.toString(nearest)));
    return null;
  }

  private String decimal(Field field) {
    if (!numeral.fitsDecimal(field.precision(), field.scale())) {
      return DOES_NOT_FIT;
    }
    cells.put((byte) '"');
    numeral.decimal(field.scale(), cells);
    cells.put((byte) '"');
    return null;
  }
}
