package org.crealm.kotlin

import java.util.function.Consumer
import java.util.function.Supplier
import org.crealm.Realm
import org.crealm.RealmBuilder
import org.crealm.RealmObject
import org.crealm.Results

/** Opens a file with models, and those they link to: `openRealm("people.realm", Person::class)`. */
fun openRealm(path: String, vararg models: kotlin.reflect.KClass<*>, configure: RealmBuilder.() -> Unit = {}): Realm =
    realmBuilder(path, *models).apply(configure).open()

internal fun realmBuilder(path: String, vararg models: kotlin.reflect.KClass<*>): RealmBuilder {
    val builder = Realm.builder(path)
    return if (models.isEmpty()) builder else builder.schema(*models.map { it.java }.toTypedArray())
}

/** The objects that meet a condition: `realm.query<Person>("age > $0", 30)`. Without one, all objects. */
inline fun <reified T : Any> Realm.query(condition: String, vararg arguments: Any?): Results<T> =
    query(T::class.java, condition, *arguments)

inline fun <reified T : Any> Realm.query(): Results<T> = all(T::class.java)

/** The object with a primary key, or null. */
inline fun <reified T : Any> Realm.find(primaryKey: Any?): T? = find(T::class.java, primaryKey)

/** Makes an object of an interface, and sets its properties. */
inline fun <reified T : Any> Realm.create(primaryKey: Any? = null, noinline properties: T.() -> Unit = {}): T =
    create(T::class.java, primaryKey, Consumer { it.properties() })

/** Runs a block in a write transaction, which is committed at its end, and rolled back after an exception. */
fun <R> Realm.writeBlocking(block: Realm.() -> R): R {
    var result: Result<R>? = null
    write(Supplier { result = Result.success(block()) })
    return result!!.getOrThrow()
}

/** A live object of an interface as [RealmObject]. */
fun Any.asRealmObject(): RealmObject = RealmObject.of(this)

/** Deletes a live object, or the object with the primary key of a copy. */
fun Realm.delete(vararg objects: Any) = objects.forEach { delete(it) }
