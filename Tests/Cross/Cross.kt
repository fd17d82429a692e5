import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardOpenOption
import java.util.concurrent.atomic.AtomicInteger
import kotlin.io.path.exists
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.crealm.PrimaryKey
import org.crealm.RealmClass
import org.crealm.kotlin.AsyncRealm
import org.crealm.kotlin.create
import org.crealm.kotlin.find
import org.crealm.kotlin.query

/** A writer and observer of run.py, which describes them.   CrossKt FILE LEDGER NUMBER */

@RealmClass
interface Counter {
    @get:PrimaryKey
    val id: Long
    var value: Long
}

@RealmClass
interface Entry {
    @get:PrimaryKey
    val id: Long
    var worker: Long
    var number: Long
}

fun main(arguments: Array<String>) = runBlocking {
    val path = Path.of(arguments[0])
    val own = arguments[2].toLong()
    val ledger = Files.newOutputStream(Path.of(arguments[1]), StandardOpenOption.CREATE, StandardOpenOption.APPEND)
    fun note(vararg words: Any) = synchronized(ledger) { ledger.write((words.joinToString(" ") + "\n").toByteArray()) }

    val realm = AsyncRealm.open(path.toString(), Counter::class, Entry::class)
    note("start")
    val changes = AtomicInteger()
    val first = CompletableDeferred<Unit>()
    val observer = launch(Dispatchers.Default) {
        realm.observe<Entry>().collect { change ->
            // The rows are those of a frozen realm, so the counters of their version are there, too.
            val frozen = change.results.realm()
            if (changes.incrementAndGet() == 1) {
                note("sees", *Array(9) { frozen.find<Counter>(it.toLong())!!.value })
                first.complete(Unit)
            } else {
                val rows = change.changes.insertions().map { change.results.get(it) }
                val others = change.changes.deletions().size + change.changes.modifications().size
                val entries = rows.map { "${it.worker}:${it.number}" } + if (others > 0) listOf("changed") else listOf()
                note("told", *entries.toTypedArray())
            }
            frozen.close()
        }
    }
    first.await()
    while (!path.resolveSibling("stop").exists()) {
        val number = realm.write {
            val counter = find<Counter>(own)!!
            counter.value += 1
            val next = counter.value
            create<Entry>(own * 1_000_000_000 + next) {
                worker = own
                number = next
            }
            find<Counter>(0L)!!.value += 1
            next
        }
        note("wrote", number)
        delay(2)
    }
    note("stopped")
    do {
        val seen = changes.get()
        delay(300)
    } while (!path.resolveSibling("end").exists() || seen != changes.get())
    note("end", realm.read { query<Entry>().size() })
    observer.cancelAndJoin()
    realm.close()
}
