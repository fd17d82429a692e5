package org.crealm.kotlin

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import kotlin.reflect.KClass
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.ProducerScope
import kotlinx.coroutines.channels.awaitClose
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.callbackFlow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.crealm.CollectionChanges
import org.crealm.ErrorCode
import org.crealm.ObjectChanges
import org.crealm.Realm
import org.crealm.RealmBuilder
import org.crealm.RealmException
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

    /** The flows that are collected. They end when the realm is closed. */
    private val flows: MutableSet<ProducerScope<*>> = ConcurrentHashMap.newKeySet()

    /** Runs a block in a write transaction. Fails with CLOSED_REALM after [close]. */
    suspend fun <R> write(block: Realm.() -> R): R = run { realm.writeBlocking(block) }

    /** Runs a block that reads. Live objects may be used in such blocks only. Fails with CLOSED_REALM after [close]. */
    suspend fun <R> read(block: Realm.() -> R): R = run { realm.block() }

    private suspend fun <R> run(block: () -> R): R {
        try {
            return withContext(owned) { block() }
        } catch (error: CancellationException) {
            // A dispatcher that has ended cancels its tasks, as if the caller had been cancelled.
            currentCoroutineContext().ensureActive()
            if (realm.isClosed) {
                throw RealmException(ErrorCode.CLOSED_REALM, "Cannot access realm that has been closed.")
            }
            throw error
        }
    }

    /**
     * The rows of a query, now and after each change, until the realm is closed. A collector that is slow gets all
     * changes, later.
     */
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
            begin(subscription)
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
            begin(subscription)
        }.buffer(Channel.UNLIMITED).flowOn(owned)

    /** Sends what is there now, and suspends until the flow ends. */
    private suspend fun ProducerScope<*>.begin(subscription: AutoCloseable) {
        flows.add(this)
        realm.refresh()
        awaitClose {
            flows.remove(this)
            close(subscription)
        }
    }

    /** A flow ends on any thread; its subscription ends on the realm's, or with the realm. */
    private fun close(subscription: AutoCloseable) {
        try {
            owned.executor.execute(subscription::close)
        } catch (_: RejectedExecutionException) {
            // The realm was closed.
        }
    }

    /** Closes the realm, and ends its flows and its dispatcher. Closing again does nothing. */
    suspend fun close() {
        try {
            withContext(owned) {
                realm.close()
                flows.forEach { it.channel.close() }
            }
        } catch (error: CancellationException) {
            currentCoroutineContext().ensureActive()
            if (!realm.isClosed) {
                throw error
            }
        }
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
