package crealm

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"
)

// AnyLink is the address of an object of any class. The zero value is no address: null.
type AnyLink struct {
	class  uint32
	object int64 // the key of the object, plus one
}

// IsNil says whether this is no address.
func (l AnyLink) IsNil() bool {
	return l.object == 0
}

// Any is the address itself: with Link it makes both usable where an AnyLink is needed.
func (l AnyLink) Any() AnyLink {
	return l
}

func (l AnyLink) raw() C.realm_link_t {
	return C.realm_link_t{target_table: C.uint32_t(l.class), target: C.int64_t(l.object - 1)}
}

func linkOf(raw C.realm_link_t) AnyLink {
	return AnyLink{class: uint32(raw.target_table), object: int64(raw.target) + 1}
}

// Address is a Link or an AnyLink.
type Address interface {
	Any() AnyLink
}

// Link is the address of an object of the class of T. The zero value is null. It may be kept and go to other
// goroutines; if the object was deleted, calls with it fail with ErrNotFound.
type Link[T any] struct {
	AnyLink
}

func (Link[T]) targetClass() string {
	return classNameOf(reflect.TypeFor[T]())
}

// Set is a set of values, as a field of a struct.
type Set[T any] []T

func (Set[T]) isSet() {}

// Timestamp is a point in time beyond the range of time.Time: seconds since 1970 and nanoseconds of the same sign.
type Timestamp struct {
	Seconds     int64
	Nanoseconds int32
}

// ObjectID is twelve bytes, as MongoDB defines them.
type ObjectID [12]byte

func (id ObjectID) String() string {
	return hex.EncodeToString(id[:])
}

// ParseObjectID reads 24 hexadecimal digits.
func ParseObjectID(text string) (ObjectID, error) {
	var id ObjectID
	bytes, err := hex.DecodeString(text)
	if err != nil || len(bytes) != 12 {
		return id, refused(3000, "%q is no ObjectID", text)
	}
	copy(id[:], bytes)
	return id, nil
}

// UUID is sixteen bytes, in the order of the text form.
type UUID [16]byte

func (id UUID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// ParseUUID reads the form 01234567-89ab-cdef-0123-456789abcdef.
func ParseUUID(text string) (UUID, error) {
	var id UUID
	bytes, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(bytes) != 16 {
		return id, refused(3000, "%q is no UUID", text)
	}
	copy(id[:], bytes)
	if !strings.EqualFold(id.String(), text) {
		return UUID{}, refused(3000, "%q is no UUID", text)
	}
	return id, nil
}

// value is a realm_value_t: no pointer of Go is ever in it.
type value struct {
	data [16]byte
	kind uint32
	_    uint32
}

// The types of values, as in the C API and the shim.
const (
	isNull       = 0
	isInt        = 1
	isBool       = 2
	isString     = 3
	isBinary     = 4
	isTimestamp  = 5
	isFloat      = 6
	isDouble     = 7
	isDecimal    = 8
	isObjectID   = 9
	isLink       = 10
	isUUID       = 11
	isList       = 12
	isDictionary = 13
	isSet        = 64
	isObject     = 65
	isNothing    = 255
)

func (v *value) int() int64 {
	return *(*int64)(unsafe.Pointer(&v.data))
}

// view is the memory of a text or of bytes, which belongs to the version that is read.
func (v *value) view() []byte {
	pointer := *(**byte)(unsafe.Pointer(&v.data))
	if pointer == nil {
		return nil
	}
	return unsafe.Slice(pointer, *(*uint)(unsafe.Pointer(&v.data[8])))
}

func (v *value) link() AnyLink {
	return linkOf(*(*C.realm_link_t)(unsafe.Pointer(&v.data)))
}

func (v *value) time() Timestamp {
	return Timestamp{Seconds: v.int(), Nanoseconds: *(*int32)(unsafe.Pointer(&v.data[8]))}
}

// latestSecond is the last that time.Time can express: it counts from the year 1.
const latestSecond = math.MaxInt64 - 62135596800

// Time is the same point in time; false if time.Time cannot express it.
func (t Timestamp) Time() (time.Time, bool) {
	if t.Seconds == math.MinInt64 && t.Nanoseconds < 0 || t.Seconds > latestSecond {
		return time.Time{}, false
	}
	return time.Unix(t.Seconds, int64(t.Nanoseconds)).UTC(), true
}

func timestampOf(t time.Time) Timestamp {
	seconds, nanoseconds := t.Unix(), int32(t.Nanosecond())
	if seconds < 0 && nanoseconds > 0 {
		return Timestamp{seconds + 1, nanoseconds - 1_000_000_000}
	}
	return Timestamp{seconds, nanoseconds}
}

func timeOrTimestamp(t Timestamp) any {
	if found, fits := t.Time(); fits {
		return found
	}
	return t
}

// any is the value in the form that this package gives it to programs: nil, int64, bool, string, []byte, time.Time or
// Timestamp, float32, float64, Decimal128, ObjectID, AnyLink, UUID. Collections have no content here.
func (v *value) any() (any, error) {
	switch v.kind {
	case isNull:
		return nil, nil
	case isInt:
		return v.int(), nil
	case isBool:
		return v.data[0] != 0, nil
	case isString:
		return text(v.view())
	case isBinary:
		return append([]byte{}, v.view()...), nil
	case isTimestamp:
		return timeOrTimestamp(v.time()), nil
	case isFloat:
		return *(*float32)(unsafe.Pointer(&v.data)), nil
	case isDouble:
		return *(*float64)(unsafe.Pointer(&v.data)), nil
	case isDecimal:
		return *(*Decimal128)(unsafe.Pointer(&v.data)), nil
	case isObjectID:
		return ObjectID(v.data[:12]), nil
	case isUUID:
		return UUID(v.data), nil
	case isLink:
		return v.link(), nil
	}
	return nil, refused(0, "a value of the unknown type %d", v.kind)
}

func text(view []byte) (string, error) {
	if !utf8.Valid(view) {
		return "", refused(1021, "a text of the file is not UTF-8")
	}
	return string(view), nil
}

// decoder reads encoded values, which the shim made.
type decoder struct {
	bytes []byte
}

func (d *decoder) take(count int) []byte {
	taken := d.bytes[:count]
	d.bytes = d.bytes[count:]
	return taken
}

func (d *decoder) count() int {
	return int(binary.NativeEndian.Uint32(d.take(4)))
}

func (d *decoder) value() (any, error) {
	switch kind := d.take(1)[0]; kind {
	case isNull:
		return nil, nil
	case isInt:
		return int64(binary.NativeEndian.Uint64(d.take(8))), nil
	case isBool:
		return d.take(1)[0] != 0, nil
	case isString:
		return text(d.take(d.count()))
	case isBinary:
		return append([]byte{}, d.take(d.count())...), nil
	case isTimestamp:
		seconds := int64(binary.NativeEndian.Uint64(d.take(8)))
		return timeOrTimestamp(Timestamp{seconds, int32(binary.NativeEndian.Uint32(d.take(4)))}), nil
	case isFloat:
		return math.Float32frombits(binary.NativeEndian.Uint32(d.take(4))), nil
	case isDouble:
		return math.Float64frombits(binary.NativeEndian.Uint64(d.take(8))), nil
	case isDecimal:
		return Decimal128{binary.NativeEndian.Uint64(d.take(8)), binary.NativeEndian.Uint64(d.take(8))}, nil
	case isObjectID:
		return ObjectID(d.take(12)), nil
	case isUUID:
		return UUID(d.take(16)), nil
	case isLink:
		class := binary.NativeEndian.Uint32(d.take(4))
		return AnyLink{class, int64(binary.NativeEndian.Uint64(d.take(8))) + 1}, nil
	case isList, isSet:
		list := make([]any, d.count())
		for index := range list {
			var err error
			if list[index], err = d.value(); err != nil {
				return nil, err
			}
		}
		if kind == isSet {
			return Set[any](list), nil
		}
		return list, nil
	case isDictionary:
		pairs := map[string]any{}
		for range d.count() {
			key, err := text(d.take(d.count()))
			if err != nil {
				return nil, err
			}
			if pairs[key], err = d.value(); err != nil {
				return nil, err
			}
		}
		return pairs, nil
	default:
		return nil, refused(0, "a value of the unknown type %d", kind)
	}
}

// readBytes takes the bytes of the shim.
func decodeBytes(raw C.go_bytes) (any, error) {
	defer C.free(unsafe.Pointer(raw.data))
	d := decoder{unsafe.Slice((*byte)(raw.data), int(raw.size))}
	return d.value()
}

// encoder makes encoded values for the shim.
type encoder struct {
	bytes  []byte
	schema *schema
	depth  int // of calls of any: collections and pointers that contain themselves have no end
}

// mostDepth is more than collections may nest: the library refuses them with a better message.
const mostDepth = 300

func (e *encoder) kind(kind byte) {
	e.bytes = append(e.bytes, kind)
}

func (e *encoder) number(number uint64) {
	e.bytes = binary.NativeEndian.AppendUint64(e.bytes, number)
}

func (e *encoder) count(count int) {
	e.bytes = binary.NativeEndian.AppendUint32(e.bytes, uint32(count))
}

func (e *encoder) int(number int64) {
	e.kind(isInt)
	e.number(uint64(number))
}

func (e *encoder) bool(given bool) {
	number := byte(0)
	if given {
		number = 1
	}
	e.bytes = append(e.bytes, isBool, number)
}

func (e *encoder) name(text string) error {
	if len(text) > math.MaxInt32 {
		return refused(3018, "a text is too large")
	}
	e.count(len(text))
	e.bytes = append(e.bytes, text...)
	return nil
}

func (e *encoder) string(text string) error {
	e.kind(isString)
	return e.name(text)
}

func (e *encoder) binary(given []byte) error {
	e.kind(isBinary)
	return e.name(unsafe.String(unsafe.SliceData(given), len(given)))
}

func (e *encoder) float(number float32) {
	e.kind(isFloat)
	e.bytes = binary.NativeEndian.AppendUint32(e.bytes, math.Float32bits(number))
}

func (e *encoder) double(number float64) {
	e.kind(isDouble)
	e.number(math.Float64bits(number))
}

func (e *encoder) time(given Timestamp) {
	e.kind(isTimestamp)
	e.number(uint64(given.Seconds))
	e.bytes = binary.NativeEndian.AppendUint32(e.bytes, uint32(given.Nanoseconds))
}

func (e *encoder) decimal(given Decimal128) {
	e.kind(isDecimal)
	e.number(given.Low)
	e.number(given.High)
}

func (e *encoder) link(link AnyLink) {
	if link.IsNil() {
		e.kind(isNull)
		return
	}
	e.kind(isLink)
	e.bytes = binary.NativeEndian.AppendUint32(e.bytes, link.class)
	e.number(uint64(link.object - 1))
}

// any encodes a value of a program. property is where it goes: it says which type a number gets, whether a
// dictionary is an embedded object, and whether a list is a set; nil: a place for values of any type.
func (e *encoder) any(given any, property *PropertyInfo) error {
	if e.depth == mostDepth {
		return refused(3018, "a collection or a pointer nests too deep, or contains itself")
	}
	e.depth++
	defer func() { e.depth-- }()
	kind := "mixed"
	if property != nil {
		kind = property.Type
		if property.Collection != "" {
			return e.collection(given, property)
		}
	}
	switch given := given.(type) {
	case nil:
		e.kind(isNull)
		return nil
	case string:
		return e.string(given)
	case []byte:
		return e.binary(given)
	case bool:
		e.bool(given)
		return nil
	case float32:
		switch kind {
		case "double":
			e.double(float64(given))
		default:
			e.float(given)
		}
		return nil
	case float64:
		if kind == "float" {
			e.float(float32(given))
		} else {
			e.double(given)
		}
		return nil
	case time.Time:
		e.time(timestampOf(given))
		return nil
	case Timestamp:
		e.time(given)
		return nil
	case Decimal128:
		e.decimal(given)
		return nil
	case ObjectID:
		e.kind(isObjectID)
		e.bytes = append(e.bytes, given[:]...)
		return nil
	case UUID:
		e.kind(isUUID)
		e.bytes = append(e.bytes, given[:]...)
		return nil
	case Address:
		e.link(given.Any())
		return nil
	case []any:
		return e.elements(isList, given, nil)
	case map[string]any:
		if class, found := e.embedded(kind); found {
			return e.object(given, class)
		}
		return e.pairs(given, nil)
	}
	return e.reflected(reflect.ValueOf(given), kind)
}

// embedded is the class of embedded objects with this name.
func (e *encoder) embedded(name string) (*ClassInfo, bool) {
	if e.schema == nil {
		return nil, false
	}
	class, found := e.schema.classes[name]
	return class, found && class.Embedded
}

func (e *encoder) reflected(given reflect.Value, kind string) error {
	switch given.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return e.integer(given.Int(), kind)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if given.Uint() > math.MaxInt64 {
			return refused(1001, "%d does not fit into 64 bits with a sign", given.Uint())
		}
		return e.integer(int64(given.Uint()), kind)
	case reflect.Pointer:
		if given.IsNil() {
			e.kind(isNull)
			return nil
		}
		if given.Elem().Kind() == reflect.Struct && isEmbedded(given.Elem().Type()) {
			return e.embeddedStruct(given.Elem())
		}
		return e.any(given.Elem().Interface(), &PropertyInfo{Type: kind})
	case reflect.Slice:
		list := make([]any, given.Len())
		for index := range list {
			list[index] = given.Index(index).Interface()
		}
		return e.elements(isList, list, nil)
	case reflect.Struct:
		if isEmbedded(given.Type()) {
			return e.embeddedStruct(given)
		}
	case reflect.String:
		return e.string(given.String())
	}
	return refused(3001, "a value of type %v cannot be stored", given.Type())
}

func (e *encoder) integer(number int64, kind string) error {
	switch kind {
	case "double":
		e.double(float64(number))
	case "float":
		e.float(float32(number))
	case "decimal128":
		e.decimal(DecimalOf(number))
	default:
		e.int(number)
	}
	return nil
}

func (e *encoder) collection(given any, property *PropertyInfo) error {
	element := *property
	element.Collection = ""
	if property.Collection == "dictionary" {
		pairs, isMap := given.(map[string]any)
		if !isMap {
			found := reflect.ValueOf(given)
			if found.Kind() != reflect.Map || found.Type().Key().Kind() != reflect.String {
				return refused(3001, "%s takes a map from texts", property.Name)
			}
			pairs = map[string]any{}
			for _, key := range found.MapKeys() {
				pairs[key.String()] = found.MapIndex(key).Interface()
			}
		}
		return e.pairs(pairs, &element)
	}
	list, isSlice := given.([]any)
	if !isSlice {
		found := reflect.ValueOf(given)
		if found.Kind() != reflect.Slice {
			return refused(3001, "%s takes a slice", property.Name)
		}
		list = make([]any, found.Len())
		for index := range list {
			list[index] = found.Index(index).Interface()
		}
	}
	kind := byte(isList)
	if property.Collection == "set" {
		kind = isSet
	}
	return e.elements(kind, list, &element)
}

func (e *encoder) elements(kind byte, list []any, element *PropertyInfo) error {
	e.kind(kind)
	e.count(len(list))
	for _, each := range list {
		if err := e.any(each, element); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) pairs(pairs map[string]any, element *PropertyInfo) error {
	e.kind(isDictionary)
	e.count(len(pairs))
	for key, each := range pairs {
		if err := e.name(key); err != nil {
			return err
		}
		if err := e.any(each, element); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) object(values map[string]any, class *ClassInfo) error {
	e.kind(isObject)
	e.count(len(values))
	for name, each := range values {
		property, err := class.property(name)
		if err != nil {
			return err
		}
		e.number(uint64(property.key))
		if err := e.any(each, property); err != nil {
			return err
		}
	}
	return nil
}

// embeddedStruct encodes all fields of a struct for a new embedded object.
func (e *encoder) embeddedStruct(given reflect.Value) error {
	bound, err := e.schema.binding(given.Type())
	if err != nil {
		return err
	}
	if !given.CanAddr() {
		copied := reflect.New(given.Type()).Elem()
		copied.Set(given)
		given = copied
	}
	e.kind(isObject)
	e.count(len(bound.keys))
	for index := range bound.keys {
		e.number(uint64(bound.keys[index]))
		field := &bound.plan.fields[index]
		if err := field.encode(e, unsafe.Add(given.Addr().UnsafePointer(), field.offset)); err != nil {
			return err
		}
	}
	return nil
}
