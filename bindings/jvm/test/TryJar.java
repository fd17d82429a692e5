import java.util.List;
import org.crealm.PrimaryKey;
import org.crealm.Realm;
import org.crealm.RealmClass;

/** A program that has the jar only, in an empty folder. */
public final class TryJar {
    /** A model. */
    @RealmClass
    public record Person(@PrimaryKey long id, String name, int age) {}

    private TryJar() {}

    public static void main(String[] arguments) {
        try (Realm realm = Realm.open("people.realm", Person.class)) {
            realm.write(() -> realm.createAll(List.of(new Person(1, "Ann", 31), new Person(2, "Bob", 29))));
            List<Person> found = realm.query(Person.class, "age > $0", 30).toList();
            if (!found.equals(List.of(new Person(1, "Ann", 31)))) {
                throw new AssertionError(found);
            }
        }
    }
}
