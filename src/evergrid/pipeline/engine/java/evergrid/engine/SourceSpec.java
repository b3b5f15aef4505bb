package evergrid.engine;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;

/**
 * What a reader must know of a source, and of the join that it takes part in; written as JSON by
 * evergrid.pipeline.engine.raw_changes.
 *
 * @param time the field that is the row's time; empty: Kafka's time
 * @param key the field that the join compares; empty: none
 * @param shown the columns that the join shows of this source
 */
record SourceSpec(
    String topic,
    List<Field> fields,
    String time,
    String key,
    List<Shown> shown,
    int messageBytes,
    int nesting,
    int quarantineCharacters) {

  /** The types of fields. */
  enum Kind {
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
   * @param from its name in the JSON
   * @param type its type as the reasons for quarantine spell it
   * @param places powers of ten from the unit of a timestamp to a microsecond
   */
  record Field(
      String name, String from, Kind kind, String type, int precision, int scale, int places) {
    boolean isNumber() {
      return kind == Kind.INTEGER || kind == Kind.FLOAT || kind == Kind.DECIMAL;
    }
  }

  /** A column that a join shows: a field under a name of its own. */
  record Shown(String name, String field) {}

  static SourceSpec of(String text) {
    try {
      return new ObjectMapper().readValue(text, SourceSpec.class);
    } catch (JsonProcessingException problem) {
      throw new IllegalArgumentException("not the specification of a source: " + text, problem);
    }
  }

  /** The place of a field among the fields; -1 for the empty name. */
  int index(String field) {
    for (int i = 0; i < fields.size(); i++) {
      if (fields.get(i).name.equals(field)) {
        return i;
      }
    }
    if (field.isEmpty()) {
      return -1;
    }
    throw new IllegalArgumentException("source of topic " + topic + " has no field " + field);
  }
}
