package org.crealm.test;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.crealm.Backlinks;
import org.crealm.Decimal128;
import org.crealm.FullText;
import org.crealm.Ignore;
import org.crealm.Indexed;
import org.crealm.ObjectId;
import org.crealm.PrimaryKey;
import org.crealm.RealmClass;
import org.crealm.RealmList;
import org.crealm.Required;
import org.crealm.Results;
import org.crealm.StoredAs;

/** The models of the tests. */
final class Models {
    private Models() {}

    @RealmClass
    record Person(@PrimaryKey long id, @Indexed String name, int age) {}

    /** The same class of the file as a live object. */
    @RealmClass(name = "Person")
    interface LivePerson {
        @PrimaryKey
        long id();

        @Indexed
        String name();

        void name(String value);

        int age();

        void age(int value);

        default String greeting() {
            return "Hello " + name();
        }
    }

    /** Every type. */
    @RealmClass
    static class Types {
        @PrimaryKey
        ObjectId key;
        long number;
        int small;
        short shorter;
        byte shortest;
        Long maybe;
        boolean truth;
        Boolean perhaps;
        float real;
        double precise;
        Double unsure;
        @Required
        String text = "";
        @FullText
        String words;
        byte[] bytes;
        Instant time;
        Decimal128 decimal;
        BigDecimal big;
        ObjectId id;
        UUID uuid;
        Object any;
        @StoredAs("stored_name")
        String shown;
        @Ignore
        String ignored = "kept";
        transient String passing;
    }

    @RealmClass
    static class Owner {
        @PrimaryKey
        long id;
        String name;
        Dog favourite;
        List<Dog> dogs = new ArrayList<>();
        Set<String> tags = Set.of();
        Map<String, Integer> scores = Map.of();
        List<Long> numbers = List.of();
        Address home;
        List<Address> places = List.of();
    }

    @RealmClass
    static class Dog {
        @PrimaryKey
        String name;
        Owner owner;
        @Backlinks(of = Owner.class, property = "dogs")
        List<Owner> owners;
    }

    @RealmClass(embedded = true)
    static class Address {
        String street;
        int number;

        Address() {}

        Address(String street, int number) {
            this.street = street;
            this.number = number;
        }
    }

    /** A graph of live objects. */
    @RealmClass
    interface Node {
        @PrimaryKey
        long getId();

        String getName();

        void setName(String value);

        boolean isActive();

        void setActive(boolean value);

        double getWeight();

        void setWeight(double value);

        float getSmall();

        void setSmall(float value);

        Node getNext();

        void setNext(Node value);

        RealmList<Node> getChildren();

        void setChildren(RealmList<Node> value);

        Set<String> getTags();

        Map<String, Object> getExtras();

        Object getAny();

        void setAny(Object value);

        Instant getTime();

        void setTime(Instant value);

        @Backlinks(of = Node.class, property = "children")
        Results<Node> getParents();
    }

    /** A record with links and collections. */
    @RealmClass
    record Album(@PrimaryKey String title, Instant released, List<Track> tracks, Map<String, String> notes) {}

    @RealmClass
    record Track(@PrimaryKey String title, Double seconds) {}

    /** A record that may contain itself. */
    @RealmClass
    record Chain(@PrimaryKey long id, Chain next) {}

    /** The types that a batch takes. */
    @RealmClass
    record Everything(@PrimaryKey UUID id, int number, boolean truth, float real, double precise, String text,
            byte[] bytes, Long maybe, Boolean perhaps, Decimal128 decimal, ObjectId objectId, UUID other) {
        /** The same with other bytes: arrays are not compared by their elements. */
        Everything without(byte[] others) {
            return new Everything(id, number, truth, real, precise, text, others, maybe, perhaps, decimal, objectId,
                    other);
        }
    }
}
