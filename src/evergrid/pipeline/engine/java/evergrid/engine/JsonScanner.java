package evergrid.engine;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Walks over strict JSON (RFC 8259), and throws {@link Broken} where the bytes are none. */
final class JsonScanner {
  /** What a value is, in the words of the reasons for quarantine. */
  enum Kind {
    MISSING("nothing"),
    NULL("null"),
    TEXT("a text"),
    NUMBER("a number"),
    BOOLEAN("a boolean"),
    OBJECT("an object"),
    ARRAY("an array"),
    CONSTANT("NaN or Infinity");

    final String words;

    Kind(String words) {
      this.words = words;
    }
  }

  /** The bytes are not JSON. One instance without a stack trace: bad messages must be cheap. */
  static final class Broken extends RuntimeException {
    private static final long serialVersionUID = 1;
    static final Broken BROKEN = new Broken();

    private Broken() {
      super("not valid JSON", null, false, false);
    }
  }

  private static final byte[][] CONSTANTS = {
    Json.bytes("NaN"), Json.bytes("Infinity"), Json.bytes("-Infinity")
  };

  private final int deepest;
  private final Numeral numeral = new Numeral();
  private final Bytes scratch = new Bytes();
  private byte[] bytes;

  int at;
  boolean escaped; // whether the last text has escapes
  boolean repeats; // whether an object that the scanner went through has a name twice

  JsonScanner(int deepest) {
    this.deepest = deepest;
  }

  void start(byte[] message) {
    bytes = message;
    at = 0;
    repeats = false;
  }

  /** Skips white space; the byte after it, or 0 at the end. */
  byte next() {
    while (at < bytes.length) {
      byte one = bytes[at];
      if (one != ' ' && one != '\n' && one != '\r' && one != '\t') {
        return one;
      }
      at++;
    }
    return 0;
  }

  void expect(char wanted) {
    if (next() != wanted) {
      throw Broken.BROKEN;
    }
    at++;
  }

  void expectEnd() {
    next();
    if (at < bytes.length) {
      throw Broken.BROKEN;
    }
  }

  /** Moves past a comma, or past `closing` and says that the object or array ends there. */
  boolean closes(char closing) {
    if (next() == closing) {
      at++;
      return true;
    }
    expect(',');
    return false;
  }

  /** Moves past an opening bracket, and past `closing` if it follows at once. */
  boolean opensEmpty(char closing) {
    at++;
    if (next() != closing) {
      return false;
    }
    at++;
    return true;
  }

  /** Moves past `wanted` if it is here. */
  boolean skips(byte[] wanted) {
    if (at + wanted.length > bytes.length) {
      return false;
    }
    for (int i = 0; i < wanted.length; i++) {
      if (bytes[at + i] != wanted[i]) {
        return false;
      }
    }
    at += wanted.length;
    return true;
  }

  /** Moves past NaN or Infinity: not JSON, but common enough that the reason names them. */
  boolean skipsConstant() {
    next();
    return skips(CONSTANTS[0]) || skips(CONSTANTS[1]) || skips(CONSTANTS[2]);
  }

  /** Moves past a value; `depth` is its level if it is an object or array. */
  Kind value(int depth) {
    return switch (next()) {
      case '"' -> text();
      case '{' -> object(depth);
      case '[' -> array(depth);
      case 't' -> word(Json.TRUE, Kind.BOOLEAN);
      case 'f' -> word(Json.FALSE, Kind.BOOLEAN);
      case 'n' -> word(Json.NULL, Kind.NULL);
      default -> number();
    };
  }

  private Kind text() {
    int i = at + 1;
    escaped = false;
    while (i < bytes.length) {
      byte one = bytes[i];
      if (one == '"') {
        at = i + 1;
        return Kind.TEXT;
      }
      int length = one >= 0x20 ? 1 : one < 0 ? Json.characterLength(bytes, i) : 0;
      if (one == '\\') {
        escaped = true;
        length = escapeLength(i);
      }
      if (length == 0) {
        throw Broken.BROKEN;
      }
      i += length;
    }
    throw Broken.BROKEN;
  }

  /** How long an escape is; 0 when it is none. Half of a surrogate pair is no character. */
  private int escapeLength(int start) {
    if (start + 1 < bytes.length && bytes[start + 1] != 'u') {
      return Json.meaning(bytes[start + 1]) < 0 ? 0 : 2;
    }
    int unit = Json.hex(bytes, start + 2);
    if (unit < 0 || Character.isLowSurrogate((char) unit)) {
      return 0;
    }
    if (!Character.isHighSurrogate((char) unit)) {
      return 6;
    }
    int next = start + 6;
    boolean follows = next + 1 < bytes.length && bytes[next] == '\\' && bytes[next + 1] == 'u';
    int low = follows ? Json.hex(bytes, next + 2) : -1;
    return low >= 0 && Character.isLowSurrogate((char) low) ? 12 : 0;
  }

  private Kind number() {
    int end = numeral.scan(bytes, at, bytes.length);
    if (end < 0) {
      throw Broken.BROKEN;
    }
    at = end;
    return Kind.NUMBER;
  }

  private Kind word(byte[] letters, Kind kind) {
    if (!skips(letters)) {
      throw Broken.BROKEN;
    }
    return kind;
  }

  private Kind array(int depth) {
    checkDepth(depth);
    if (!opensEmpty(']')) {
      do {
        value(depth + 1);
      } while (!closes(']'));
    }
    return Kind.ARRAY;
  }

  private Kind object(int depth) {
    checkDepth(depth);
    if (!opensEmpty('}')) {
      Set<String> names = new HashSet<>();
      do {
        repeats |= !names.add(name());
        expect(':');
        value(depth + 1);
      } while (!closes('}'));
    }
    return Kind.OBJECT;
  }

  private void checkDepth(int depth) {
    if (depth > deepest) {
      throw Broken.BROKEN;
    }
  }

  /** Moves past a name. */
  String name() {
    expect('"');
    int from = at--; // back to the quote
    text();
    return string(from, at - 1);
  }

  /** The characters of the text that was read last, and that stands there. */
  String string(int from, int to) {
    if (!escaped) {
      return new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }
    scratch.clear();
    Json.unescape(bytes, from, to, scratch);
    return new String(scratch.array(), 0, scratch.size(), StandardCharsets.UTF_8);
  }

  /** Copies a value that was found to be valid: without white space, with its names in order. */
  void compact(Bytes out) {
    byte first = next();
    if (first == '{') {
      compactObject(out);
    } else if (first == '[') {
      compactArray(out);
    } else {
      int from = at;
      Kind kind = value(0);
      if (kind == Kind.TEXT && escaped) {
        out.text(string(from + 1, at - 1));
      } else {
        out.put(bytes, from, at);
      }
    }
  }

  private void compactArray(Bytes out) {
    char before = '[';
    if (opensEmpty(']')) {
      out.put((byte) before);
    } else {
      do {
        out.put((byte) before);
        compact(out);
        before = ',';
      } while (!closes(']'));
    }
    out.put((byte) ']');
  }

  private void compactObject(Bytes out) {
    Map<String, Bytes> members = new TreeMap<>();
    if (!opensEmpty('}')) {
      do {
        Bytes value = new Bytes();
        members.put(name(), value);
        expect(':');
        compact(value);
      } while (!closes('}'));
    }
    char before = '{';
    for (Map.Entry<String, Bytes> member : members.entrySet()) {
      out.put((byte) before);
      out.text(member.getKey());
      out.put((byte) ':');
      out.put(member.getValue().array(), 0, member.getValue().size());
      before = ',';
    }
    if (members.isEmpty()) {
      out.put((byte) before);
    }
    out.put((byte) '}');
  }
}
