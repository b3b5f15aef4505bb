package evergrid.engine;

import evergrid.engine.JsonScanner.Kind;
import evergrid.engine.SourceSpec.Field;
import evergrid.engine.SourceSpec.Shown;
import evergrid.engine.SourceSpec.Type;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Reads the messages of one source by docs/messages.md: each is a row, or has a flaw that says why
 * it goes to quarantine. What it tells is of the last message. Not for several threads.
 */
public final class Reader {
  private static final int KEPT = 100; // readers of one thread; old generations' are let go
  private static final int QUOTED = 64; // characters of a bad value that a reason quotes
  private static final String IS_NOT = "is not";
  private static final String OUT_OF_RANGE = "is out of range for";
  private static final String DOES_NOT_FIT = "does not fit";
  private static final byte[] POINT_ZERO = Json.bytes(".0");
  private static final ThreadLocal<Map<String, Reader>> READERS =
      ThreadLocal.withInitial(HashMap::new);

  private final SourceSpec spec;
  private final JsonScanner scanner;
  private final Numeral numeral = new Numeral();
  private final Set<String> unknown = new HashSet<>();

  // The message, and by name what its values are and where they stand in it.
  private byte[] message;
  private final Kind[] kinds;
  private final int[] starts;
  private final int[] ends;
  private final boolean[] escaped;
  private String repeated;

  // By field, the JSON values of the row: from ends[i - 1] of the cells to ends[i].
  private final Bytes cells = new Bytes();
  private final int[] cellEnds;
  private long ts;
  private String flaw;

  // The characters of the value that is looked at.
  private final Bytes scratch = new Bytes();
  private byte[] text;
  private int from;
  private int to;

  private Reader(SourceSpec spec) {
    this.spec = spec;
    scanner = new JsonScanner(spec.nesting);
    kinds = new Kind[spec.names.length];
    starts = new int[spec.names.length];
    ends = new int[spec.names.length];
    escaped = new boolean[spec.names.length];
    cellEnds = new int[spec.fields.length];
  }

  /** This thread's reader for the specification that evergrid.pipeline.engine.reading writes. */
  public static Reader of(String spec) {
    Map<String, Reader> readers = READERS.get();
    Reader reader = readers.get(spec);
    if (reader == null) {
      if (readers.size() >= KEPT) {
        readers.clear();
      }
      reader = new Reader(new SourceSpec(spec));
      readers.put(spec, reader);
    }
    return reader;
  }

  /** Reads a message; false when it is no row, and {@link #flaw} says why. */
  public boolean read(byte[] value, long kafkaMicros) {
    message = value;
    ts = kafkaMicros;
    flaw = envelopeFlaw();
    if (flaw == null) {
      flaw = documentFlaw();
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
    return unknown.size();
  }

  /** The value of the key field, equal bytes for equal values; null when it has none. */
  public byte[] key() {
    if (spec.key < 0 || isNull(spec.fields[spec.key])) {
      return null;
    }
    Field field = spec.fields[spec.key];
    if (field.type() == Type.TEXT) {
      characters(field.slot());
      return Arrays.copyOfRange(text, from, to);
    }
    int quote = field.type() == Type.DECIMAL ? 1 : 0;
    byte[] cell =
        Arrays.copyOfRange(
            cells.array(), cellStart(spec.key) + quote, cellEnds[spec.key] - quote);
    if (field.type() != Type.FLOAT) {
      return cell;
    }
    double number = Double.parseDouble(new String(cell, StandardCharsets.UTF_8));
    return Json.bytes(Double.toString(number + 0.0)); // -0.0 + 0.0 is 0.0
  }

  /** Writes all fields of the row as JSON members, without braces. */
  public void members(Bytes out) {
    for (int i = 0; i < spec.fields.length; i++) {
      member(i, spec.fields[i].member(), i > 0, out);
    }
  }

  /** Writes the columns that the join shows as JSON members; nothing when there are none. */
  public void shown(Bytes out) {
    for (int i = 0; i < spec.shown.length; i++) {
      Shown column = spec.shown[i];
      member(column.field(), column.member(), i > 0, out);
    }
  }

  SourceSpec spec() {
    return spec;
  }

  private void member(int field, byte[] name, boolean follows, Bytes out) {
    if (follows) {
      out.put((byte) ',');
    }
    out.put(name);
    out.put(cells.array(), cellStart(field), cellEnds[field]);
  }

  private int cellStart(int field) {
    return field == 0 ? 0 : cellEnds[field - 1];
  }

  private String envelopeFlaw() {
    if (message == null) {
      return "tombstone";
    }
    if (message.length == 0) {
      return "empty value";
    }
    if (message.length > spec.messageBytes) {
      return "too large: " + message.length + " bytes, limit " + spec.messageBytes;
    }
    return null;
  }

  /** Finds the values; why the message is not one JSON object, if it is none. */
  private String documentFlaw() {
    Kind kind;
    try {
      kind = scan();
      scanner.expectEnd();
    } catch (JsonScanner.Broken broken) {
      if (!Json.isUtf8(message)) {
        return "not valid UTF-8";
      }
      boolean deep = Json.depth(message) > spec.nesting;
      return deep ? "nested deeper than " + spec.nesting + " levels" : broken.getMessage();
    }
    if (repeated != null) {
      return "duplicate field name: " + repeated;
    }
    if (scanner.repeats) {
      return "duplicate field name in a nested object";
    }
    return kind == Kind.OBJECT ? null : "not a JSON object but " + kind.words;
  }

  private Kind scan() {
    scanner.start(message);
    Arrays.fill(kinds, Kind.MISSING);
    unknown.clear();
    repeated = null;
    if (scanner.next() != '{') {
      return scanner.value(1);
    }
    if (!scanner.opensEmpty('}')) {
      int expected = 0; // most messages have the fields in the order of the configuration
      do {
        int slot = name(expected);
        scanner.expect(':');
        value(slot);
        expected = slot + 1;
      } while (!scanner.closes('}'));
    }
    return Kind.OBJECT;
  }

  /** Moves past a name of the message: its place among the names, or -1 for an unknown one. */
  private int name(int expected) {
    scanner.next();
    if (expected < spec.names.length && scanner.skips(spec.quotedNames[expected])) {
      checkRepeats(expected);
      return expected;
    }
    for (int slot = 0; slot < spec.names.length; slot++) {
      if (scanner.skips(spec.quotedNames[slot])) {
        checkRepeats(slot);
        return slot;
      }
    }
    String name = scanner.name();
    int slot = scanner.escaped ? Arrays.asList(spec.names).indexOf(name) : -1;
    if (slot >= 0) {
      checkRepeats(slot);
    } else if (!unknown.add(name) && repeated == null) {
      repeated = name;
    }
    return slot;
  }

  private void checkRepeats(int slot) {
    if (kinds[slot] != Kind.MISSING && repeated == null) {
      repeated = spec.names[slot];
    }
  }

  private void value(int slot) {
    if (slot < 0) {
      scanner.value(2);
      return;
    }
    scanner.next();
    starts[slot] = scanner.at;
    boolean constant = spec.isNumber[slot] && scanner.skipsConstant();
    kinds[slot] = constant ? Kind.CONSTANT : scanner.value(2);
    ends[slot] = scanner.at;
    escaped[slot] = scanner.escaped;
  }

  /** Reads the fields by their types; which of them are wrong, if any is. */
  private String fieldFlaws() {
    StringBuilder flaws = null;
    cells.clear();
    for (int i = 0; i < spec.fields.length; i++) {
      Field field = spec.fields[i];
      String verdict = isNull(field) ? none() : cell(field);
      cellEnds[i] = cells.size();
      if (verdict != null) {
        flaws = flaws == null ? new StringBuilder() : flaws.append("; ");
        flaws.append(field.name()).append(": '").append(quoted(field.slot())).append("' ");
        flaws.append(verdict).append(' ').append(field.spelling());
      }
    }
    return flaws == null ? timeFlaw() : flaws.toString();
  }

  private boolean isNull(Field field) {
    return kinds[field.slot()] == Kind.MISSING || kinds[field.slot()] == Kind.NULL;
  }

  private String none() {
    cells.put(Json.NULL);
    return null;
  }

  private String timeFlaw() {
    if (spec.time < 0) {
      return null;
    }
    Field field = spec.fields[spec.time];
    if (isNull(field)) {
      return "no time: field " + field.name() + " is missing or null";
    }
    characters(field.slot());
    ts = micros(field);
    return null;
  }

  private String quoted(int slot) {
    characters(slot);
    String whole = new String(text, from, to - from, StandardCharsets.UTF_8);
    if (whole.codePointCount(0, whole.length()) <= QUOTED) {
      return whole;
    }
    return whole.substring(0, whole.offsetByCodePoints(0, QUOTED)) + "…";
  }

  /** Finds the characters of a value: a text's own, or the JSON text of anything else. */
  private void characters(int slot) {
    Kind kind = kinds[slot];
    text = message;
    from = starts[slot];
    to = ends[slot];
    if (kind == Kind.TEXT) {
      from++;
      to--;
    }
    if (kind == Kind.OBJECT || kind == Kind.ARRAY || kind == Kind.TEXT && escaped[slot]) {
      scratch.clear();
      if (kind == Kind.TEXT) {
        Json.unescape(message, from, to, scratch);
      } else {
        scanner.at = from;
        scanner.compact(scratch);
      }
      text = scratch.array();
      from = 0;
      to = scratch.size();
    }
  }

  /** Writes a field's JSON value; what is wrong with it, if anything is. */
  private String cell(Field field) {
    int slot = field.slot();
    if (field.type() == Type.TEXT && kinds[slot] == Kind.TEXT && !escaped[slot]) {
      cells.put(message, starts[slot], ends[slot]);
      return null;
    }
    characters(slot);
    return switch (field.type()) {
      case TEXT -> text();
      case BOOLEAN -> bool();
      case TIMESTAMP -> timestamp(field);
      default -> number(field);
    };
  }

  private String text() {
    cells.text(text, from, to);
    return null;
  }

  private String bool() {
    boolean isTrue = Arrays.equals(text, from, to, Json.TRUE, 0, Json.TRUE.length);
    boolean isFalse = Arrays.equals(text, from, to, Json.FALSE, 0, Json.FALSE.length);
    if (!isTrue && !isFalse) {
      return IS_NOT;
    }
    cells.put(isTrue ? Json.TRUE : Json.FALSE);
    return null;
  }

  private String timestamp(Field field) {
    long micros = micros(field);
    if (micros == Times.NONE) {
      return IS_NOT;
    }
    cells.number(micros);
    return null;
  }

  /** Digits in quotes are no time: whether they are a year or an epoch would be a guess. */
  private long micros(Field field) {
    Kind kind = kinds[field.slot()];
    if (kind == Kind.TEXT) {
      return Times.inRange(Times.iso(text, from, to));
    }
    boolean epoch = kind == Kind.NUMBER && numeral.read(text, from, to);
    return epoch ? Times.inRange(numeral.floor(field.places())) : Times.NONE;
  }

  private String number(Field field) {
    Kind kind = kinds[field.slot()];
    if (kind != Kind.NUMBER && kind != Kind.TEXT || !numeral.read(text, from, to)) {
      return IS_NOT;
    }
    return switch (field.type()) {
      case INTEGER -> integer();
      case FLOAT -> floating();
      default -> decimal(field);
    };
  }

  private String integer() {
    if (!numeral.isWhole() || !numeral.fitsInteger()) {
      return numeral.isWhole() ? OUT_OF_RANGE : IS_NOT;
    }
    cells.number(numeral.integer());
    return null;
  }

  private String floating() {
    if (numeral.isShort()) {
      cells.put(text, from, to);
      if (!numeral.hasPoint()) {
        cells.put(POINT_ZERO);
      }
      return null;
    }
    double nearest =
        Double.parseDouble(new String(text, from, to - from, StandardCharsets.ISO_8859_1));
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
