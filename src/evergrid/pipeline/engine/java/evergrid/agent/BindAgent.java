package evergrid.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import org.apache.xbean.asm9.ClassReader;
import org.apache.xbean.asm9.ClassVisitor;
import org.apache.xbean.asm9.ClassWriter;
import org.apache.xbean.asm9.MethodVisitor;
import org.apache.xbean.asm9.Opcodes;

/**
 * A Java agent that binds Spark's servers to one host where Spark names none.
 *
 * <p>The real-time shuffle opens a server for each of its tasks without an address, so that it
 * listens on all of them, and without authentication. The agent puts one line at the beginning of
 * {@code TransportServer.init(String host, int port)}: {@code host = BindAgent.host(host)}.
 */
public final class BindAgent {
    private static final String SERVER = "org/apache/spark/network/server/TransportServer";
    private static final String METHOD = "init";
    private static final String SIGNATURE = "(Ljava/lang/String;I)V";

    private static volatile String host;
    private static volatile boolean installed;

    private BindAgent() {}

    /**
     * Java calls it before Spark's own main method. What it throws ends Java with the reason, so
     * that Spark never runs without it.
     */
    public static void premain(String argument, Instrumentation java) throws Exception {
        host = argument;
        ServerTransformer transformer = new ServerTransformer();
        java.addTransformer(transformer);
        // Loaded now and not when it is needed: Java would hide that it could not be changed.
        Class.forName(SERVER.replace('/', '.'), false, ClassLoader.getSystemClassLoader());
        java.removeTransformer(transformer);
        if (transformer.failure != null || !transformer.changed) {
            throw new IllegalStateException(
                    "Evergrid cannot bind Spark's servers to " + argument + ": " + SERVER + "."
                            + METHOD + SIGNATURE + " is not as in the Spark it was made for",
                    transformer.failure);
        }
        installed = true;
    }

    /** Whether Spark's servers go through {@link #host}. */
    public static boolean isInstalled() {
        return installed;
    }

    /** The host to bind to: the wanted one, or the agent's where none is wanted. */
    public static String host(String wanted) {
        return wanted == null ? host : wanted;
    }

    private static final class ServerTransformer implements ClassFileTransformer {
        private boolean changed;
        private Throwable failure;

        @Override
        public byte[] transform(
                ClassLoader loader,
                String name,
                Class<?> redefined,
                ProtectionDomain domain,
                byte[] content) {
            if (!SERVER.equals(name)) {
                return null;
            }
            try {
                ClassReader reader = new ClassReader(content);
                ClassWriter writer = new ClassWriter(reader, 0);
                reader.accept(new ServerVisitor(writer), 0);
                return writer.toByteArray();
            } catch (RuntimeException | LinkageError error) {
                failure = error; // Java itself would say nothing
                return null;
            }
        }

        private final class ServerVisitor extends ClassVisitor {
            ServerVisitor(ClassVisitor next) {
                super(Opcodes.ASM9, next);
            }

            @Override
            public MethodVisitor visitMethod(
                    int access, String name, String signature, String generic, String[] thrown) {
                MethodVisitor next = super.visitMethod(access, name, signature, generic, thrown);
                if (!name.equals(METHOD) || !signature.equals(SIGNATURE)) {
                    return next;
                }
                changed = true;
                return new InitVisitor(next);
            }
        }
    }

    private static final class InitVisitor extends MethodVisitor {
        InitVisitor(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visitCode() {
            super.visitCode();
            // Neither a branch nor another type of the variable: the method's frames stay true.
            visitVarInsn(Opcodes.ALOAD, 1);
            visitMethodInsn(
                    Opcodes.INVOKESTATIC,
                    "evergrid/agent/BindAgent",
                    "host",
                    "(Ljava/lang/String;)Ljava/lang/String;",
                    false);
            visitVarInsn(Opcodes.ASTORE, 1);
        }
    }
}
