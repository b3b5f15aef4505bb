package evergrid.engine;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What a reader must know of a source and of a join that it takes part in. */
final class SourceSpec {
  /** The types of fields. */
  enum Type {
    TEXT,
    INTEGER,
    FLOAT,
    DECIMAL,
    BOOLEAN,
    TIMESTAMP
  }

  /**
   * A field of the source.
   *
   * @param slot the place of its JSON name among the names: two fields may be read from one
   * @param spelling the type as the reasons for quarantine spell it
   * @param places how many powers of ten a timestamp's unit is above a microsecond
   */
  record Field(
      String name,
      int slot,
      Type type,
      String spelling,
      int precision,
      int scale,
      int places,
      byte[] member) {
    boolean isNumber() {
      return type == Type.INTEGER || type == Type.FLOAT || type == Type.DECIMAL;
    }
  }

  /** A column that a join shows: a field under a name of its own. */
  record Shown(int field, byte[] member) {}

  final String topic;
  final int messageBytes;
  final int nesting;
  final int quarantineCharacters;
  final String[] names; // of the fields in the JSON
  final byte[][] quotedNames;
  final boolean[] isNumber; // by name
  final Field[] fields;
  final Shown[] shown;
  final int time; // the field that is the row's time; -1: Kafka's
  final int key; // the join's key; -1: none

  private final List<String> fieldNames = new ArrayList<>();

  SourceSpec(String text) {
    JsonNode spec = parse(text);
    topic = spec.required("topic").asText();
    messageBytes = spec.required("message_bytes").asInt();
    nesting = spec.required("nesting").asInt();
    quarantineCharacters = spec.required("quarantine_characters").asInt();
    List<String> found = new ArrayList<>();
    List<Field> read = new ArrayList<>();
    for (JsonNode node : spec.required("fields")) {
      read.add(field(node, found));
    }
    fields = read.toArray(Field[]::new);
    names = found.toArray(String[]::new);
    quotedNames = found.stream().map(name -> Json.bytes('"' + name + '"')).toArray(byte[][]::new);
    isNumber = new boolean[names.length];
    for (Field field : fields) {
      isNumber[field.slot] |= field.isNumber();
    }
    List<Shown> columns = new ArrayList<>();
    for (JsonNode pair : spec.required("shown")) {
      columns.add(new Shown(index(pair.get(1).asText()), member(pair.get(0).asText())));
    }
    shown = columns.toArray(Shown[]::new);
    time = index(spec.required("time").asText());
    key = index(spec.required("key").asText());
  }

  private static JsonNode parse(String text) {
    try {
      return new ObjectMapper().readTree(text);
    } catch (JsonProcessingException problem) {
      throw new IllegalArgumentException("the source's specification is not JSON", problem);
    }
  }

  private Field field(JsonNode node, List<String> found) {
    String name = node.required("from").asText();
    if (!found.contains(name)) {
      found.add(name);
    }
    fieldNames.add(node.required("name").asText());
    return new Field(
        name,
        found.indexOf(name),
        Type.valueOf(node.required("kind").asText().toUpperCase(Locale.ROOT)),
        node.required("type").asText(),
        node.required("precision").asInt(),
        node.required("scale").asInt(),
        node.required("places").asInt(),
        member(node.required("name").asText()));
  }

  private int index(String field) {
    int index = fieldNames.indexOf(field);
    if (index < 0 && !field.isEmpty()) {
      throw new IllegalArgumentException("the source has no field " + field);
    }
    return index;
  }

  private static byte[] member(String name) {
    return Json.bytes('"' + name + "\":");
  }
}
