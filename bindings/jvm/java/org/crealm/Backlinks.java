package org.crealm;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The objects that link here by a property of another class. They are computed, and have no place in the file. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.RECORD_COMPONENT})
public @interface Backlinks {
    /** The class that has the links. */
    Class<?> of();

    /** The stored name of its property. */
    String property();
}
