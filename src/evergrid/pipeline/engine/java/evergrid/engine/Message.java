package evergrid.engine;

import evergrid.engine.JsonScanner.Kind;
import evergrid.engine.SourceSpec.Field;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** One message as a JSON object: which of the source's names it has, and where their values are. */
final class Message {
  private final String[] names; // of the fields in the JSON, each once
  private final byte[][] quotedNames;
  private final boolean[] areNumbers; // whether a number field is read from the name
  private final int nesting;
  private final JsonScanner scanner;
  private final Bytes scratch = new Bytes();

  private byte[] bytes;
  private final Kind[] kinds; // these four by name
  private final int[] starts;
  private final int[] ends;
  private final boolean[] escaped;
  private final Set<String> unknown = new HashSet<>();
  private String repeated;

  // The characters of the value that was looked at last: text[from] up to text[to].
  byte[] text;
  int from;
  int to;

  Message(SourceSpec spec) {
    List<String> distinct = spec.fields().stream().map(Field::from).distinct().toList();
    names = distinct.toArray(String[]::new);
    quotedNames = new byte[names.length][];
    areNumbers = new boolean[names.length];
    for (int i = 0; i < names.length; i++) {
      quotedNames[i] = Json.bytes('"' + names[i] + '"');
    }
    for (Field field : spec.fields()) {
      areNumbers[slot(field.from())] |= field.isNumber();
    }
    nesting = spec.nesting();
    scanner = new JsonScanner(nesting);
    kinds = new Kind[names.length];
    starts = new int[names.length];
    ends = new int[names.length];
    escaped = new boolean[names.length];
  }

  /** The number by which a name is asked for; -1 for one that the source does not know. */
  int slot(String name) {
    return Arrays.asList(names).indexOf(name);
  }

  int unknownNames() {
    return unknown.size();
  }

  boolean isNull(int slot) {
    return kinds[slot] == Kind.MISSING || kinds[slot] == Kind.NULL;
  }

  Kind kind(int slot) {
    return kinds[slot];
  }

  /** Copies a value as it is written if it is a JSON text without escapes. */
  boolean copiesText(int slot, Bytes out) {
    boolean plain = kinds[slot] == Kind.TEXT && !escaped[slot];
    if (plain) {
      out.put(bytes, starts[slot], ends[slot]);
    }
    return plain;
  }

  /** Looks at the characters of a value: a text's own, or the JSON text of anything else. */
  void look(int slot) {
    Kind kind = kinds[slot];
    int quote = kind == Kind.TEXT ? 1 : 0;
    text = bytes;
    from = starts[slot] + quote;
    to = ends[slot] - quote;
    if (kind == Kind.OBJECT || kind == Kind.ARRAY || kind == Kind.TEXT && escaped[slot]) {
      scratch.clear();
      if (kind == Kind.TEXT) {
        Json.unescape(bytes, from, to, scratch);
      } else {
        scanner.at = from;
        scanner.compact(scratch);
      }
      text = scratch.array();
      from = 0;
      to = scratch.size();
    }
  }

  /** Finds the values; returns why the message is not one JSON object, null if it is one. */
  String read(byte[] message) {
    bytes = message;
    Kind kind;
    try {
      kind = scan();
      scanner.expectEnd();
    } catch (JsonScanner.Broken broken) {
      if (!Json.isUtf8(bytes)) {
        return "not valid UTF-8";
      }
      boolean deep = Json.depth(bytes) > nesting;
      return deep ? "nested deeper than " + nesting + " levels" : broken.getMessage();
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
    scanner.start(bytes);
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

  /** Moves past a name; its slot, or -1. */
  private int name(int expected) {
    scanner.next();
    int slot = -1;
    if (expected < names.length && scanner.skips(quotedNames[expected])) {
      slot = expected;
    }
    for (int i = 0; slot < 0 && i < names.length; i++) {
      slot = scanner.skips(quotedNames[i]) ? i : -1;
    }
    if (slot < 0) {
      String name = scanner.name();
      slot = scanner.escaped ? slot(name) : -1;
      if (slot < 0 && !unknown.add(name)) {
        repeats(name);
      }
    }
    if (slot >= 0 && kinds[slot] != Kind.MISSING) {
      repeats(names[slot]);
    }
    return slot;
  }

  private void repeats(String name) {
    repeated = repeated == null ? name : repeated;
  }

  private void value(int slot) {
    if (slot < 0) {
      scanner.value(2);
      return;
    }
    scanner.next();
    starts[slot] = scanner.at;
    boolean constant = areNumbers[slot] && scanner.skipsConstant();
    kinds[slot] = constant ? Kind.CONSTANT : scanner.value(2);
    ends[slot] = scanner.at;
    escaped[slot] = scanner.escaped;
  }
}
