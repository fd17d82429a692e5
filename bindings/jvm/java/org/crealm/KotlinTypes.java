package org.crealm;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;

/** Asks the Kotlin layer, where it is there, whether a property of a Kotlin class may be null. */
final class KotlinTypes {
    private static final Method QUESTION = question();

    private KotlinTypes() {}

    private static Method question() {
        try {
            return Class.forName("org.crealm.kotlin.Types").getMethod("isNullable", Class.class, String.class,
                    boolean.class);
        } catch (ReflectiveOperationException | LinkageError absent) {
            return null;
        }
    }

    /** Null: the class is not of Kotlin, or the Kotlin layer is not there. element: asks for those of a collection. */
    static Boolean isNullable(Class<?> type, String property, boolean element) {
        if (QUESTION == null || !isKotlin(type)) {
            return null;
        }
        try {
            return (Boolean) QUESTION.invoke(null, type, property, element);
        } catch (ReflectiveOperationException | LinkageError error) {
            return null;
        }
    }

    static boolean isKotlin(Class<?> type) {
        for (Annotation annotation : type.getAnnotations()) {
            if (annotation.annotationType().getName().equals("kotlin.Metadata")) {
                return true;
            }
        }
        return false;
    }
}
