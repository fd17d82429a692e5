// The model of the model test: Realm's C API over plain containers in memory.
//
// Goal: compute in the simplest way the content of a database after a history of calls, so that the library, with its
// bytes, trees and files, can be compared with it. Method: this file exports only those functions of realm.h that the
// driver of the test (ops.c) calls; run.py runs the driver with the same seeded history on the model and on the
// library, and compares the results.
//
// * A database is a map from object keys to objects for each class; an object is a list of values; a
//   list is a vector, a dictionary a map, a set a vector in ascending order. Nothing is shared, so a copy is a
//   snapshot: beginning a write transaction makes one, rolling back restores it.
// * Deleting an object searches the whole database for links to it. No backlinks, no indexes.
// * Databases live as long as the process, under their path. realm_close() writes the content to
//   `<path>.json`, byte for byte what dump.c prints for a file with this content.
// * Handles point straight into the containers. The driver keeps no handle beyond its transaction and does not change a
//   collection while it uses one that is nested in it; the handles support no more.
// * The driver makes no mistakes, so there are no error codes: a call that the model does not expect
//   ends the process.
//
// Sources of the rules: logical §4.3 and §4.4 (object keys), §8 (collections, links, deletion), §12 (order); realm.h
// for what each function does.
#include <realm.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace {

void require(bool condition, const char* what) {
    if (condition) return;
    fprintf(stderr, "model: %s\n", what);
    abort();
}

// ------------------------------------------------------------------------------------------------
// Values

// Any value of a property or an element. The type determines the member that is used: bytes for strings and binaries,
// elements for lists and sets, pairs for dictionaries, else scalar.
struct Value {
    realm_value_type_e type = RLM_TYPE_NULL;
    realm_value_t scalar = {};
    std::string bytes;
    std::vector<Value> elements;
    std::map<std::string, Value> pairs; // std::string compares as memcmp() does
};

Value of_type(realm_value_type_e type) {
    Value value;
    value.type = type;
    value.scalar.type = type;
    return value;
}

Value link_to(realm_class_key_t class_key, realm_object_key_t object) {
    Value value = of_type(RLM_TYPE_LINK);
    value.scalar.link.target_table = class_key;
    value.scalar.link.target = object;
    return value;
}

Value copied(const realm_value_t& from) {
    require(from.type != RLM_TYPE_LIST && from.type != RLM_TYPE_DICTIONARY, "a collection is not passed as a value");
    Value value = of_type(from.type);
    if (from.type == RLM_TYPE_STRING)
        value.bytes.assign(from.string.data, from.string.size);
    else if (from.type == RLM_TYPE_BINARY)
        value.bytes.assign(reinterpret_cast<const char*>(from.binary.data), from.binary.size);
    else
        value.scalar = from;
    return value;
}

bool is_link_to(const Value& value, realm_class_key_t class_key, realm_object_key_t object) {
    return value.type == RLM_TYPE_LINK && value.scalar.link.target_table == class_key &&
           value.scalar.link.target == object;
}

// ------------------------------------------------------------------------------------------------
// Numbers: those of all types are compared by value

// The parts of a decimal number: (-1)^negative * coefficient * 10^exponent. The driver makes neither NaN nor infinity.
struct Decimal {
    bool negative = false;
    unsigned __int128 coefficient = 0; // below 10^34
    int exponent = 0;
};

Decimal from_decimal128(realm_decimal128_t stored) {
    require((stored.w[1] >> 61 & 3) != 3, "a decimal of the usual form");
    Decimal decimal;
    decimal.negative = stored.w[1] >> 63;
    decimal.exponent = int(stored.w[1] >> 49 & 0x3fff) - 6176;
    decimal.coefficient = (unsigned __int128)(stored.w[1] & 0x1ffffffffffff) << 64 | stored.w[0];
    return decimal;
}

Decimal from_integer(int64_t number) {
    Decimal decimal;
    decimal.negative = number < 0;
    decimal.coefficient = number < 0 ? -(uint64_t)number : (uint64_t)number;
    return decimal;
}

Decimal from_binary(double number, int digits) {
    Decimal decimal;
    decimal.negative = number < 0;
    char text[64]; // -d.dddddde+xx
    snprintf(text, sizeof text, "%.*e", digits - 1, number);
    const char* p = text;
    for (; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9') decimal.coefficient = decimal.coefficient * 10 + (*p - '0');
    decimal.exponent = atoi(p + 1) - (digits - 1);
    return decimal;
}

// Integers keep all digits; floats are rounded to 7 of them, doubles to 15.
Decimal to_decimal(const Value& value) {
    switch (value.type) {
        case RLM_TYPE_INT: return from_integer(value.scalar.integer);
        case RLM_TYPE_FLOAT: return from_binary(value.scalar.fnum, 7);
        case RLM_TYPE_DOUBLE: return from_binary(value.scalar.dnum, 15);
        default: return from_decimal128(value.scalar.decimal128);
    }
}

template <class T> int order(const T& a, const T& b) { return a < b ? -1 : b < a ? 1 : 0; }

int digit_count(unsigned __int128 number) {
    int count = 0;
    for (; number != 0; number /= 10) count++;
    return count;
}

int sign(const Decimal& decimal) { return decimal.coefficient == 0 ? 0 : decimal.negative ? -1 : 1; }

int compare_decimals(Decimal a, Decimal b) {
    if (sign(a) != sign(b) || sign(a) == 0) return order(sign(a), sign(b));
    int leading = order(digit_count(a.coefficient) + a.exponent, digit_count(b.coefficient) + b.exponent);
    if (leading != 0) return sign(a) * leading;
    for (; a.exponent > b.exponent; a.exponent--) a.coefficient *= 10; // no overflow: both have their first digit
    for (; b.exponent > a.exponent; b.exponent--) b.coefficient *= 10; // in the same place
    return sign(a) * order(a.coefficient, b.coefficient);
}

int compare_integer_with_double(int64_t a, double b) {
    const double two_to_63 = 9223372036854775808.0;
    const int64_t two_to_53 = int64_t(1) << 53;
    if (a >= -two_to_53 && a <= two_to_53) return order(double(a), b);
    if (b >= two_to_63) return -1;
    if (b < -two_to_63) return 1;
    return order(a, int64_t(b));
}

bool is_floating(const Value& value) { return value.type == RLM_TYPE_FLOAT || value.type == RLM_TYPE_DOUBLE; }

bool is_number(const Value& value) {
    return value.type == RLM_TYPE_INT || value.type == RLM_TYPE_DECIMAL128 || is_floating(value);
}

double to_double(const Value& value) {
    return value.type == RLM_TYPE_FLOAT ? value.scalar.fnum : value.scalar.dnum;
}

int compare_numbers(const Value& a, const Value& b) {
    if (a.type == RLM_TYPE_DECIMAL128 || b.type == RLM_TYPE_DECIMAL128)
        return compare_decimals(to_decimal(a), to_decimal(b));
    if (is_floating(a) && is_floating(b)) return order(to_double(a), to_double(b));
    if (is_floating(a)) return -compare_integer_with_double(b.scalar.integer, to_double(a));
    if (is_floating(b)) return compare_integer_with_double(a.scalar.integer, to_double(b));
    return order(a.scalar.integer, b.scalar.integer);
}

// ------------------------------------------------------------------------------------------------
// The order of values, which is that of a set

int rank(const Value& value) {
    switch (value.type) {
        case RLM_TYPE_BOOL: return 0;
        case RLM_TYPE_INT: case RLM_TYPE_FLOAT: case RLM_TYPE_DOUBLE: case RLM_TYPE_DECIMAL128: return 1;
        case RLM_TYPE_STRING: return 2;
        case RLM_TYPE_BINARY: return 3;
        case RLM_TYPE_TIMESTAMP: return 4;
        case RLM_TYPE_OBJECT_ID: return 5;
        case RLM_TYPE_UUID: return 6;
        case RLM_TYPE_LINK: return 7;
        default: require(false, "a set holds no collections"); return 8;
    }
}

int compare(const Value& a, const Value& b) {
    if (a.type == RLM_TYPE_NULL || b.type == RLM_TYPE_NULL)
        return order(a.type != RLM_TYPE_NULL, b.type != RLM_TYPE_NULL);
    if (is_number(a) && is_number(b)) return compare_numbers(a, b);
    if (a.type != b.type) return order(rank(a), rank(b));
    const realm_value_t &x = a.scalar, &y = b.scalar;
    switch (a.type) {
        case RLM_TYPE_BOOL: return order(x.boolean, y.boolean);
        case RLM_TYPE_STRING: case RLM_TYPE_BINARY: return order(a.bytes, b.bytes);
        case RLM_TYPE_TIMESTAMP:
            if (x.timestamp.seconds != y.timestamp.seconds) return order(x.timestamp.seconds, y.timestamp.seconds);
            return order(x.timestamp.nanoseconds, y.timestamp.nanoseconds);
        case RLM_TYPE_OBJECT_ID: return memcmp(x.object_id.bytes, y.object_id.bytes, sizeof x.object_id.bytes);
        case RLM_TYPE_UUID: return memcmp(x.uuid.bytes, y.uuid.bytes, sizeof x.uuid.bytes);
        case RLM_TYPE_LINK:
            if (x.link.target_table != y.link.target_table) return order(x.link.target_table, y.link.target_table);
            return order(x.link.target, y.link.target);
        default: require(false, "a set holds no collections"); return 0;
    }
}

bool is_less(const Value& a, const Value& b) { return compare(a, b) < 0; }

// The position of a value in a set, or the one where it would be inserted.
std::vector<Value>::iterator place_in_set(Value& set, const Value& value) {
    return std::lower_bound(set.elements.begin(), set.elements.end(), value, is_less);
}

bool is_there(Value& set, std::vector<Value>::iterator place, const Value& value) {
    return place != set.elements.end() && compare(*place, value) == 0;
}

// ------------------------------------------------------------------------------------------------
// Classes, objects, databases

struct Property {
    std::string name, link_target;
    realm_property_type_e type;
    realm_collection_type_e collection;
    int flags;
};

using Object = std::vector<Value>; // one value for each property of the class

struct Class {
    std::string name, primary_key;
    int flags = 0;
    std::vector<Property> properties;
    std::map<realm_object_key_t, Object> objects; // in the order of their keys
    int64_t next_sequence = 0;                    // number of objects ever created

    bool is_embedded() const { return flags & RLM_CLASS_EMBEDDED; }
};

using Schema = std::vector<Class>;  // classes without objects
using Content = std::vector<Class>; // by name; the key of a class is its index here + 1

struct Database {
    std::string path;
    uint64_t schema_version = 0;
    Content content;
    Content before; // the last commit, while a write transaction is open
};

std::map<std::string, Database> databases;

Class& class_at(Database& database, realm_class_key_t key) {
    require(key >= 1 && key <= database.content.size(), "no such class");
    return database.content[key - 1];
}

realm_class_key_t key_of(const Database& database, const std::string& name) {
    for (size_t i = 0; i < database.content.size(); i++)
        if (database.content[i].name == name) return realm_class_key_t(i + 1);
    return RLM_INVALID_CLASS_KEY;
}

bool holds_embedded(Database& database, const Property& property) {
    return property.type == RLM_PROPERTY_TYPE_OBJECT &&
           class_at(database, key_of(database, property.link_target)).is_embedded();
}

// The value of a property in a new object.
Value default_value(const Property& property) {
    switch (property.collection) {
        case RLM_COLLECTION_TYPE_LIST: case RLM_COLLECTION_TYPE_SET: return of_type(RLM_TYPE_LIST);
        case RLM_COLLECTION_TYPE_DICTIONARY: return of_type(RLM_TYPE_DICTIONARY);
        case RLM_COLLECTION_TYPE_NONE: break;
    }
    if (property.flags & RLM_PROPERTY_NULLABLE) return Value();
    switch (property.type) {
        case RLM_PROPERTY_TYPE_INT: return of_type(RLM_TYPE_INT);
        case RLM_PROPERTY_TYPE_BOOL: return of_type(RLM_TYPE_BOOL);
        case RLM_PROPERTY_TYPE_STRING: return of_type(RLM_TYPE_STRING);
        case RLM_PROPERTY_TYPE_BINARY: return of_type(RLM_TYPE_BINARY);
        case RLM_PROPERTY_TYPE_TIMESTAMP: return of_type(RLM_TYPE_TIMESTAMP);
        case RLM_PROPERTY_TYPE_FLOAT: return of_type(RLM_TYPE_FLOAT);
        case RLM_PROPERTY_TYPE_DOUBLE: return of_type(RLM_TYPE_DOUBLE);
        case RLM_PROPERTY_TYPE_OBJECT_ID: return of_type(RLM_TYPE_OBJECT_ID);
        case RLM_PROPERTY_TYPE_UUID: return of_type(RLM_TYPE_UUID);
        case RLM_PROPERTY_TYPE_DECIMAL128: {
            Value zero = of_type(RLM_TYPE_DECIMAL128);
            zero.scalar.decimal128.w[1] = 0x3040000000000000; // 0 * 10^0
            return zero;
        }
        default: require(false, "a property of this type is nullable"); return Value();
    }
}

// Classes with a primary key use the sequence itself; the others spread it, so that each run of 256 objects has a
// separate range of 65536 keys. No key is ever used again, except after a rollback.
realm_object_key_t new_key(Class& c) {
    int64_t sequence = c.next_sequence++;
    return c.primary_key.empty() ? (sequence & 0xff) | (sequence & ~int64_t(0xff)) << 8 : sequence;
}

realm_object_key_t create(Class& c) {
    realm_object_key_t key = new_key(c);
    Object& object = c.objects[key];
    for (const Property& property : c.properties) object.push_back(default_value(property));
    return key;
}

void delete_object(Database& database, realm_class_key_t class_key, realm_object_key_t key);

// The embedded objects in a value of a property. They are deleted with the value.
std::vector<realm_link_t> embedded_in(const Value& value) {
    std::vector<realm_link_t> found;
    if (value.type == RLM_TYPE_LINK) found.push_back(value.scalar.link);
    for (const Value& element : value.elements) found.push_back(element.scalar.link);
    for (const auto& pair : value.pairs)
        if (pair.second.type == RLM_TYPE_LINK) found.push_back(pair.second.scalar.link);
    return found;
}

void delete_all(Database& database, const std::vector<realm_link_t>& objects) {
    for (realm_link_t link : objects) delete_object(database, link.target_table, link.target);
}

bool may_link_to(const Property& property, const Class& c) {
    if (property.type == RLM_PROPERTY_TYPE_MIXED) return !c.is_embedded();
    return property.type == RLM_PROPERTY_TYPE_OBJECT && property.link_target == c.name;
}

// Single values and values of dictionaries become null; elements of lists and sets are removed.
void remove_links(Value& value, realm_class_key_t class_key, realm_object_key_t object) {
    if (is_link_to(value, class_key, object)) {
        value = Value();
        return;
    }
    auto is_gone = [&](const Value& element) { return is_link_to(element, class_key, object); };
    value.elements.erase(std::remove_if(value.elements.begin(), value.elements.end(), is_gone), value.elements.end());
    for (Value& element : value.elements) remove_links(element, class_key, object);
    for (auto& pair : value.pairs) remove_links(pair.second, class_key, object);
}

void delete_object(Database& database, realm_class_key_t class_key, realm_object_key_t key) {
    Class& c = class_at(database, class_key);
    require(c.objects.count(key) == 1, "the object is gone");
    std::vector<realm_link_t> owned;
    for (size_t i = 0; i < c.properties.size(); i++)
        if (holds_embedded(database, c.properties[i]))
            for (realm_link_t link : embedded_in(c.objects[key][i])) owned.push_back(link);
    c.objects.erase(key);
    for (Class& other : database.content)
        for (size_t i = 0; i < other.properties.size(); i++)
            if (may_link_to(other.properties[i], c))
                for (auto& object : other.objects) remove_links(object.second[i], class_key, key);
    delete_all(database, owned);
}

// Puts a value into a place of a property and deletes the embedded objects of the old value.
void replace(Database& database, const Property& property, Value& place, Value value) {
    std::vector<realm_link_t> owned;
    if (holds_embedded(database, property)) owned = embedded_in(place);
    place = std::move(value);
    delete_all(database, owned);
}

// Puts an empty collection into a Mixed place, unless it already has one of this kind.
void become(Value& place, realm_value_type_e type) {
    if (place.type != type) place = of_type(type);
}

// ------------------------------------------------------------------------------------------------
// Text: what dump.c prints

class Dump {
public:
    explicit Dump(Database& database) : database(database) {}

    std::string run() {
        print("{\"schema_version\":%" PRId64 ",\"classes\":{\n", int64_t(database.schema_version));
        bool first = true;
        for (const Class& c : database.content) {
            text += first ? "" : ",\n";
            first = false;
            print_class(c);
        }
        text += "\n}}\n";
        return text;
    }

private:
    Database& database;
    std::string text;

    template <class... T>
    void print(const char* format, T... arguments) {
        char buffer[100];
        snprintf(buffer, sizeof buffer, format, arguments...);
        text += buffer;
    }

    void print_string(const std::string& string) {
        text += '"';
        for (unsigned char byte : string) {
            if (byte == '"' || byte == '\\') text += '\\';
            if (byte < 0x20) print("\\u%04x", byte);
            else text += char(byte);
        }
        text += '"';
    }

    void print_hex(const char* name, const void* bytes, size_t size) {
        print("{\"%s\":\"", name);
        for (size_t i = 0; i < size; i++) print("%02x", static_cast<const uint8_t*>(bytes)[i]);
        text += "\"}";
    }

    void print_value(const Value& value) {
        const realm_value_t& x = value.scalar;
        switch (value.type) {
            case RLM_TYPE_NULL: text += "null"; break;
            case RLM_TYPE_INT: print("%" PRId64, x.integer); break;
            case RLM_TYPE_BOOL: text += x.boolean ? "true" : "false"; break;
            case RLM_TYPE_STRING: print_string(value.bytes); break;
            case RLM_TYPE_BINARY: print_hex("$bin", value.bytes.data(), value.bytes.size()); break;
            case RLM_TYPE_TIMESTAMP:
                print("{\"$ts\":[%" PRId64 ",%d]}", x.timestamp.seconds, int(x.timestamp.nanoseconds));
                break;
            case RLM_TYPE_FLOAT: print("{\"$flt\":\"%.9g\"}", double(x.fnum)); break;
            case RLM_TYPE_DOUBLE: print("{\"$dbl\":\"%.17g\"}", x.dnum); break;
            case RLM_TYPE_DECIMAL128:
                print("{\"$dec\":\"%016" PRIx64 "%016" PRIx64 "\"}", x.decimal128.w[1], x.decimal128.w[0]);
                break;
            case RLM_TYPE_OBJECT_ID: print_hex("$oid", x.object_id.bytes, sizeof x.object_id.bytes); break;
            case RLM_TYPE_UUID: print_hex("$uuid", x.uuid.bytes, sizeof x.uuid.bytes); break;
            case RLM_TYPE_LINK:
                text += "{\"$link\":[";
                print_string(class_at(database, x.link.target_table).name);
                print(",%" PRId64 "]}", x.link.target);
                break;
            case RLM_TYPE_LIST: print_list(value); break;
            case RLM_TYPE_DICTIONARY: print_dictionary(value); break;
        }
    }

    void print_list(const Value& list) {
        text += '[';
        for (size_t i = 0; i < list.elements.size(); i++) {
            text += i == 0 ? "" : ",";
            print_value(list.elements[i]);
        }
        text += ']';
    }

    void print_dictionary(const Value& dictionary) {
        text += '{';
        bool first = true;
        for (const auto& pair : dictionary.pairs) {
            text += first ? "" : ",";
            first = false;
            print_string(pair.first);
            text += ':';
            print_value(pair.second);
        }
        text += '}';
    }

    void print_class(const Class& c) {
        std::map<std::string, size_t> by_name; // properties are printed in the order of their names
        for (size_t i = 0; i < c.properties.size(); i++) by_name[c.properties[i].name] = i;
        print_string(c.name);
        text += ":{\"primary_key\":";
        print_string(c.primary_key);
        print(",\"flags\":%d,\"properties\":[", c.flags);
        bool first = true;
        for (const auto& named : by_name) {
            const Property& property = c.properties[named.second];
            text += first ? "[" : ",[";
            first = false;
            print_string(property.name);
            print(",%d,%d,", int(property.type), int(property.collection));
            print_string(property.link_target);
            print(",%d]", property.flags);
        }
        print("],\"count\":%zu,\"objects\":[\n", c.objects.size());
        first = true;
        for (const auto& object : c.objects) {
            text += first ? "" : ",\n";
            first = false;
            print("{\"$key\":%" PRId64, object.first);
            for (const auto& named : by_name) {
                text += ',';
                print_string(named.first);
                text += ':';
                print_value(object.second[named.second]);
            }
            text += '}';
        }
        text += "]}";
    }
};

// ------------------------------------------------------------------------------------------------
// Handles

struct Handle {
    virtual ~Handle() = default;
};

// A collection: the property it belongs to, at any depth, and its place.
struct Collection : Handle {
    Database* database;
    const Property* property;
    Value* value;
    Collection(Database* database, const Property* property, Value* value)
        : database(database), property(property), value(value) {}

    Value& element(size_t index) {
        require(index < value->elements.size(), "index out of bounds");
        return value->elements[index];
    }

    // The value of a key, which is added if it is new.
    Value& at(const realm_value_t& key) {
        require(key.type == RLM_TYPE_STRING, "a dictionary key is a string");
        return value->pairs[std::string(key.string.data, key.string.size)];
    }

    void put(Value& place, Value new_value) { replace(*database, *property, place, std::move(new_value)); }
};

} // namespace

struct realm_scheduler : Handle {};

struct realm_schema : Handle {
    Schema classes;
};

struct realm_config : Handle {
    std::string path;
    Schema schema;
    uint64_t schema_version = 0;
};

struct shared_realm : Handle {
    Database* database;
    explicit shared_realm(Database* database) : database(database) {}
};

struct realm_object : Handle {
    Database* database;
    realm_class_key_t class_key;
    realm_object_key_t key;
    realm_object(Database* database, realm_class_key_t class_key, realm_object_key_t key)
        : database(database), class_key(class_key), key(key) {}

    const Property& property(realm_property_key_t property_key) {
        Class& c = class_at(*database, class_key);
        require(property_key >= 0 && size_t(property_key) < c.properties.size(), "no such property");
        return c.properties[property_key];
    }

    Value& value(realm_property_key_t property_key) {
        Class& c = class_at(*database, class_key);
        require(c.objects.count(key) == 1, "the object is gone");
        return c.objects[key][property_key];
    }

    // The collection in a property, which must be of this type.
    template <class T> T* collection(realm_property_key_t property_key, realm_value_type_e type) {
        require(value(property_key).type == type, "not a collection of this type");
        return new T(database, &property(property_key), &value(property_key));
    }
};

struct realm_results : Handle {
    Database* database;
    realm_class_key_t class_key;
    realm_results(Database* database, realm_class_key_t class_key) : database(database), class_key(class_key) {}
};

struct realm_list : Collection { using Collection::Collection; };
struct realm_set : Collection { using Collection::Collection; };
struct realm_dictionary : Collection { using Collection::Collection; };

namespace {

void insert(realm_list_t* list, size_t index, Value value) {
    require(index <= list->value->elements.size(), "index out of bounds");
    list->value->elements.insert(list->value->elements.begin() + index, std::move(value));
}

// A new object of the class that a property links to.
realm_object_t* new_embedded(Database* database, const Property& property) {
    require(holds_embedded(*database, property), "not a property for embedded objects");
    realm_class_key_t class_key = key_of(*database, property.link_target);
    return new realm_object_t(database, class_key, create(class_at(*database, class_key)));
}

} // namespace

// ------------------------------------------------------------------------------------------------
// The exported functions, in the order of realm.h

bool realm_get_last_error(realm_error_t*) { return false; }
void realm_release(void* handle) { delete static_cast<Handle*>(handle); }
void realm_set_log_level(realm_log_level_e) {}

realm_config_t* realm_config_new(void) { return new realm_config_t; }
void realm_config_set_path(realm_config_t* config, const char* path) { config->path = path; }
bool realm_config_set_encryption_key(realm_config_t*, const uint8_t*, size_t) { return true; }
void realm_config_set_schema(realm_config_t* config, const realm_schema_t* schema) { config->schema = schema->classes; }
void realm_config_set_schema_version(realm_config_t* config, uint64_t version) { config->schema_version = version; }
void realm_config_set_schema_mode(realm_config_t*, realm_schema_mode_e) {}
void realm_config_set_automatic_change_notifications(realm_config_t*, bool) {}
void realm_config_set_scheduler(realm_config_t*, const realm_scheduler_t*) {}
void realm_config_set_cached(realm_config_t*, bool) {}

realm_scheduler_t* realm_scheduler_new(realm_userdata_t, realm_free_userdata_func_t, realm_scheduler_notify_func_t,
                                       realm_scheduler_is_on_thread_func_t, realm_scheduler_is_same_as_func_t,
                                       realm_scheduler_can_deliver_notifications_func_t) {
    return new realm_scheduler_t;
}

realm_t* realm_open(const realm_config_t* config) {
    Database& database = databases[config->path];
    if (database.path.empty()) {
        database.path = config->path;
        database.schema_version = config->schema_version;
        database.content = config->schema;
    }
    return new realm_t(&database);
}

bool realm_close(realm_t* realm) {
    std::string text = Dump(*realm->database).run();
    FILE* file = fopen((realm->database->path + ".json").c_str(), "wb");
    require(file != nullptr, "cannot write the content");
    size_t written = fwrite(text.data(), 1, text.size(), file);
    require(fclose(file) == 0 && written == text.size(), "cannot write the content");
    return true;
}

bool realm_begin_write(realm_t* realm) {
    realm->database->before = realm->database->content;
    return true;
}

bool realm_commit(realm_t* realm) {
    realm->database->before.clear();
    return true;
}

bool realm_rollback(realm_t* realm) {
    realm->database->content = std::move(realm->database->before);
    return true;
}

// Computed properties are not stored in a file, so they are left out. A primary key is indexed.
realm_schema_t* realm_schema_new(const realm_class_info_t* classes, size_t count,
                                 const realm_property_info_t** class_properties) {
    auto* handle = new realm_schema_t;
    for (size_t i = 0; i < count; i++) {
        Class c;
        c.name = classes[i].name;
        c.primary_key = classes[i].primary_key;
        c.flags = classes[i].flags;
        for (size_t j = 0; j < classes[i].num_properties; j++) {
            const realm_property_info_t& info = class_properties[i][j];
            int flags = info.flags;
            if (flags & RLM_PROPERTY_PRIMARY_KEY) flags |= RLM_PROPERTY_INDEXED;
            c.properties.push_back({info.name, info.link_target, info.type, info.collection_type, flags});
        }
        handle->classes.push_back(c);
    }
    std::sort(handle->classes.begin(), handle->classes.end(),
              [](const Class& a, const Class& b) { return a.name < b.name; });
    return handle;
}

bool realm_find_class(const realm_t* realm, const char* name, bool* found, realm_class_info_t* info) {
    *info = {};
    info->key = key_of(*realm->database, name);
    *found = info->key != RLM_INVALID_CLASS_KEY;
    return true;
}

bool realm_find_property(const realm_t* realm, realm_class_key_t class_key, const char* name, bool* found,
                         realm_property_info_t* info) {
    Class& c = class_at(*realm->database, class_key);
    *info = {};
    *found = false;
    for (size_t i = 0; i < c.properties.size(); i++) {
        if (c.properties[i].name == name) {
            *found = true;
            info->key = realm_property_key_t(i);
        }
    }
    return true;
}

realm_results_t* realm_object_find_all(const realm_t* realm, realm_class_key_t class_key) {
    return new realm_results_t(realm->database, class_key);
}

realm_object_t* realm_object_create(realm_t* realm, realm_class_key_t class_key) {
    Class& c = class_at(*realm->database, class_key);
    require(c.primary_key.empty() && !c.is_embedded(), "objects of this class are not created like that");
    return new realm_object_t(realm->database, class_key, create(c));
}

realm_object_t* realm_object_get_or_create_with_primary_key(realm_t* realm, realm_class_key_t class_key,
                                                            realm_value_t primary_key, bool* did_create) {
    Class& c = class_at(*realm->database, class_key);
    size_t position = 0;
    while (position < c.properties.size() && c.properties[position].name != c.primary_key) position++;
    require(position < c.properties.size(), "the class has no primary key");
    Value wanted = copied(primary_key);
    for (const auto& object : c.objects) {
        if (compare(object.second[position], wanted) == 0) {
            *did_create = false;
            return new realm_object_t(realm->database, class_key, object.first);
        }
    }
    realm_object_key_t key = create(c);
    c.objects[key][position] = wanted;
    *did_create = true;
    return new realm_object_t(realm->database, class_key, key);
}

bool realm_object_delete(realm_object_t* object) {
    delete_object(*object->database, object->class_key, object->key);
    return true;
}

realm_link_t realm_object_as_link(const realm_object_t* object) { return {object->class_key, object->key}; }

bool realm_set_value(realm_object_t* object, realm_property_key_t key, realm_value_t value, bool) {
    require(object->property(key).collection == RLM_COLLECTION_TYPE_NONE, "not a property for single values");
    replace(*object->database, object->property(key), object->value(key), copied(value));
    return true;
}

realm_object_t* realm_set_embedded(realm_object_t* object, realm_property_key_t key) {
    const Property& property = object->property(key);
    realm_object_t* embedded = new_embedded(object->database, property);
    replace(*object->database, property, object->value(key), link_to(embedded->class_key, embedded->key));
    return embedded;
}

realm_list_t* realm_set_list(realm_object_t* object, realm_property_key_t key) {
    require(object->property(key).type == RLM_PROPERTY_TYPE_MIXED, "not a Mixed property");
    become(object->value(key), RLM_TYPE_LIST);
    return realm_get_list(object, key);
}

realm_dictionary_t* realm_set_dictionary(realm_object_t* object, realm_property_key_t key) {
    require(object->property(key).type == RLM_PROPERTY_TYPE_MIXED, "not a Mixed property");
    become(object->value(key), RLM_TYPE_DICTIONARY);
    return realm_get_dictionary(object, key);
}

realm_list_t* realm_get_list(realm_object_t* object, realm_property_key_t key) {
    return object->collection<realm_list_t>(key, RLM_TYPE_LIST);
}

realm_set_t* realm_get_set(realm_object_t* object, realm_property_key_t key) {
    return object->collection<realm_set_t>(key, RLM_TYPE_LIST);
}

realm_dictionary_t* realm_get_dictionary(realm_object_t* object, realm_property_key_t key) {
    return object->collection<realm_dictionary_t>(key, RLM_TYPE_DICTIONARY);
}

bool realm_list_size(const realm_list_t* list, size_t* size) {
    *size = list->value->elements.size();
    return true;
}

bool realm_list_set(realm_list_t* list, size_t index, realm_value_t value) {
    list->put(list->element(index), copied(value));
    return true;
}

bool realm_list_insert(realm_list_t* list, size_t index, realm_value_t value) {
    insert(list, index, copied(value));
    return true;
}

realm_list_t* realm_list_insert_list(realm_list_t* list, size_t index) {
    insert(list, index, of_type(RLM_TYPE_LIST));
    return new realm_list_t(list->database, list->property, &list->element(index));
}

realm_dictionary_t* realm_list_insert_dictionary(realm_list_t* list, size_t index) {
    insert(list, index, of_type(RLM_TYPE_DICTIONARY));
    return new realm_dictionary_t(list->database, list->property, &list->element(index));
}

// Takes the element out first; `to` is where it is afterwards.
bool realm_list_move(realm_list_t* list, size_t from, size_t to) {
    Value moved = list->element(from);
    list->value->elements.erase(list->value->elements.begin() + from);
    insert(list, to, moved);
    return true;
}

realm_object_t* realm_list_insert_embedded(realm_list_t* list, size_t index) {
    realm_object_t* embedded = new_embedded(list->database, *list->property);
    insert(list, index, link_to(embedded->class_key, embedded->key));
    return embedded;
}

bool realm_list_erase(realm_list_t* list, size_t index) {
    list->put(list->element(index), Value());
    list->value->elements.erase(list->value->elements.begin() + index);
    return true;
}

bool realm_list_clear(realm_list_t* list) {
    list->put(*list->value, of_type(RLM_TYPE_LIST));
    return true;
}

bool realm_set_insert(realm_set_t* set, realm_value_t value, size_t* index, bool* did_insert) {
    Value element = copied(value);
    auto place = place_in_set(*set->value, element);
    *did_insert = !is_there(*set->value, place, element);
    if (*did_insert) place = set->value->elements.insert(place, element);
    *index = size_t(place - set->value->elements.begin());
    return true;
}

bool realm_set_erase(realm_set_t* set, realm_value_t value, bool* did_erase) {
    Value element = copied(value);
    auto place = place_in_set(*set->value, element);
    *did_erase = is_there(*set->value, place, element);
    if (*did_erase) set->value->elements.erase(place);
    return true;
}

bool realm_dictionary_insert(realm_dictionary_t* dictionary, realm_value_t key, realm_value_t value, size_t*, bool*) {
    dictionary->put(dictionary->at(key), copied(value));
    return true;
}

realm_list_t* realm_dictionary_insert_list(realm_dictionary_t* dictionary, realm_value_t key) {
    become(dictionary->at(key), RLM_TYPE_LIST);
    return new realm_list_t(dictionary->database, dictionary->property, &dictionary->at(key));
}

realm_dictionary_t* realm_dictionary_insert_dictionary(realm_dictionary_t* dictionary, realm_value_t key) {
    become(dictionary->at(key), RLM_TYPE_DICTIONARY);
    return new realm_dictionary_t(dictionary->database, dictionary->property, &dictionary->at(key));
}

bool realm_dictionary_erase(realm_dictionary_t* dictionary, realm_value_t key, bool* did_erase) {
    std::string name(key.string.data, key.string.size);
    *did_erase = dictionary->value->pairs.count(name) == 1;
    if (*did_erase) dictionary->put(dictionary->at(key), Value());
    dictionary->value->pairs.erase(name);
    return true;
}

bool realm_dictionary_clear(realm_dictionary_t* dictionary) {
    dictionary->put(*dictionary->value, of_type(RLM_TYPE_DICTIONARY));
    return true;
}

bool realm_results_count(realm_results_t* results, size_t* count) {
    *count = class_at(*results->database, results->class_key).objects.size();
    return true;
}

realm_object_t* realm_results_get_object(realm_results_t* results, size_t index) {
    const auto& objects = class_at(*results->database, results->class_key).objects;
    require(index < objects.size(), "index out of bounds");
    return new realm_object_t(results->database, results->class_key, std::next(objects.begin(), index)->first);
}
