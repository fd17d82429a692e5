package org.crealm;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a model: a class whose objects a realm stores.
 *
 * <p>A record or class is a copy of an object, an interface is a live object. Properties are the components of a
 * record, the fields of a class, and the getters of an interface: name() or getName(), with setters name(value) or
 * setName(value). Primitive types are required, other ones may be null unless they are {@link Required}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface RealmClass {
    /** The name of the class in the file; without one, the simple name of the Java class. */
    String name() default "";

    /** Objects live in exactly one parent, and are deleted with it. */
    boolean embedded() default false;
}
