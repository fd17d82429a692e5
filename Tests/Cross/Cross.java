import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.crealm.PrimaryKey;
import org.crealm.Realm;
import org.crealm.RealmClass;
import org.crealm.Results;
import org.crealm.Subscription;

/** A writer and observer of run.py, which describes them.   Cross FILE LEDGER NUMBER */
public final class Cross {
    @RealmClass
    interface Counter {
        @PrimaryKey
        long id();

        long value();

        void value(long value);
    }

    @RealmClass
    record Entry(@PrimaryKey long id, long worker, long number) {}

    private static OutputStream ledger;
    private static boolean told;

    private Cross() {}

    static void note(String line) {
        try {
            ledger.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException error) {
            throw new AssertionError(error);
        }
    }

    private static void tell(Realm realm, Results<Entry> entries, int[] insertions, boolean changed) {
        StringBuilder line = new StringBuilder(told ? "told" : "sees");
        if (!told) {
            told = true;
            for (long id = 0; id < 9; id++) {
                line.append(' ').append(realm.find(Counter.class, id).value());
            }
        }
        for (int place : insertions) {
            Entry entry = entries.get(place);
            line.append(' ').append(entry.worker()).append(':').append(entry.number());
        }
        note(line + (changed ? " changed" : ""));
    }

    public static void main(String[] arguments) throws IOException {
        Path path = Path.of(arguments[0]);
        long own = Long.parseLong(arguments[2]);
        ledger = Files.newOutputStream(Path.of(arguments[1]), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        try (Realm realm = Realm.open(path.toString(), Counter.class, Entry.class)) {
            note("start");
            try (Subscription subscription = realm.all(Entry.class).observe((entries, change) -> tell(realm, entries,
                    change.insertions(), change.deletions().length + change.modifications().length > 0))) {
                while (!Files.exists(path.resolveSibling("stop"))) {
                    long number = realm.write(() -> {
                        Counter counter = realm.find(Counter.class, own);
                        Counter total = realm.find(Counter.class, 0);
                        long next = counter.value() + 1;
                        realm.create(new Entry(own * 1_000_000_000 + next, own, next));
                        counter.value(next);
                        total.value(total.value() + 1);
                        return next;
                    });
                    note("wrote " + number);
                    realm.waitForChanges(Duration.ofMillis(2));
                }
                note("stopped");
                boolean works = true;
                while (!Files.exists(path.resolveSibling("end")) || works) {
                    works = realm.waitForChanges(Duration.ofMillis(200));
                }
                note("end " + realm.all(Entry.class).size());
            }
        }
    }
}
