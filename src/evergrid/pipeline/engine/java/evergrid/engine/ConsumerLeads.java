package evergrid.engine;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * How far the Kafka consumers of a query have read, from the management beans that each one has.
 *
 * <p>Python could read the beans one by one. It looks several times a second, and each bean would
 * then take several calls between the two processes.
 */
public final class ConsumerLeads {
  private static final String BEANS =
      "kafka.consumer:type=consumer-fetch-manager-metrics,client-id=*,topic=*,partition=*";

  private ConsumerLeads() {}

  /**
   * A line for each partition: its topic as the bean names it, its number, and the messages between
   * the partition's start and the consumer at its last fetch. `group` is the prefix of the consumers'
   * groups.
   */
  public static String of(String group) throws JMException {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    StringBuilder lines = new StringBuilder();
    for (ObjectName name : server.queryNames(new ObjectName(BEANS), null)) {
      if (property(name, "client-id").contains("-" + group + "-")) {
        double lead = lead(server, name);
        if (!Double.isNaN(lead)) {
          lines.append(property(name, "topic")).append(' ');
          lines.append(property(name, "partition")).append(' ').append((long) lead).append('\n');
        }
      }
    }
    return lines.toString();
  }

  /** Not a number before the first fetch, or if the consumer has just been closed. */
  private static double lead(MBeanServer server, ObjectName name) {
    try {
      return (Double) server.getAttribute(name, "records-lead");
    } catch (JMException gone) {
      return Double.NaN;
    }
  }

  /** Names with special characters are quoted. */
  private static String property(ObjectName name, String key) {
    String value = name.getKeyProperty(key);
    return value.startsWith("\"") ? ObjectName.unquote(value) : value;
  }
}
