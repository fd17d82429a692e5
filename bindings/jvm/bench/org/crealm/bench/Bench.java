package org.crealm.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.crealm.PrimaryKey;
import org.crealm.Realm;
import org.crealm.RealmClass;

/**
 * Times of the package beside sqlite-jdbc, in nanoseconds for an object: the median of rounds, which alternate. Both
 * write to the disk at the end of a transaction; SQLite uses its write-ahead log and full synchronisation.
 *
 * <p>Bench [objects] [rounds]
 */
public final class Bench {
    /** A person as a copy. */
    @RealmClass
    public record Person(@PrimaryKey long id, String name, int age) {}

    /** A person as a live object. */
    @RealmClass(name = "Person")
    public interface LivePerson {
        @PrimaryKey
        long id();

        String name();

        int age();

        void age(int value);
    }

    private static int count;
    private static int rounds;
    private static Path folder;

    private Bench() {}

    public static void main(String[] arguments) throws Exception {
        count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200_000;
        rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
        folder = Files.createTempDirectory("crealm-bench");
        Realm realm = Realm.open(folder.resolve("bench.realm").toString(), Person.class);
        Connection sqlite = connect();
        Runnable empty = () -> {
            realm.write(() -> realm.all(Person.class).deleteAll());
            sqliteDelete(sqlite);
        };
        row("insert, one call each, with commit", empty, () -> realmInsert(realm),
                sqlite == null ? null : () -> sqliteInsert(sqlite));
        row("insert, createAll, with commit", empty, () -> realmInsertAll(realm),
                sqlite == null ? null : () -> sqliteInsert(sqlite));
        row("look-up by primary key, and the name", () -> realmFind(realm),
                sqlite == null ? null : () -> sqliteFind(sqlite));
        row("loop, two properties, records", () -> realmRecords(realm),
                sqlite == null ? null : () -> sqliteLoop(sqlite));
        row("loop, two properties, live objects", () -> realmLive(realm),
                sqlite == null ? null : () -> sqliteLoop(sqlite));
        LivePerson person = realm.find(LivePerson.class, count / 2);
        row("one int of a live object", () -> {
            long sum = 0;
            for (int index = 0; index < count; index++) {
                sum += person.age();
            }
            return sum;
        }, null);
        realm.close();
        if (sqlite != null) {
            sqlite.close();
        }
        for (Path file : Files.walk(folder).sorted((one, other) -> other.compareTo(one)).toList()) {
            Files.delete(file);
        }
    }

    private static Connection connect() throws SQLException, IOException {
        try {
            Connection connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("bench.sqlite"));
            try (Statement statement = connection.createStatement()) {
                statement.execute("PRAGMA journal_mode = WAL");
                statement.execute("PRAGMA synchronous = FULL");
                statement.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)");
            }
            connection.setAutoCommit(false);
            return connection;
        } catch (SQLException absent) {
            System.out.println("sqlite-jdbc is not there: " + absent.getMessage());
            return null;
        }
    }

    private static long median(List<Long> times) {
        times.sort(null);
        return times.get(times.size() / 2);
    }

    private static void row(String name, LongSupplier ours, LongSupplier theirs) {
        row(name, () -> { }, ours, theirs);
    }

    /** before: runs before each round, and is not measured. */
    private static void row(String name, Runnable before, LongSupplier ours, LongSupplier theirs) {
        List<Long> own = new ArrayList<>();
        List<Long> other = new ArrayList<>();
        for (int round = -1; round < rounds; round++) {
            before.run();
            long start = System.nanoTime();
            long result = ours.getAsLong();
            long middle = System.nanoTime();
            long peer = theirs == null ? result : theirs.getAsLong();
            long end = System.nanoTime();
            if (result != peer) {
                throw new AssertionError(name + ": " + result + " and " + peer);
            }
            if (round >= 0) {
                own.add((middle - start) / count);
                other.add((end - middle) / count);
            }
        }
        double ratio = (double) median(other) / Math.max(1, median(own));
        System.out.println(theirs == null ? String.format("%-38s %6d ns", name, median(own))
                : String.format("%-38s %6d ns   sqlite-jdbc %6d ns   %.1f x", name, median(own), median(other), ratio));
    }

    private static Person person(int index) {
        return new Person(index, "name " + index, index % 100);
    }

    private static long realmInsert(Realm realm) {
        realm.write(() -> {
            for (int index = 0; index < count; index++) {
                realm.create(person(index));
            }
        });
        return count;
    }

    private static long realmInsertAll(Realm realm) {
        realm.write(() -> {
            List<Person> people = new ArrayList<>();
            for (int index = 0; index < count; index++) {
                people.add(person(index));
            }
            realm.createAll(people);
        });
        return count;
    }

    private static void sqliteDelete(Connection sqlite) {
        if (sqlite != null) {
            try (Statement statement = sqlite.createStatement()) {
                statement.execute("DELETE FROM person");
                sqlite.commit();
            } catch (SQLException error) {
                throw new AssertionError(error);
            }
        }
    }

    private static long sqliteInsert(Connection sqlite) {
        try (PreparedStatement insert = sqlite.prepareStatement("INSERT INTO person VALUES (?, ?, ?)")) {
            for (int index = 0; index < count; index++) {
                Person person = person(index);
                insert.setLong(1, person.id());
                insert.setString(2, person.name());
                insert.setInt(3, person.age());
                insert.executeUpdate();
            }
            sqlite.commit();
            return count;
        } catch (SQLException error) {
            throw new AssertionError(error);
        }
    }

    private static long realmFind(Realm realm) {
        long sum = 0;
        for (int index = 0; index < count; index++) {
            sum += realm.find(LivePerson.class, (long) index * 7919 % count).name().length();
        }
        return sum;
    }

    private static long sqliteFind(Connection sqlite) {
        long sum = 0;
        try (PreparedStatement query = sqlite.prepareStatement("SELECT name FROM person WHERE id = ?")) {
            for (int index = 0; index < count; index++) {
                query.setLong(1, (long) index * 7919 % count);
                try (ResultSet rows = query.executeQuery()) {
                    rows.next();
                    sum += rows.getString(1).length();
                }
            }
        } catch (SQLException error) {
            throw new AssertionError(error);
        }
        return sum;
    }

    private static long realmRecords(Realm realm) {
        long sum = 0;
        for (Person person : realm.query(Person.class, "age >= 0")) {
            sum += person.age() + person.name().length();
        }
        return sum;
    }

    private static long realmLive(Realm realm) {
        long sum = 0;
        for (LivePerson person : realm.query(LivePerson.class, "age >= 0")) {
            sum += person.age() + person.name().length();
        }
        return sum;
    }

    private static long sqliteLoop(Connection sqlite) {
        long sum = 0;
        try (PreparedStatement query = sqlite.prepareStatement("SELECT id, name, age FROM person WHERE age >= 0");
                ResultSet rows = query.executeQuery()) {
            while (rows.next()) {
                Person person = new Person(rows.getLong(1), rows.getString(2), rows.getInt(3));
                sum += person.age() + person.name().length();
            }
        } catch (SQLException error) {
            throw new AssertionError(error);
        }
        return sum;
    }
}
