package crealm

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"iter"
	"math"
	"reflect"
	"sync"
	"unsafe"
)

// Update says what happens when an object with the primary key of a new one exists.
type UpdateMode int

const (
	// Never refuses: ErrExists.
	Never UpdateMode = iota
	// Modified gives the object the values that differ from its own.
	Modified
	// All gives the object all values.
	All
)

// encoders are kept for the next call: their memory has grown already.
var encoders = sync.Pool{New: func() any { return &encoder{} }}

func encode(schema *schema) *encoder {
	e := encoders.Get().(*encoder)
	e.bytes, e.schema, e.depth = e.bytes[:0], schema, 0
	return e
}

func (e *encoder) release() {
	if cap(e.bytes) <= 1<<20 {
		encoders.Put(e)
	}
}

func (e *encoder) raw() (*C.uint8_t, C.size_t) {
	return first[C.uint8_t](e.bytes), C.size_t(len(e.bytes))
}

// struct appends an object for go_create.
func (e *encoder) newObject(bound *binding, from unsafe.Pointer) error {
	if from == nil {
		return refused(3000, "the pointer to the struct is nil")
	}
	key := bound.plan.primaryKey
	if key < 0 {
		e.kind(isNothing)
	} else if err := bound.plan.fields[key].encode(e, unsafe.Add(from, bound.plan.fields[key].offset)); err != nil {
		return err
	}
	count := len(bound.plan.fields)
	if key >= 0 {
		count--
	}
	e.count(count)
	for index := range bound.plan.fields {
		if index == key {
			continue
		}
		field := &bound.plan.fields[index]
		e.number(uint64(bound.keys[index]))
		if err := field.encode(e, unsafe.Add(from, field.offset)); err != nil {
			return err
		}
	}
	return nil
}

func create[T any](tx *Tx, object *T, mode UpdateMode) (link Link[T], err error) {
	r, err := tx.beginWrite()
	if err != nil {
		return link, err
	}
	defer tx.finish(r)
	bound, err := r.schema.binding(reflect.TypeFor[T]())
	if err != nil {
		return link, err
	}
	e := encode(r.schema)
	defer e.release()
	if err := e.newObject(bound, unsafe.Pointer(object)); err != nil {
		return link, err
	}
	var raw C.realm_link_t
	bytes, size := e.raw()
	err = failed(C.go_create(r.realm, C.uint32_t(bound.class.key), C.int(mode), 1, bytes, size, &raw))
	if err == nil {
		link.AnyLink = linkOf(raw)
	}
	return link, err
}

// Create makes an object with the values of a struct: ErrExists if the primary key is taken.
func Create[T any](tx *Tx, object *T) (Link[T], error) {
	return create(tx, object, Never)
}

// Upsert makes an object, or gives the one with the same primary key the values that differ.
func Upsert[T any](tx *Tx, object *T) (Link[T], error) {
	return create(tx, object, Modified)
}

// CreateAll makes an object for each struct of a sequence, many in one call of the library. After an error some of the
// objects may exist in the transaction. The result is their number.
func CreateAll[T any](tx *Tx, objects iter.Seq[*T], mode UpdateMode) (int, error) {
	const batch = 256
	links := make([]C.realm_link_t, batch)
	total := 0
	next, stop := iter.Pull(objects)
	defer stop()
	for {
		count, err := createPage(tx, next, mode, links)
		if err != nil || count == 0 {
			return total, err
		}
		total += count
	}
}

// createPage makes an object for each of the next structs, at most one for each link. The sequence may use the
// transaction: it runs while no call of the library does.
func createPage[T any](tx *Tx, next func() (*T, bool), mode UpdateMode, links []C.realm_link_t) (int, error) {
	schema := tx.reader.schema
	bound, err := schema.binding(reflect.TypeFor[T]())
	if err != nil {
		return 0, err
	}
	e := encode(schema)
	defer e.release()
	count := 0
	for count < len(links) && len(e.bytes) < 1<<20 {
		object, more := next()
		if !more {
			break
		}
		if err := e.newObject(bound, unsafe.Pointer(object)); err != nil {
			return 0, err
		}
		count++
	}
	return count, tx.write(func(r reader) error {
		if count == 0 {
			return nil
		}
		bytes, size := e.raw()
		class := C.uint32_t(bound.class.key)
		return failed(C.go_create(r.realm, class, C.int(mode), C.size_t(count), bytes, size, &links[0]))
	})
}

// Find reads the object with a primary key: ErrNotFound if there is none.
func Find[T any](from Reader, primaryKey any) (*T, error) {
	_, object, err := find[T](from, primaryKey, true)
	return object, err
}

// FindLink finds the address of the object with a primary key: ErrNotFound if there is none.
func FindLink[T any](from Reader, primaryKey any) (Link[T], error) {
	link, _, err := find[T](from, primaryKey, false)
	return link, err
}

func find[T any](from Reader, primaryKey any, isRead bool) (link Link[T], object *T, err error) {
	r, err := from.begin()
	if err != nil {
		return link, nil, err
	}
	defer from.finish(r)
	bound, err := r.schema.binding(reflect.TypeFor[T]())
	if err != nil {
		return link, nil, err
	}
	e := encode(nil)
	defer e.release()
	if err := e.any(primaryKey, nil); err != nil {
		return link, nil, err
	}
	bytes, size := e.raw()
	count := 0
	if isRead {
		count = len(bound.plain)
	}
	values := pages.Get().(*rowPage)
	defer values.release()
	values.grow(count)
	var raw C.realm_link_t
	var found C.bool
	err = failed(C.go_find(r.realm, C.uint32_t(bound.class.key), bytes, size, &raw, &found, C.size_t(count),
		first[C.int64_t](bound.plain), rawValues(values.values)))
	if err != nil {
		return link, nil, err
	}
	if !found {
		return link, nil, ErrNotFound
	}
	link.AnyLink = linkOf(raw)
	if isRead {
		object = new(T)
		err = r.fill(&values.cell, bound, link.AnyLink, values.values, unsafe.Pointer(object))
	}
	return link, object, err
}

// rowPage is memory for values, kept for the next call.
type rowPage struct {
	values []value
	cell   cell
}

func (p *rowPage) release() {
	p.cell = cell{}
	pages.Put(p)
}

func (p *rowPage) grow(count int) {
	if cap(p.values) < count {
		p.values = make([]value, count)
	}
	p.values = p.values[:count]
}

var pages = sync.Pool{New: func() any { return &rowPage{} }}

// Get reads the object with an address.
func Get[T any](from Reader, link Link[T]) (*T, error) {
	r, err := from.begin()
	if err != nil {
		return nil, err
	}
	defer from.finish(r)
	bound, err := r.schema.binding(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	object := new(T)
	return object, r.load(bound, link.AnyLink, unsafe.Pointer(object))
}

// Exists says whether an object still exists.
func Exists(from Reader, link Address) bool {
	return from.read(func(r reader) error { return failed(C.go_get(r.realm, link.Any().raw(), 0, nil, nil)) }) == nil
}

// locate finds a property of an object.
func (r reader) locate(link AnyLink, name string) (*PropertyInfo, error) {
	if link.IsNil() {
		return nil, refused(3016, "the address is null")
	}
	class, err := r.schema.classOf(link.class)
	if err != nil {
		return nil, err
	}
	return class.property(name)
}

// Value reads a property of an object, with all elements of a collection: nil, int64, bool, string, []byte, time.Time
// (Timestamp, if that cannot express it), float32, float64, Decimal128, ObjectID, UUID, AnyLink, []any, Set[any],
// map[string]any.
func Value(from Reader, link Address, property string) (found any, err error) {
	err = from.read(func(r reader) error {
		where, err := r.locate(link.Any(), property)
		if err != nil {
			return err
		}
		if where.kind == 0 {
			// A single value needs no copy by the shim.
			key := [1]int64{where.key}
			var values [1]value
			raw := rawValues(values[:])
			if err := failed(C.go_get(r.realm, link.Any().raw(), 1, first[C.int64_t](key[:]), raw)); err != nil {
				return err
			}
			if values[0].kind != isList && values[0].kind != isDictionary {
				found, err = values[0].any()
				return err
			}
		}
		c := cell{reader: r, link: link.Any(), key: where.key}
		found, err = c.content(where.kind)
		return err
	})
	return found, err
}

// Read reads a property of an object into the type of a field: crealm.Read[int64](db, ann, "age").
func Read[V any, L Address](from Reader, link L, property string) (found V, err error) {
	r, err := from.begin()
	if err != nil {
		return found, err
	}
	defer from.finish(r)
	return readProperty[V](r, link.Any(), property)
}

// readProperty reads the values that are read most often itself: nothing that it makes outlives it.
func readProperty[V any](r reader, link AnyLink, property string) (found V, err error) {
	where, err := r.locate(link, property)
	if err != nil {
		return found, err
	}
	if where.kind != 0 {
		return readField[V](r, link, where, nil)
	}
	raw := C.go_get_one(r.realm, link.raw(), C.int64_t(where.key))
	if raw.error != nil {
		return found, failed(raw.error)
	}
	one := *(*value)(unsafe.Pointer(&raw.value))
	switch into := any(&found).(type) {
	case *int64:
		if one.kind == isInt {
			*into = one.int()
			return found, nil
		}
	case *float64:
		if one.kind == isDouble {
			*into = math.Float64frombits(uint64(one.int()))
			return found, nil
		}
	case *bool:
		if one.kind == isBool {
			*into = one.data[0] != 0
			return found, nil
		}
	case *string:
		if one.kind == isString {
			*into, err = text(one.view())
			return found, err
		}
	}
	return readField[V](r, link, where, &one)
}

// readField reads a property of any type. one is its value if it is no collection.
func readField[V any](r reader, link AnyLink, where *PropertyInfo, one *value) (found V, err error) {
	kind := reflect.TypeFor[V]()
	field, err := fieldOf(kind)
	if err != nil {
		return found, err
	}
	if where.Collection != field.wire.Collection {
		return found, refused(3001, "%s.%s is no %v", r.schema.byKey[link.class].Name, where.Name, kind)
	}
	err = field.decode(&cell{reader: r, link: link, key: where.key}, one, unsafe.Pointer(&found))
	return found, err
}

// CreateObject makes an object of any class, with values by name.
func (tx *Tx) CreateObject(class string, values map[string]any, mode UpdateMode) (link AnyLink, err error) {
	err = tx.write(func(r reader) error {
		found, err := r.schema.class(class)
		if err != nil {
			return err
		}
		e := encode(r.schema)
		defer e.release()
		count := len(values)
		if key, has := values[found.PrimaryKey]; has && found.PrimaryKey != "" {
			count--
			if err := e.any(key, found.byName[found.PrimaryKey]); err != nil {
				return err
			}
		} else {
			e.kind(isNothing)
		}
		if isDeep(e.bytes[0]) {
			return refused(3001, "a collection is no primary key")
		}
		e.count(count)
		for name, each := range values {
			property, err := found.property(name)
			if err != nil {
				return err
			}
			if name == found.PrimaryKey {
				continue
			}
			e.number(uint64(property.key))
			if err := e.any(each, property); err != nil {
				return err
			}
		}
		var raw C.realm_link_t
		bytes, size := e.raw()
		if err := failed(C.go_create(r.realm, C.uint32_t(found.key), C.int(mode), 1, bytes, size, &raw)); err != nil {
			return err
		}
		link = linkOf(raw)
		return nil
	})
	return link, err
}

// Set sets a property of an object. A collection gets these elements instead of its own; a map for an embedded
// object makes a new one with these properties.
func (tx *Tx) Set(link Address, property string, given any) error {
	return tx.write(func(r reader) error {
		where, err := r.locate(link.Any(), property)
		if err != nil {
			return err
		}
		e := encode(r.schema)
		defer e.release()
		if err := e.any(given, where); err != nil {
			return err
		}
		bytes, size := e.raw()
		return failed(C.go_set(r.realm, link.Any().raw(), C.int64_t(where.key), bytes, size))
	})
}

// Add adds to an integer. An overflow wraps.
func (tx *Tx) Add(link Address, property string, number int64) error {
	return tx.write(func(r reader) error {
		where, err := r.locate(link.Any(), property)
		if err != nil {
			return err
		}
		return failed(C.go_add(r.realm, link.Any().raw(), C.int64_t(where.key), C.int64_t(number)))
	})
}

// Delete deletes an object, and the embedded objects in it.
func (tx *Tx) Delete(link Address) error {
	return tx.write(func(r reader) error { return failed(C.go_delete(r.realm, link.Any().raw())) })
}

// FindObject finds the object of any class with a primary key: ErrNotFound if there is none.
func FindObject(from Reader, class string, primaryKey any) (link AnyLink, err error) {
	err = from.read(func(r reader) error {
		where, err := r.schema.class(class)
		if err != nil {
			return err
		}
		e := encode(nil)
		defer e.release()
		if err := e.any(primaryKey, nil); err != nil {
			return err
		}
		bytes, size := e.raw()
		var raw C.realm_link_t
		var found C.bool
		if err := failed(C.go_find(r.realm, C.uint32_t(where.key), bytes, size, &raw, &found, 0, nil, nil)); err != nil {
			return err
		}
		if !found {
			return ErrNotFound
		}
		link = linkOf(raw)
		return nil
	})
	return link, err
}

// Collection is a list, a set or a dictionary of an object, in an Update. Its methods change it.
type Collection struct {
	tx       *Tx
	link     AnyLink
	property string
	place    []any // positions and keys that lead to a collection inside of a mixed property
}

// Collection names the collection in a property. place leads to one inside of a mixed property: positions and keys.
func (tx *Tx) Collection(link Address, property string, place ...any) *Collection {
	return &Collection{tx, link.Any(), property, place}
}

type change struct {
	what   C.int
	at, to int
	name   string
	value  any
	has    bool
	isLast bool // at is -1: behind the last element
}

func (c *Collection) change(given change) error {
	return c.tx.write(func(r reader) error {
		where, err := r.locate(c.link, c.property)
		if err != nil {
			return err
		}
		if given.at < 0 && !given.isLast || given.to < 0 {
			return refused(3017, "a position is negative")
		}
		e, path := encode(r.schema), encode(nil)
		defer e.release()
		defer path.release()
		for _, step := range c.place {
			switch step.(type) {
			case int, int64, string:
			default:
				return refused(3000, "a place has positions and keys, not %T", step)
			}
			if err := path.any(step, nil); err != nil {
				return err
			}
		}
		if given.has {
			element := *where
			element.Collection = ""
			if err := e.any(given.value, &element); err != nil {
				return err
			}
		}
		bytes, size := e.raw()
		steps, stepsSize := path.raw()
		name := unsafe.StringData(given.name)
		return failed(C.go_change(r.realm, c.link.raw(), C.int64_t(where.key), C.int(where.kind), steps, stepsSize,
			given.what, C.size_t(given.at), C.size_t(given.to), (*C.char)(unsafe.Pointer(name)),
			C.size_t(len(given.name)), bytes, size))
	})
}

// Append adds an element to a list.
func (c *Collection) Append(given any) error {
	return c.change(change{what: C.GO_INSERT, at: -1, isLast: true, value: given, has: true})
}

// Insert inserts an element into a list; those from the position on move up by one.
func (c *Collection) Insert(at int, given any) error {
	return c.change(change{what: C.GO_INSERT, at: at, value: given, has: true})
}

// Replace replaces an element of a list.
func (c *Collection) Replace(at int, given any) error {
	return c.change(change{what: C.GO_REPLACE, at: at, value: given, has: true})
}

// Remove removes an element of a list.
func (c *Collection) Remove(at int) error {
	return c.change(change{what: C.GO_REMOVE, at: at})
}

// Move moves an element of a list, which is at `to` afterwards.
func (c *Collection) Move(from, to int) error {
	return c.change(change{what: C.GO_MOVE, at: from, to: to})
}

// Clear removes all elements.
func (c *Collection) Clear() error {
	return c.change(change{what: C.GO_CLEAR})
}

// Put gives a key of a dictionary a value.
func (c *Collection) Put(key string, given any) error {
	return c.change(change{what: C.GO_PUT, name: key, value: given, has: true})
}

// RemoveKey removes a key of a dictionary. It is no error if it has none.
func (c *Collection) RemoveKey(key string) error {
	return c.change(change{what: C.GO_REMOVE_KEY, name: key})
}

// Add adds a value to a set. It is no error if it has the value.
func (c *Collection) Add(given any) error {
	return c.change(change{what: C.GO_ADD, value: given, has: true})
}

// Discard removes a value of a set. It is no error if it has none.
func (c *Collection) Discard(given any) error {
	return c.change(change{what: C.GO_DISCARD, value: given, has: true})
}
