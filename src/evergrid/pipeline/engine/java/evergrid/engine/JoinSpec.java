package evergrid.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;

/** What a join is, as Python describes it in JSON: plain values that Spark can ship. */
final class JoinSpec implements Serializable {
  private static final long serialVersionUID = 1L;

  enum Type {
    ASOF,
    LEFT,
    INNER
  }

  final String query; // names the reports that the join writes
  final Type type;
  final boolean live; // real-time mode: one message at a time, and reports at each tick
  final int reducers;
  final String[] nulls; // by side: the members that it shows when nothing matches
  final String[] sources; // by side: the name in the trace columns
  final String[] topics; // by side
  final long ageMicros; // of the joined table's retention; Long.MAX_VALUE: for ever
  final long rows; // that the joined table keeps; Long.MAX_VALUE: all
  final int[] history; // by side: most messages of a key; Integer.MAX_VALUE: no limit
  final int pairs; // most rows of an inner join that one message makes
  final long backlogPairs; // most rows of an inner join that a key makes in a micro-batch

  JoinSpec(String json) {
    JsonNode node = parse(json);
    query = node.get("query").asText();
    type = Type.valueOf(node.get("type").asText());
    live = node.get("live").asBoolean();
    reducers = node.get("reducers").asInt();
    nulls = texts(node.get("nulls"));
    sources = texts(node.get("sources"));
    topics = texts(node.get("topics"));
    ageMicros = node.get("age_micros").asLong(Long.MAX_VALUE);
    rows = node.get("rows").asLong(Long.MAX_VALUE);
    history = new int[2];
    for (int side = 0; side < 2; side++) {
      history[side] = node.get("history").get(side).asInt(Integer.MAX_VALUE);
    }
    pairs = node.get("pairs").asInt(Integer.MAX_VALUE);
    backlogPairs = node.get("backlog_pairs").asLong(Long.MAX_VALUE);
  }

  private static JsonNode parse(String json) {
    try {
      return new ObjectMapper().readTree(json);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static String[] texts(JsonNode list) {
    String[] texts = new String[list.size()];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = list.get(i).asText();
    }
    return texts;
  }
}
