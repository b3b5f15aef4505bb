package evergrid.engine;

import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** The expressions that Python calls, and the only file that uses what Spark does not promise. */
public final class Expressions {
  private static final StructType CHANGE =
      new StructType()
          .add("good", DataTypes.BooleanType, false)
          .add("key", DataTypes.BinaryType, false)
          .add("value", DataTypes.BinaryType, false)
          .add("ts", DataTypes.LongType, false);
  private static final StructType KEYED =
      new StructType().add("key", DataTypes.BinaryType).add("message", DataTypes.BinaryType);

  private static final byte[] TS = Json.bytes(",\"ts\":");
  private static final byte[] PARTITION = Json.bytes(",\"_partition\":");
  private static final byte[] OFFSET = Json.bytes(",\"_offset\":");
  private static final byte[] UNKNOWN_FIELDS = Json.bytes(",\"_unknown_fields\":");
  private static final byte[] TOPIC = Json.bytes("\"topic\":");
  private static final byte[] REASON = Json.bytes(",\"reason\":");
  private static final byte[] TEXT = Json.bytes(",\"text\":");

  /** What a thread keeps from message to message. */
  private static final class Work {
    private final Bytes out = new Bytes();
    private UTF8String spec;
    private Reader reader;

    /** Spark hands over the same object again and again, so comparing it is cheap. */
    private Reader reader(UTF8String wanted) {
      if (wanted != spec) {
        reader = Reader.of(wanted.toString());
        spec = wanted;
      }
      return reader;
    }
  }

  private static final ThreadLocal<Work> WORK = ThreadLocal.withInitial(Work::new);

  private Expressions() {}

  /** The change that a message of a source is: of its raw table if good, else of quarantine. */
  public static Column raw(
      Column value, Column partition, Column offset, Column timestamp, String spec) {
    return call(
        Expressions.class, "raw", CHANGE, value, partition, offset, timestamp, functions.lit(spec));
  }

  /** What a join takes of a message: see {@link Messages#read}. */
  public static Column message(
      Column value,
      Column partition,
      Column offset,
      Column timestamp,
      String spec,
      int side,
      int reducers,
      boolean live) {
    return call(
        Messages.class,
        "read",
        KEYED,
        value,
        partition,
        offset,
        timestamp,
        functions.lit(spec),
        functions.lit(side),
        functions.lit(reducers),
        functions.lit(live));
  }

  /** Joins what {@link #message} gives: number of the topic, key and value of each change. */
  public static Dataset<Row> join(Dataset<Row> messages, String spec) {
    JoinSpec join = new JoinSpec(spec);
    return messages
        .groupBy(functions.col("key"))
        .as(Encoders.BINARY(), Encoders.tuple(Encoders.BINARY(), Encoders.BINARY()))
        .transformWithState(
            new JoinProcessor(join),
            TimeMode.None(), // with timers Spark would look for expired ones after every row
            OutputMode.Update(),
            Encoders.tuple(Encoders.INT(), Encoders.BINARY(), Encoders.BINARY()))
        .toDF("topic", "key", "value");
  }

  /** Use the state of another grouping key than the one whose row is being joined. */
  static void withGroupingKey(byte[] key, Runnable action) {
    Option<Object> own = ImplicitGroupingKeyTracker.getImplicitKeyOption();
    ImplicitGroupingKeyTracker.setImplicitKey(key);
    try {
      action.run();
    } finally {
      ImplicitGroupingKeyTracker.setImplicitKey(own.get());
    }
  }

  /** What {@link #raw(Column, Column, Column, Column, String)} does for each message. */
  public static InternalRow raw(
      byte[] value, int partition, long offset, long kafkaMicros, UTF8String spec) {
    Work work = WORK.get();
    Reader reader = work.reader(spec);
    Bytes out = work.out;
    boolean good = reader.read(value, kafkaMicros);
    byte[] key = key(good ? null : reader.spec().topic(), partition, offset, out);
    out.clear();
    out.put((byte) '{');
    if (good) {
      reader.members(out);
    } else {
      out.put(TOPIC);
      out.text(reader.spec().topic());
      out.put(REASON);
      out.text(reader.flaw());
      out.put(TEXT);
      text(value, reader.spec().quarantineCharacters(), out);
    }
    long ts = good ? reader.ts() : kafkaMicros;
    number(TS, ts, out);
    number(PARTITION, partition, out);
    number(OFFSET, offset, out);
    if (good) {
      number(UNKNOWN_FIELDS, reader.unknownFields(), out);
    }
    out.put((byte) '}');
    return new GenericInternalRow(new Object[] {good, key, out.copy(), ts});
  }

  private static byte[] key(String topic, int partition, long offset, Bytes out) {
    out.clear();
    if (topic != null) {
      out.put(Json.bytes(topic));
      out.put((byte) ':');
    }
    out.number(partition);
    out.put((byte) ':');
    out.number(offset);
    return out.copy();
  }

  private static void number(byte[] name, long number, Bytes out) {
    out.put(name);
    out.number(number);
  }

  /** Writes the first characters of a message, with a mark for bytes that are not UTF-8. */
  private static void text(byte[] value, int characters, Bytes out) {
    if (value == null) {
      out.put(Json.NULL);
      return;
    }
    int enough = (int) Math.min(value.length, 4L * characters); // no character is longer
    UTF8String valid = UTF8String.fromBytes(value, 0, enough).makeValid();
    byte[] cut = valid.substring(0, characters).getBytes();
    out.text(cut, 0, cut.length);
  }

  /** An expression that calls a static method of ours for each row. */
  private static Column call(
      Class<?> owner, String method, StructType result, Column... arguments) {
    try {
      List<Expression> inputs =
          List.of(arguments).stream().map(ExpressionUtils::expression).toList();
      Seq<Expression> seq = CollectionConverters.asScala(inputs).toList();
      Seq<AbstractDataType> unchecked =
          CollectionConverters.asScala(List.<AbstractDataType>of()).toList();
      // A null value is a message too, so nulls are passed on. Spark must not take it for
      // deterministic: it would copy the call into filters, and read each message twice.
      return ExpressionUtils.column(
          new StaticInvoke(
              owner, result, method, seq, unchecked, false, true, false, Option.empty()));
    } catch (LinkageError changed) {
      String version = org.apache.spark.package$.MODULE$.SPARK_VERSION();
      throw new IllegalStateException(
          "Evergrid's Java does not fit Spark "
              + version
              + ", whose internals differ from those that it was built with: "
              + changed
              + ". Install the Spark version that pyproject.toml names, or adapt Expressions.java.",
          changed);
    }
  }
}
