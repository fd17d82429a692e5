package org.crealm;

import java.lang.annotation.Annotation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A Java class whose objects a realm stores, compiled once from its annotations.
 *
 * <ul>
 *   <li>A record, or a class with one constructor for all of its fields, is a copy of an object.
 *   <li>A class with a constructor without parameters is a copy, too; its fields are read and written.
 *   <li>An interface is a live object: its methods read and write the realm.
 * </ul>
 */
final class Model<T> {
    /** A property of a model. */
    static final class Property {
        final String name;
        final Class<?> javaType;
        final Kind kind;
        final PropertySchema schema;
        final Class<?> origin;
        /** The place of a property with one value among those of its class; -1 for collections. */
        final int column;
        /** Reads the property of a copy: (Object) to Object. */
        MethodHandle getter;
        /** Writes a primitive property of a copy into a ValueWriter, without boxing: (Object, ValueWriter). */
        MethodHandle encoder;
        /** Sets the field of a copy: (Object, Object). */
        MethodHandle setter;

        Property(String name, Class<?> javaType, Kind kind, PropertySchema schema, Class<?> origin, int column) {
            this.name = name;
            this.javaType = javaType;
            this.kind = kind;
            this.schema = schema;
            this.origin = origin;
            this.column = column;
        }

        boolean isCollection() {
            return schema.collection() != CollectionType.NONE;
        }

        boolean isComputed() {
            return schema.type() == PropertyType.LINKING_OBJECTS;
        }
    }

    /** Constructors with more parameters get all values as objects: a method handle has at most 255 parameters. */
    private static final int MOST_TYPED = 80;

    private static final ClassValue<Model<?>> MODELS = new ClassValue<>() {
        @Override
        protected Model<?> computeValue(Class<?> type) {
            return new Model<>(type);
        }
    };

    final Class<T> javaType;
    final String name;
    final boolean embedded;
    final boolean live;
    final List<Property> properties = new ArrayList<>();
    final Property primaryKey;
    /** Whether there are links, so that a copy may consist of copies. */
    boolean linked;
    /** Whether one call writes an object: it has neither links nor collections. */
    boolean simple = true;
    private int columns;
    private final MethodHandles.Lookup lookup;
    private MethodHandle constructor;
    private volatile MethodHandle liveConstructor;

    private Model(Class<T> javaType) {
        RealmClass annotation = javaType.getAnnotation(RealmClass.class);
        this.javaType = javaType;
        this.name = annotation.name().isEmpty() ? javaType.getSimpleName() : annotation.name();
        this.embedded = annotation.embedded();
        this.live = javaType.isInterface();
        try {
            this.lookup = MethodHandles.privateLookupIn(javaType, MethodHandles.lookup());
            if (live) {
                readInterface();
            } else if (javaType.isRecord()) {
                readRecord();
            } else {
                readClass();
            }
        } catch (ReflectiveOperationException error) {
            throw invalid("cannot be read: " + error);
        }
        if (properties.isEmpty()) {
            throw invalid("has no properties");
        }
        Property found = null;
        for (Property property : properties) {
            if (property.schema.primaryKey()) {
                if (found != null) {
                    throw invalid("has two primary keys");
                }
                found = property;
            }
        }
        this.primaryKey = found;
    }

    /** Whether a class, or the interface of a live object, has the annotation. */
    static boolean isModel(Class<?> type) {
        return type.isAnnotationPresent(RealmClass.class);
    }

    @SuppressWarnings("unchecked")
    static <T> Model<T> of(Class<T> type) {
        if (!isModel(type)) {
            throw new RealmException(ErrorCode.INVALID_ARGUMENT, type.getName() + " has no annotation @RealmClass");
        }
        return (Model<T>) MODELS.get(type);
    }

    private RealmException invalid(String problem) {
        return new RealmException(ErrorCode.SCHEMA_VALIDATION_FAILED,
                "the class " + javaType.getName() + " " + problem);
    }

    ClassSchema schema() {
        List<PropertySchema> schemas = new ArrayList<>();
        for (Property property : properties) {
            schemas.add(property.schema);
        }
        return new ClassSchema(name, embedded, schemas);
    }

    /** Adds a model and those that it links to. */
    static void collect(Class<?> type, Map<String, ClassSchema> into) {
        Model<?> model = of(type);
        if (into.putIfAbsent(model.name, model.schema()) == null) {
            for (Property property : model.properties) {
                if (property.origin != null) {
                    collect(property.origin, into);
                } else if (property.kind.type == PropertyType.OBJECT && isModel(property.kind.javaType)) {
                    collect(property.kind.javaType, into);
                }
            }
        }
    }

    // ---- reading classes ----

    private void readRecord() throws ReflectiveOperationException {
        List<MethodHandle> readers = new ArrayList<>();
        List<Class<?>> types = new ArrayList<>();
        for (RecordComponent component : javaType.getRecordComponents()) {
            Method accessor = component.getAccessor();
            accessor.setAccessible(true);
            Property property = property(component.getName(), component.getType(), component.getGenericType(),
                    List.of(component, accessor));
            compile(property, lookup.unreflect(accessor));
            types.add(component.getType());
        }
        Constructor<T> made = javaType.getDeclaredConstructor(types.toArray(Class<?>[]::new));
        made.setAccessible(true);
        compileConstructor(lookup.unreflectConstructor(made));
    }

    private void readClass() throws ReflectiveOperationException {
        List<Field> fields = new ArrayList<>();
        for (Class<?> type = javaType; type != null && type != Object.class; type = type.getSuperclass()) {
            List<Field> own = new ArrayList<>();
            for (Field field : type.getDeclaredFields()) {
                int modifiers = field.getModifiers();
                boolean stored = !Modifier.isStatic(modifiers) && !Modifier.isTransient(modifiers)
                        && !field.isSynthetic() && !field.isAnnotationPresent(Ignore.class);
                if (stored) {
                    own.add(field);
                }
            }
            fields.addAll(0, own);
        }
        List<Class<?>> types = new ArrayList<>();
        for (Field field : fields) {
            field.setAccessible(true);
            Property property = property(field.getName(), field.getType(), field.getGenericType(), List.of(field));
            compile(property, lookup.unreflectGetter(field));
            types.add(field.getType());
            if (!Modifier.isFinal(field.getModifiers())) {
                property.setter = lookup.unreflectSetter(field)
                        .asType(MethodType.methodType(void.class, Object.class, Object.class));
            }
        }
        Constructor<?> empty = null;
        Constructor<?> full = null;
        for (Constructor<?> candidate : javaType.getDeclaredConstructors()) {
            if (candidate.getParameterCount() == 0) {
                empty = candidate;
            } else if (List.of(candidate.getParameterTypes()).equals(types)) {
                full = candidate;
            }
        }
        boolean settable = properties.stream().allMatch(property -> property.setter != null);
        if (full != null) {
            full.setAccessible(true);
            compileConstructor(lookup.unreflectConstructor(full));
        } else if (empty != null && settable) {
            empty.setAccessible(true);
            constructor = lookup.unreflectConstructor(empty).asType(MethodType.methodType(Object.class));
        } else {
            throw invalid("needs a constructor without parameters and no final field, or one with all fields in their "
                    + "order");
        }
    }

    private void readInterface() {
        List<Method> getters = new ArrayList<>();
        for (Method method : javaType.getMethods()) {
            if (Modifier.isAbstract(method.getModifiers()) && method.getParameterCount() == 0
                    && method.getReturnType() != void.class && !method.isAnnotationPresent(Ignore.class)) {
                getters.add(method);
            }
        }
        // getMethods() has no order; the order of the file must not depend on it.
        getters.sort(Comparator.comparing(Method::getName));
        for (Method method : getters) {
            property(propertyName(method), method.getReturnType(), method.getGenericReturnType(), List.of(method));
        }
    }

    /** The property of a getter: name(), getName() or isName(), which belongs to the property isName in Kotlin. */
    static String propertyName(Method method) {
        String name = method.getName();
        if (name.startsWith("is") && KotlinTypes.isKotlin(method.getDeclaringClass())) {
            return name;
        }
        boolean asks = name.startsWith("is") && method.getReturnType() == boolean.class;
        int prefix = name.startsWith("get") ? 3 : asks ? 2 : 0;
        if (prefix > 0 && name.length() > prefix && Character.isUpperCase(name.charAt(prefix))) {
            return Character.toLowerCase(name.charAt(prefix)) + name.substring(prefix + 1);
        }
        return name;
    }

    private static <A extends Annotation> A annotation(List<? extends AnnotatedElement> places, Class<A> type) {
        for (AnnotatedElement place : places) {
            A found = place.getAnnotation(type);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private Property property(String javaName, Class<?> type, Type generic, List<? extends AnnotatedElement> places) {
        StoredAs stored = annotation(places, StoredAs.class);
        Backlinks backlinks = annotation(places, Backlinks.class);
        String storedName = stored == null ? javaName : stored.value();
        CollectionType collection = collectionOf(type);
        Class<?> element = collection == CollectionType.NONE ? type : element(generic, javaName);
        Kind kind = Kind.of(element);
        if (kind == null) {
            throw invalid("has the property " + javaName + " of a type that a realm does not store: "
                    + element.getName());
        }
        PropertySchema schema;
        Class<?> origin = null;
        if (backlinks != null) {
            origin = backlinks.of();
            schema = PropertySchema.backlinks(storedName, classNameOf(origin), backlinks.property());
        } else {
            boolean linked = kind.type == PropertyType.OBJECT;
            String target = !linked ? "" : element == RealmObject.class ? "" : classNameOf(element);
            if (linked && target.isEmpty()) {
                throw invalid("has the link " + javaName + " to RealmObject, not to a class");
            }
            boolean nullable = kind.type == PropertyType.MIXED || (linked
                    ? collection == CollectionType.NONE || collection == CollectionType.DICTIONARY
                    : isNullable(javaName, type, generic, collection, places));
            schema = new PropertySchema(storedName, javaName, kind.type, collection, target, "", nullable,
                    annotation(places, PrimaryKey.class) != null, annotation(places, Indexed.class) != null,
                    annotation(places, FullText.class) != null, -1);
        }
        boolean single = schema.collection() == CollectionType.NONE;
        Property property = new Property(javaName, type, kind, schema, origin, single ? columns++ : -1);
        linked |= kind.type == PropertyType.OBJECT;
        simple &= single && kind.type != PropertyType.OBJECT && kind.type != PropertyType.MIXED;
        properties.add(property);
        return property;
    }

    private static String classNameOf(Class<?> type) {
        RealmClass annotation = type.getAnnotation(RealmClass.class);
        return annotation == null ? "" : annotation.name().isEmpty() ? type.getSimpleName() : annotation.name();
    }

    private boolean isNullable(String property, Class<?> type, Type generic, CollectionType collection,
            List<? extends AnnotatedElement> places) {
        if (type.isPrimitive() || annotation(places, Required.class) != null) {
            return false;
        }
        Boolean declared = KotlinTypes.isNullable(javaType, property, collection != CollectionType.NONE);
        return declared == null ? collection == CollectionType.NONE : declared;
    }

    private static CollectionType collectionOf(Class<?> type) {
        if (Set.class.isAssignableFrom(type)) {
            return CollectionType.SET;
        }
        if (Map.class.isAssignableFrom(type)) {
            return CollectionType.DICTIONARY;
        }
        boolean many = Collection.class.isAssignableFrom(type) || type == Results.class;
        return many ? CollectionType.LIST : CollectionType.NONE;
    }

    private Class<?> element(Type generic, String property) {
        if (generic instanceof ParameterizedType parameterized) {
            Type[] arguments = parameterized.getActualTypeArguments();
            if (arguments.length == 2 && arguments[0] != String.class) {
                throw invalid("has the dictionary " + property + " whose keys are no strings");
            }
            Type last = arguments[arguments.length - 1];
            if (last instanceof WildcardType wildcard) {
                last = wildcard.getUpperBounds()[0];
            }
            if (last instanceof Class<?> type) {
                return type;
            }
            if (last instanceof ParameterizedType nested) {
                return (Class<?>) nested.getRawType();
            }
        }
        throw invalid("has the collection " + property + " without the type of its elements");
    }

    // ---- copies ----

    private void compile(Property property, MethodHandle getter) {
        property.getter = getter.asType(MethodType.methodType(Object.class, Object.class));
        MethodHandle writer = Kind.primitiveWriter(property.javaType);
        if (writer != null) {
            Class<?> written = writer.type().parameterType(1);
            MethodHandle typed = getter.asType(MethodType.methodType(written, Object.class));
            // (ValueWriter, Object): the getter's result is the second argument of the writer.
            property.encoder = MethodHandles.filterArguments(writer, 1, typed);
        }
    }

    /** Makes the reader of a copy whose constructor takes all properties: (Values, int first, Object[] others). */
    private void compileConstructor(MethodHandle full) {
        if (properties.size() > MOST_TYPED) {
            constructor = MethodHandles.dropArguments(full.asType(full.type().generic())
                    .asSpreader(Object[].class, properties.size()), 0, Values.class, int.class);
            return;
        }
        MethodHandle reader = full.asType(full.type().changeReturnType(Object.class));
        try {
            MethodHandle item = MethodHandles.arrayElementGetter(Object[].class);
            MethodHandle sum = MethodHandles.lookup().findStatic(Math.class, "addExact",
                    MethodType.methodType(int.class, int.class, int.class));
            int count = properties.size();
            // Replaces each parameter, from the last one to the first, by a reader of (Values, int, Object[]).
            for (int index = count - 1; index >= 0; index--) {
                Class<?> type = properties.get(index).javaType;
                MethodHandle value = Kind.primitiveReader(type);
                MethodHandle part;
                if (value != null) {
                    MethodHandle at = MethodHandles.insertArguments(sum, 1, properties.get(index).column);
                    part = MethodHandles.dropArguments(MethodHandles.filterArguments(value, 1, at), 2, Object[].class);
                } else {
                    MethodHandle other = MethodHandles.insertArguments(item, 1, index);
                    part = MethodHandles.dropArguments(other.asType(MethodType.methodType(type, Object[].class)), 0,
                            Values.class, int.class);
                }
                reader = MethodHandles.collectArguments(reader, index, part);
            }
            int[] order = new int[count * 3];
            for (int index = 0; index < order.length; index++) {
                order[index] = index % 3;
            }
            constructor = MethodHandles.permuteArguments(reader,
                    MethodType.methodType(Object.class, Values.class, int.class, Object[].class), order);
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }

    /** Whether the constructor takes a property from the values, not from the array of objects. */
    boolean isTyped(Property property) {
        return property.javaType.isPrimitive() && properties.size() <= MOST_TYPED;
    }

    /** Whether copies are made by a constructor with all properties. */
    boolean hasFullConstructor() {
        return constructor.type().parameterCount() == 3;
    }

    /** A copy. values: those of the primitive properties; others: of all other ones. */
    Object copy(Values values, int first, Object[] others) {
        try {
            return (Object) constructor.invokeExact(values, first, others);
        } catch (RuntimeException | Error error) {
            throw error;
        } catch (Throwable error) {
            throw new RealmException(ErrorCode.CALLBACK,
                    "the constructor of " + javaType.getName() + " failed: " + error);
        }
    }

    Object emptyCopy() {
        try {
            return (Object) constructor.invokeExact();
        } catch (RuntimeException | Error error) {
            throw error;
        } catch (Throwable error) {
            throw new RealmException(ErrorCode.CALLBACK,
                    "the constructor of " + javaType.getName() + " failed: " + error);
        }
    }

    static Object get(Property property, Object copy) {
        try {
            return (Object) property.getter.invokeExact(copy);
        } catch (RuntimeException | Error error) {
            throw error;
        } catch (Throwable error) {
            throw new AssertionError(error);
        }
    }

    static void set(Property property, Object copy, Object value) {
        try {
            property.setter.invokeExact(copy, value);
        } catch (RuntimeException | Error error) {
            throw error;
        } catch (Throwable error) {
            throw new AssertionError(error);
        }
    }

    static void encode(Property property, Object copy, ValueWriter writer) {
        try {
            property.encoder.invokeExact(writer, copy);
        } catch (RuntimeException | Error error) {
            throw error;
        } catch (Throwable error) {
            throw new AssertionError(error);
        }
    }

    // ---- live objects ----

    /** A live object of an interface. */
    @SuppressWarnings("unchecked")
    T live(Realm realm, Bound<T> bound, long key) {
        MethodHandle made = liveConstructor;
        if (made == null) {
            made = LiveClass.define(this, lookup);
            liveConstructor = made;
        }
        try {
            return (T) (Object) made.invokeExact(realm, (Bound<?>) bound, key);
        } catch (RuntimeException | Error error) {
            throw error;
        } catch (Throwable error) {
            throw new AssertionError(error);
        }
    }
}
