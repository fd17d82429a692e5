package org.crealm;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Writes the class of the live objects of an interface: a subclass of {@link LiveObject} whose methods pass the place
 * of their property to one of its methods. So reading an integer costs one call of C, and no reflection.
 *
 * <p>The class file has a constructor, and a method for each abstract method of the interface:
 *
 * <pre>{@code
 * aload_0; sipush place; invokevirtual LiveObject.longAt(I)J; lreturn
 * aload_0; sipush place; lload_1; invokevirtual LiveObject.setLongAt(IJ)V; return
 * }</pre>
 */
final class LiveClass {
    private static final int VERSION = 61;
    private static final int FINAL = 0x0010;
    private static final int SUPER = 0x0020;
    private static final int SYNTHETIC = 0x1000;
    private static final int PUBLIC = 0x0001;
    private static final String BASE = "org/crealm/LiveObject";
    private static final String CONSTRUCTOR = "(Lorg/crealm/Realm;Ljava/lang/Object;J)V";

    private final ByteArrayOutputStream constantBytes = new ByteArrayOutputStream();
    private final DataOutputStream constants = new DataOutputStream(constantBytes);
    private final Map<String, Integer> places = new HashMap<>();
    private int constantCount = 1;

    private LiveClass() {}

    /** The constructor of the live objects of a model: (Realm, Bound, long) to Object. */
    static MethodHandle define(Model<?> model, MethodHandles.Lookup lookup) {
        try {
            byte[] file = new LiveClass().write(model);
            MethodHandles.Lookup made = lookup.defineHiddenClass(file, true);
            MethodHandle constructor = made.findConstructor(made.lookupClass(),
                    MethodType.methodType(void.class, Realm.class, Object.class, long.class));
            return constructor.asType(MethodType.methodType(Object.class, Realm.class, Bound.class, long.class));
        } catch (IOException | ReflectiveOperationException | LinkageError error) {
            throw new RealmException(ErrorCode.SCHEMA_VALIDATION_FAILED, "the interface " + model.javaType.getName()
                    + " cannot be implemented; it must not be private: " + error);
        }
    }

    private byte[] write(Model<?> model) throws IOException {
        Map<String, Integer> slots = new HashMap<>();
        for (int index = 0; index < model.properties.size(); index++) {
            slots.put(model.properties.get(index).name, index);
        }
        Map<String, Method> methods = new LinkedHashMap<>();
        for (Method method : model.javaType.getMethods()) {
            if (Modifier.isAbstract(method.getModifiers())) {
                methods.putIfAbsent(method.getName() + descriptor(method), method);
            }
        }
        String name = internal(model.javaType) + "$Live";
        ByteArrayOutputStream bodyBytes = new ByteArrayOutputStream();
        DataOutputStream body = new DataOutputStream(bodyBytes);
        body.writeShort(FINAL | SUPER | SYNTHETIC);
        body.writeShort(type(name));
        body.writeShort(type(BASE));
        body.writeShort(1);
        body.writeShort(type(internal(model.javaType)));
        body.writeShort(0);
        body.writeShort(methods.size() + 1);
        method(body, "<init>", CONSTRUCTOR, 5, 5, code -> {
            code.write(new byte[] {0x2a, 0x2b, 0x2c, 0x21});
            code.writeByte(0xb7);
            code.writeShort(member("<init>", CONSTRUCTOR));
            code.writeByte(0xb1);
        });
        for (Method method : methods.values()) {
            accessor(body, model, slots, method);
        }
        body.writeShort(0);
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(file);
        out.writeInt(0xcafebabe);
        out.writeInt(VERSION);
        out.writeShort(constantCount);
        out.write(constantBytes.toByteArray());
        out.write(bodyBytes.toByteArray());
        return file.toByteArray();
    }

    private void accessor(DataOutputStream body, Model<?> model, Map<String, Integer> slots, Method method)
            throws IOException {
        boolean getter = method.getParameterCount() == 0 && method.getReturnType() != void.class;
        boolean setter = method.getParameterCount() == 1 && method.getReturnType() == void.class;
        Integer slot = getter ? slots.get(Model.propertyName(method)) : setter ? setterSlot(method, slots) : null;
        if (slot == null) {
            throw new RealmException(ErrorCode.SCHEMA_VALIDATION_FAILED, "the method " + method
                    + " is neither a getter nor a setter of a property");
        }
        Class<?> type = model.properties.get(slot).javaType;
        if (setter && method.getParameterTypes()[0] != type) {
            throw new RealmException(ErrorCode.SCHEMA_VALIDATION_FAILED, "the setter " + method
                    + " has another type than the getter");
        }
        boolean primitive = type.isPrimitive();
        String word = primitive ? type.getName() : "value";
        String shown = primitive ? type.descriptorString() : "Ljava/lang/Object;";
        method(body, method.getName(), descriptor(method), 4, 3, code -> {
            code.writeByte(0x2a);
            code.writeByte(0x11);
            code.writeShort(slot);
            if (setter) {
                code.writeByte(instruction(type, 0x1b, 0x1f, 0x23, 0x27, 0x2b));
                code.writeByte(0xb6);
                code.writeShort(member("set" + Character.toUpperCase(word.charAt(0)) + word.substring(1) + "At",
                        "(I" + shown + ")V"));
                code.writeByte(0xb1);
            } else {
                code.writeByte(0xb6);
                code.writeShort(member(word + "At", "(I)" + shown));
                if (!primitive) {
                    code.writeByte(0xc0);
                    code.writeShort(type(type.isArray() ? type.descriptorString() : internal(type)));
                }
                code.writeByte(instruction(type, 0xac, 0xad, 0xae, 0xaf, 0xb0));
            }
        });
    }

    private static Integer setterSlot(Method method, Map<String, Integer> slots) {
        String name = method.getName();
        if (name.startsWith("set") && name.length() > 3 && Character.isUpperCase(name.charAt(3))) {
            Integer ofKotlin = slots.get("is" + name.substring(3));
            return ofKotlin != null ? ofKotlin : slots.get(Character.toLowerCase(name.charAt(3)) + name.substring(4));
        }
        return slots.get(name);
    }

    /** The instruction for a type: of int, long, float, double, or of objects. */
    private static int instruction(Class<?> type, int ofInt, int ofLong, int ofFloat, int ofDouble, int ofObject) {
        if (!type.isPrimitive()) {
            return ofObject;
        }
        return type == long.class ? ofLong : type == float.class ? ofFloat : type == double.class ? ofDouble : ofInt;
    }

    private interface Code {
        void write(DataOutputStream code) throws IOException;
    }

    private void method(DataOutputStream body, String name, String descriptor, int stack, int locals, Code code)
            throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        code.write(new DataOutputStream(bytes));
        body.writeShort(PUBLIC);
        body.writeShort(text(name));
        body.writeShort(text(descriptor));
        body.writeShort(1);
        body.writeShort(text("Code"));
        body.writeInt(12 + bytes.size());
        body.writeShort(stack);
        body.writeShort(locals);
        body.writeInt(bytes.size());
        body.write(bytes.toByteArray());
        body.writeShort(0);
        body.writeShort(0);
    }

    private static String internal(Class<?> type) {
        return type.getName().replace('.', '/');
    }

    private static String descriptor(Method method) {
        return MethodType.methodType(method.getReturnType(), method.getParameterTypes()).descriptorString();
    }

    // ---- the constant pool ----

    private interface Constant {
        void write() throws IOException;
    }

    private int constant(String name, Constant write) throws IOException {
        Integer known = places.get(name);
        if (known == null) {
            write.write();
            known = constantCount++;
            places.put(name, known);
        }
        return known;
    }

    private int text(String value) throws IOException {
        return constant("text " + value, () -> {
            constants.writeByte(1);
            constants.writeUTF(value);
        });
    }

    private int type(String name) throws IOException {
        int place = text(name);
        return constant("type " + name, () -> {
            constants.writeByte(7);
            constants.writeShort(place);
        });
    }

    /** A method of LiveObject. */
    private int member(String name, String descriptor) throws IOException {
        int owner = type(BASE);
        int first = text(name);
        int second = text(descriptor);
        int signature = constant("signature " + name + descriptor, () -> {
            constants.writeByte(12);
            constants.writeShort(first);
            constants.writeShort(second);
        });
        return constant("member " + name + descriptor, () -> {
            constants.writeByte(10);
            constants.writeShort(owner);
            constants.writeShort(signature);
        });
    }
}
