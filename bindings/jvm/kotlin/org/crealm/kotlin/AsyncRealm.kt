package org.crealm.kotlin

import java.util.concurrent.Executors
import kotlin.reflect.KClass
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.awaitClose
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.callbackFlow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.crealm.CollectionChanges
import org.crealm.ObjectChanges
import org.crealm.Realm
import org.crealm.RealmBuilder
import org.crealm.RealmObject
import org.crealm.Results

/** Rows after a change, in a frozen realm: every thread may read them. The first one of a flow has no changes. */
class ResultsChange<T>(val results: Results<T>, val changes: CollectionChanges)

/** An object after a change, in a frozen realm; null: it was deleted. */
class ObjectChange(val live: RealmObject?, val changes: ObjectChanges)

/**
 * A realm with a dispatcher of its own, for coroutines. All work on the realm runs there, one task at a time; the
 * functions here suspend, and may be called on every thread.
 */
class AsyncRealm private constructor(
    val realm: Realm,
    private val owned: ExecutorCoroutineDispatcher,
) {
    val dispatcher: CoroutineDispatcher get() = owned

    /** Runs a block in a write transaction. */
    suspend fun <R> write(block: Realm.() -> R): R = withContext(owned) { realm.writeBlocking(block) }

    /** Runs a block that reads. Live objects may be used in such blocks only. */
    suspend fun <R> read(block: Realm.() -> R): R = withContext(owned) { realm.block() }

    /** The rows of a query, now and after each change. A collector that is slow gets all changes, later. */
    inline fun <reified T : Any> observe(
        condition: String = "TRUEPREDICATE",
        vararg arguments: Any?,
        keyPaths: List<String> = emptyList(),
    ): Flow<ResultsChange<T>> = observe(keyPaths) { query(T::class.java, condition, *arguments) }

    /** The same for rows that a block makes. */
    fun <T> observe(keyPaths: List<String> = emptyList(), rows: Realm.() -> Results<T>): Flow<ResultsChange<T>> =
        callbackFlow {
            val subscription = realm.rows().observe(
                { results, changes -> trySend(ResultsChange(results.`in`(realm.freeze()), changes)) },
                *keyPaths.toTypedArray(),
            )
            realm.refresh()
            awaitClose { close(subscription) }
        }.buffer(Channel.UNLIMITED).flowOn(owned)

    /** An object that a block finds, now and after each change, until it is deleted. */
    fun observeObject(find: Realm.() -> RealmObject): Flow<ObjectChange> =
        callbackFlow {
            val subscription = realm.find().observe({ live, changes ->
                trySend(ObjectChange(if (changes.deleted()) null else live.`in`(realm.freeze()), changes))
                if (changes.deleted()) {
                    channel.close()
                }
            })
            realm.refresh()
            awaitClose { close(subscription) }
        }.buffer(Channel.UNLIMITED).flowOn(owned)

    /** A flow ends on any thread; its subscription ends on the realm's. */
    private fun close(subscription: AutoCloseable) {
        if (!realm.isClosed) {
            owned.executor.execute(subscription::close)
        }
    }

    /** Closes the realm, and ends its dispatcher. */
    suspend fun close() {
        withContext(owned) { realm.close() }
        owned.close()
    }

    companion object {
        /** Opens a file with models, and those they link to. */
        suspend fun open(
            path: String,
            vararg models: KClass<*>,
            configure: RealmBuilder.() -> Unit = {},
        ): AsyncRealm {
            val executor = Executors.newSingleThreadExecutor { Thread(it, "CRealm $path").apply { isDaemon = true } }
            val dispatcher = executor.asCoroutineDispatcher()
            try {
                val realm = withContext(dispatcher) {
                    realmBuilder(path, *models).apply(configure).executor(executor).open()
                }
                return AsyncRealm(realm, dispatcher)
            } catch (error: Throwable) {
                dispatcher.close()
                throw error
            }
        }
    }
}
