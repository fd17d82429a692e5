package org.crealm.test

import java.nio.file.Files
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.flow.transformWhile
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.crealm.ErrorCode
import org.crealm.Indexed
import org.crealm.PrimaryKey
import org.crealm.RealmClass
import org.crealm.RealmException
import org.crealm.kotlin.AsyncRealm
import org.crealm.kotlin.create
import org.crealm.kotlin.find
import org.crealm.kotlin.openRealm
import org.crealm.kotlin.query
import org.crealm.kotlin.writeBlocking

/** The Kotlin layer: models, queries, suspending writes, flows. */

@RealmClass
data class Person(@PrimaryKey val id: Long, @Indexed val name: String, val age: Int, val nick: String? = null)

@RealmClass
interface Cat {
    @get:PrimaryKey
    val id: Long
    var name: String
    var nick: String?
    var isTame: Boolean
    var friend: Cat?
    val kittens: MutableList<Cat>
    val words: MutableList<String?>
}

private var checks = 0

private fun <T> equal(expected: T, found: T) {
    checks++
    check(expected == found) { "expected $expected, found $found" }
}

private fun fails(code: Int, action: () -> Unit) {
    val error = runCatching(action).exceptionOrNull()
    equal(code, (error as? RealmException ?: throw AssertionError("expected the error $code, found $error")).code())
}

private val folder = Files.createTempDirectory("crealm-kotlin")

private var files = 0

private fun file() = folder.resolve("file${files++}.realm").toString()

private fun models() {
    openRealm(file(), Person::class, Cat::class).use { realm ->
        realm.writeBlocking {
            create(Person(1, "Ann", 31))
            create(Person(2, "Bob", 29, "B"))
            val tom = create<Cat>(1L) { name = "Tom" }
            create<Cat>(2L) {
                name = "Kit"
                isTame = true
                friend = tom
                kittens.add(tom)
                words.addAll(listOf("a", null))
            }
        }
        equal(listOf("Ann"), realm.query<Person>("age > $0", 30).map { it.name })
        equal(Person(2, "Bob", 29, "B"), realm.find<Person>(2))
        equal(null, realm.find<Person>(3))
        val kit = realm.find<Cat>(2)!!
        equal("Tom", kit.friend?.name)
        equal(true, kit.isTame)
        equal(listOf("a", null), kit.words.toList())
        equal(1, realm.query<Cat>("isTame == true").size())
        equal(listOf(false, true), listOf("name", "nick").map { realm.schema("Person").property(it).nullable() })
        fails(ErrorCode.PROPERTY_NOT_NULLABLE) { realm.writeBlocking { find("Person", 1).set("name", null) } }
        equal(2, realm.query<Person>().size())
    }
}

private fun flows() = runBlocking {
    val realm = AsyncRealm.open(file(), Person::class)
    val names = async(Dispatchers.Default) {
        realm.observe<Person>("age > $0", 10)
            .map { change -> change.results.map { it.name } to change.changes.insertions().toList() }
            .transformWhile { emit(it); it.first.size < 2 }.toList()
    }
    realm.observe<Person>().first()
    realm.write { create(Person(1, "Ann", 31)) }
    withTimeout(20_000) { realm.observe<Person>().first { it.results.size() == 1 } }
    realm.write { create(Person(2, "Bob", 29)) }
    val seen = withTimeout(20_000) { names.await() }
    equal(listOf("Ann", "Bob"), seen.last().first)
    // Coroutines of all threads write; each write is a transaction.
    (10L until 60L).map { id -> async(Dispatchers.Default) { realm.write { create(Person(id, "x", 1)) } } }.awaitAll()
    equal(52, realm.read { query<Person>().size() })
    val changes = async(Dispatchers.Default) {
        realm.observeObject { find("Person", 1) }.toList().map { it.live?.getString("name") to it.changes.deleted() }
    }
    realm.observeObject { find("Person", 1) }.take(1).toList()
    realm.write { find("Person", 1).set("name", "Anna") }
    realm.read { refresh() }
    realm.write { find("Person", 1).delete() }
    equal(null to true, withTimeout(20_000) { changes.await() }.last())
    val failure = runCatching { realm.write { throw IllegalStateException("of a write") } }.exceptionOrNull()
    equal("of a write", failure?.message)
    equal(51, realm.read { query<Person>().size() })
    val running = List(3) { async(Dispatchers.Default) { realm.observe<Person>().toList() } }
    realm.observe<Person>().first()
    delay(100)
    realm.close()
    equal(true, realm.realm.isClosed)
    // The flows of a closed realm end, and its calls say so.
    withTimeout(20_000) { running.awaitAll() }
    fails(ErrorCode.CLOSED_REALM) { runBlocking { realm.write { } } }
    fails(ErrorCode.CLOSED_REALM) { runBlocking { realm.read { } } }
    fails(ErrorCode.CLOSED_REALM) { runBlocking { realm.observe<Person>().toList() } }
    realm.close()
}

fun main() {
    org.crealm.Realm.setLogLevel(6)
    try {
        models()
        flows()
    } finally {
        folder.toFile().deleteRecursively()
    }
    println("Kotlin: $checks checks, 0 failed")
}
