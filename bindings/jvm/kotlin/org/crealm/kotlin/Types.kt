package org.crealm.kotlin

import kotlin.reflect.full.memberProperties

/** Tells the models which properties of a Kotlin class may be null. */
object Types {
    /** Null: the class has no such property. element: asks for the elements of a collection. */
    @JvmStatic
    fun isNullable(type: Class<*>, property: String, element: Boolean): Boolean? {
        val declared = type.kotlin.memberProperties.find { it.name == property }?.returnType ?: return null
        return if (element) declared.arguments.lastOrNull()?.type?.isMarkedNullable else declared.isMarkedNullable
    }
}
