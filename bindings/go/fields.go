package crealm

/*
#include "shim.h"
*/
import "C"

import (
	"math"
	"reflect"
	"sync"
	"time"
	"unsafe"
)

// cell is a property of an object that is being read.
type cell struct {
	reader reader
	link   AnyLink
	key    int64
}

type linked interface{ targetClass() string }

type setLike interface{ isSet() }

// complete finds out how a field of this type is stored.
func (f *field) complete() error {
	kind := f.kind
	f.wire.kind = 0
	if _, isLink := reflect.Zero(kind).Interface().(linked); !isLink && kind != reflect.TypeFor[[]byte]() {
		switch {
		case kind.Kind() == reflect.Slice:
			f.wire.Collection = "list"
			if _, isSet := reflect.Zero(kind).Interface().(setLike); isSet {
				f.wire.Collection = "set"
			}
		case kind.Kind() == reflect.Map && kind.Key().Kind() == reflect.String:
			f.wire.Collection = "dictionary"
		}
	}
	if f.wire.Collection == "" {
		f.isPlain = true
		return f.single(kind)
	}
	element := field{name: f.name, kind: kind.Elem()}
	if err := element.single(kind.Elem()); err != nil {
		return err
	}
	f.wire.Type, f.wire.Optional = element.wire.Type, element.wire.Optional
	f.wire.kind = collectionKinds[f.wire.Collection]
	wire := f.wire
	f.encode = func(e *encoder, at unsafe.Pointer) error {
		found := reflect.NewAt(kind, at).Elem()
		switch {
		case kind.Kind() == reflect.Map:
			e.kind(isDictionary)
			e.count(found.Len())
			for _, key := range found.MapKeys() {
				if err := e.name(key.String()); err != nil {
					return err
				}
				copied := reflect.New(kind.Elem())
				copied.Elem().Set(found.MapIndex(key))
				if err := element.encode(e, copied.UnsafePointer()); err != nil {
					return err
				}
			}
			return nil
		case wire.Collection == "set":
			e.kind(isSet)
		default:
			e.kind(isList)
		}
		e.count(found.Len())
		for index := range found.Len() {
			if err := element.encode(e, found.Index(index).Addr().UnsafePointer()); err != nil {
				return err
			}
		}
		return nil
	}
	f.decode = func(c *cell, _ *value, at unsafe.Pointer) error {
		content, err := c.content(wire.kind)
		if err != nil {
			return err
		}
		return assign(c.reader, content, reflect.NewAt(kind, at).Elem())
	}
	return nil
}

// content is a property with all elements of a collection.
func (c *cell) content(kind int) (any, error) {
	var raw C.go_bytes
	if err := failed(C.go_read(c.reader.realm, c.link.raw(), C.int64_t(c.key), C.int(kind), &raw)); err != nil {
		return nil, err
	}
	return decodeBytes(raw)
}

func wrongType(v *value, kind reflect.Type) error {
	return refused(3001, "a value of the type %d is no %v", v.kind, kind)
}

// plain makes the functions of a field for values of one kind.
func plain[T any](f *field, name string, tag uint32, put func(*encoder, T) error, get func(*value) (T, error)) {
	f.wire.Type = name
	f.encode = func(e *encoder, at unsafe.Pointer) error { return put(e, *(*T)(at)) }
	f.decode = func(_ *cell, v *value, at unsafe.Pointer) error {
		if v.kind != tag {
			return wrongType(v, f.kind)
		}
		found, err := get(v)
		*(*T)(at) = found
		return err
	}
}

func integer[T int | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](f *field) {
	put := func(e *encoder, number T) error {
		e.int(int64(number))
		return nil
	}
	get := func(v *value) (T, error) {
		number := v.int()
		if int64(T(number)) != number {
			return 0, refused(1001, "%d does not fit into %v", number, f.kind)
		}
		return T(number), nil
	}
	plain(f, "int", isInt, put, get)
}

// single finds out how a field of single values is stored.
func (f *field) single(kind reflect.Type) error {
	if target, isLink := reflect.Zero(kind).Interface().(linked); isLink {
		plainLink(f, target.targetClass())
		return nil
	}
	switch kind {
	case reflect.TypeFor[time.Time]():
		plain(f, "date", isTimestamp, func(e *encoder, given time.Time) error {
			e.time(timestampOf(given))
			return nil
		}, func(v *value) (time.Time, error) {
			if found, fits := v.time().Time(); fits {
				return found, nil
			}
			return time.Time{}, refused(1001, "time.Time cannot express the time")
		})
		return nil
	case reflect.TypeFor[Timestamp]():
		plain(f, "date", isTimestamp, func(e *encoder, given Timestamp) error {
			e.time(given)
			return nil
		}, func(v *value) (Timestamp, error) { return v.time(), nil })
		return nil
	case reflect.TypeFor[Decimal128]():
		plain(f, "decimal128", isDecimal, func(e *encoder, given Decimal128) error {
			e.decimal(given)
			return nil
		}, func(v *value) (Decimal128, error) { return *(*Decimal128)(unsafe.Pointer(&v.data)), nil })
		return nil
	case reflect.TypeFor[ObjectID]():
		plain(f, "objectId", isObjectID, func(e *encoder, given ObjectID) error {
			return e.any(given, nil)
		}, func(v *value) (ObjectID, error) { return ObjectID(v.data[:12]), nil })
		return nil
	case reflect.TypeFor[UUID]():
		plain(f, "uuid", isUUID, func(e *encoder, given UUID) error {
			return e.any(given, nil)
		}, func(v *value) (UUID, error) { return UUID(v.data), nil })
		return nil
	case reflect.TypeFor[[]byte]():
		plain(f, "data", isBinary, func(e *encoder, given []byte) error {
			return e.binary(given)
		}, func(v *value) ([]byte, error) { return append([]byte{}, v.view()...), nil })
		return nil
	case reflect.TypeFor[any]():
		mixed(f)
		return nil
	}
	switch kind.Kind() {
	case reflect.Int:
		integer[int](f)
	case reflect.Int8:
		integer[int8](f)
	case reflect.Int16:
		integer[int16](f)
	case reflect.Int32:
		integer[int32](f)
	case reflect.Int64:
		integer[int64](f)
	case reflect.Uint8:
		integer[uint8](f)
	case reflect.Uint16:
		integer[uint16](f)
	case reflect.Uint32:
		integer[uint32](f)
	case reflect.Bool:
		plain(f, "bool", isBool, func(e *encoder, given bool) error {
			e.bool(given)
			return nil
		}, func(v *value) (bool, error) { return v.data[0] != 0, nil })
	case reflect.Float32:
		plain(f, "float", isFloat, func(e *encoder, given float32) error {
			e.float(given)
			return nil
		}, func(v *value) (float32, error) { return math.Float32frombits(uint32(v.int())), nil })
	case reflect.Float64:
		plain(f, "double", isDouble, func(e *encoder, given float64) error {
			e.double(given)
			return nil
		}, func(v *value) (float64, error) { return math.Float64frombits(uint64(v.int())), nil })
	case reflect.String:
		plain(f, "string", isString, func(e *encoder, given string) error {
			return e.string(given)
		}, func(v *value) (string, error) { return text(v.view()) })
	case reflect.Pointer:
		return f.optional(kind)
	case reflect.Struct:
		if isEmbedded(kind) {
			embedded(f, kind)
			return nil
		}
		return refused(0, "the type %v cannot be stored: use a Link to it, or embed crealm.Embedded in it", kind)
	default:
		return refused(0, "the type %v cannot be stored", kind)
	}
	return nil
}

// optional is a pointer: to a value that may be null, or to an embedded object.
func (f *field) optional(kind reflect.Type) error {
	inside := field{name: f.name, kind: kind.Elem()}
	if err := inside.single(kind.Elem()); err != nil {
		return err
	}
	f.wire.Type, f.wire.Optional = inside.wire.Type, true
	f.encode = func(e *encoder, at unsafe.Pointer) error {
		pointer := *(*unsafe.Pointer)(at)
		if pointer == nil {
			e.kind(isNull)
			return nil
		}
		return inside.encode(e, pointer)
	}
	f.decode = func(c *cell, v *value, at unsafe.Pointer) error {
		if v.kind == isNull {
			*(*unsafe.Pointer)(at) = nil
			return nil
		}
		made := reflect.New(kind.Elem())
		if err := inside.decode(c, v, made.UnsafePointer()); err != nil {
			return err
		}
		*(*unsafe.Pointer)(at) = made.UnsafePointer()
		return nil
	}
	return nil
}

func plainLink(f *field, target string) {
	f.wire.Type = target
	f.encode = func(e *encoder, at unsafe.Pointer) error {
		e.link(*(*AnyLink)(at))
		return nil
	}
	f.decode = func(_ *cell, v *value, at unsafe.Pointer) error {
		switch v.kind {
		case isNull:
			*(*AnyLink)(at) = AnyLink{}
		case isLink:
			*(*AnyLink)(at) = v.link()
		default:
			return wrongType(v, f.kind)
		}
		return nil
	}
}

func embedded(f *field, kind reflect.Type) {
	f.wire.Type = classNameOf(kind)
	f.encode = func(e *encoder, at unsafe.Pointer) error { return e.embeddedStruct(reflect.NewAt(kind, at).Elem()) }
	f.decode = func(c *cell, v *value, at unsafe.Pointer) error {
		if v.kind != isLink {
			return wrongType(v, kind)
		}
		bound, err := c.reader.schema.binding(kind)
		if err != nil {
			return err
		}
		return c.reader.load(bound, v.link(), at)
	}
}

func mixed(f *field) {
	f.wire.Type = "mixed"
	f.encode = func(e *encoder, at unsafe.Pointer) error { return e.any(*(*any)(at), nil) }
	f.decode = func(c *cell, v *value, at unsafe.Pointer) error {
		var found any
		var err error
		if v.kind == isList || v.kind == isDictionary {
			found, err = c.content(0)
		} else {
			found, err = v.any()
		}
		*(*any)(at) = found
		return err
	}
}

var fields sync.Map // of reflect.Type: *field

// fieldOf is how values of this type are stored.
func fieldOf(kind reflect.Type) (*field, error) {
	if found, has := fields.Load(kind); has {
		return found.(*field), nil
	}
	made := &field{kind: kind}
	if err := made.complete(); err != nil {
		return nil, err
	}
	fields.Store(kind, made)
	return made, nil
}

// load reads an object into a struct.
func (r reader) load(bound *binding, link AnyLink, into unsafe.Pointer) error {
	// An embedded object is loaded while the object around it uses a page: each call has its own.
	page := pages.Get().(*rowPage)
	defer page.release()
	page.grow(len(bound.plain))
	values := page.values
	keys := first[C.int64_t](bound.plain)
	err := failed(C.go_get(r.realm, link.raw(), C.size_t(len(bound.plain)), keys, rawValues(values)))
	if err != nil {
		return err
	}
	return r.fill(&page.cell, bound, link, values, into)
}

// fill puts the values of an object into a struct. The cell is memory for the call.
func (r reader) fill(c *cell, bound *binding, link AnyLink, values []value, into unsafe.Pointer) error {
	c.reader, c.link = r, link
	next := 0
	for index := range bound.plan.fields {
		field := &bound.plan.fields[index]
		var found *value
		if field.isPlain {
			found = &values[next]
			next++
		}
		c.key = bound.keys[index]
		if err := field.decode(c, found, unsafe.Add(into, field.offset)); err != nil {
			return err
		}
	}
	return nil
}

func rawValues(values []value) *C.realm_value_t {
	return (*C.realm_value_t)(unsafe.Pointer(unsafe.SliceData(values)))
}

// first is the address of the elements as another type of the same size.
func first[C, G any](list []G) *C {
	return (*C)(unsafe.Pointer(unsafe.SliceData(list)))
}

// assign puts a value that was read into a variable of the program.
func assign(r reader, found any, into reflect.Value) error {
	kind := into.Type()
	if found == nil {
		into.SetZero()
		return nil
	}
	if kind == reflect.TypeFor[any]() {
		into.Set(reflect.ValueOf(found))
		return nil
	}
	if _, is := into.Interface().(linked); is {
		if link, isLink := found.(AnyLink); isLink {
			*(*AnyLink)(into.Addr().UnsafePointer()) = link
			return nil
		}
	}
	if kind.Kind() == reflect.Pointer {
		made := reflect.New(kind.Elem())
		if err := assign(r, found, made.Elem()); err != nil {
			return err
		}
		into.Set(made)
		return nil
	}
	switch found := found.(type) {
	case []any:
		return assignElements(r, found, into)
	case Set[any]:
		return assignElements(r, found, into)
	case map[string]any:
		made := reflect.MakeMapWithSize(kind, len(found))
		for key, each := range found {
			element := reflect.New(kind.Elem()).Elem()
			if err := assign(r, each, element); err != nil {
				return err
			}
			made.SetMapIndex(reflect.ValueOf(key).Convert(kind.Key()), element)
		}
		into.Set(made)
		return nil
	case int64:
		switch {
		case into.CanInt() && !into.OverflowInt(found):
			into.SetInt(found)
			return nil
		case into.CanUint() && found >= 0 && !into.OverflowUint(uint64(found)):
			into.SetUint(uint64(found))
			return nil
		}
		return refused(1001, "%d does not fit into %v", found, kind)
	case AnyLink:
		if isEmbedded(kind) {
			bound, err := r.schema.binding(kind)
			if err != nil {
				return err
			}
			return r.load(bound, found, into.Addr().UnsafePointer())
		}
	case time.Time:
		if kind == reflect.TypeFor[Timestamp]() {
			into.Set(reflect.ValueOf(timestampOf(found)))
			return nil
		}
	}
	from := reflect.ValueOf(found)
	if from.Type().AssignableTo(kind) {
		into.Set(from)
		return nil
	}
	if from.Kind() == kind.Kind() && from.Type().ConvertibleTo(kind) {
		into.Set(from.Convert(kind))
		return nil
	}
	return refused(3001, "a value of type %v is no %v", from.Type(), kind)
}

func assignElements(r reader, found []any, into reflect.Value) error {
	if into.Kind() != reflect.Slice {
		return refused(3001, "a collection is no %v", into.Type())
	}
	made := reflect.MakeSlice(into.Type(), len(found), len(found))
	for index, each := range found {
		if err := assign(r, each, made.Index(index)); err != nil {
			return err
		}
	}
	into.Set(made)
	return nil
}
