package crealm

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/cgo"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
	"unsafe"
)

// Option is an option of Open.
type Option func(*config) error

type config struct {
	path     string
	types    []reflect.Type
	classes  []ClassInfo
	version  uint64
	key      []byte
	inMemory bool
	readOnly bool
	timeout  int64
	migrate  func(*Migration) error
	failure  error // of the migration
}

// Class adds the class of a struct to the schema. A database without classes shows all that the file has.
func Class[T any]() Option {
	return func(c *config) error {
		kind := reflect.TypeFor[T]()
		plan, err := planOf(kind)
		if err != nil {
			return err
		}
		c.types = append(c.types, kind)
		c.classes = append(c.classes, plan.class)
		return nil
	}
}

// Classes adds classes that have no struct.
func Classes(classes ...ClassInfo) Option {
	return func(c *config) error {
		c.classes = append(c.classes, classes...)
		return nil
	}
}

// SchemaVersion sets the version of the schema; 0 without it. A change of classes needs a higher one than the file has.
func SchemaVersion(version uint64) Option {
	return func(c *config) error {
		c.version = version
		return nil
	}
}

// Migrate sets the function that carries data over if the file has a lower schema version.
func Migrate(function func(*Migration) error) Option {
	return func(c *config) error {
		c.migrate = function
		return nil
	}
}

// Key sets the key of an encrypted file: 64 bytes.
func Key(key []byte) Option {
	return func(c *config) error {
		if len(key) != 64 {
			return refused(3014, "a key has 64 bytes, not %d", len(key))
		}
		c.key = append([]byte(nil), key...)
		return nil
	}
}

// InMemory keeps the data in memory only, as long as the file is open somewhere.
func InMemory() Option {
	return func(c *config) error {
		c.inMemory = true
		return nil
	}
}

// ReadOnly opens the file for reading; it follows the writes of others.
func ReadOnly() Option {
	return func(c *config) error {
		c.readOnly = true
		return nil
	}
}

// LockTimeout sets how long calls wait for other users of the file.
func LockTimeout(timeout time.Duration) Option {
	return func(c *config) error {
		c.timeout = timeout.Milliseconds()
		return nil
	}
}

// raw makes the configuration of the library. The second result frees it.
func (c *config) raw() (*C.realm_config_t, func(), error) {
	if strings.IndexByte(c.path, 0) >= 0 {
		return nil, nil, refused(3000, "the path has a NUL in it")
	}
	schema := []byte("")
	if len(c.classes) > 0 {
		var err error
		if schema, err = json.Marshal(schemaJSON(c.classes)); err != nil {
			return nil, nil, err
		}
	}
	path := C.CString(c.path)
	defer C.free(unsafe.Pointer(path))
	mode := C.int(C.RLM_SCHEMA_MODE_AUTOMATIC)
	if c.readOnly {
		mode = C.RLM_SCHEMA_MODE_READ_ONLY
	}
	var migration cgo.Handle
	if c.migrate != nil && !c.readOnly {
		migration = cgo.NewHandle(c)
	}
	var config *C.realm_config_t
	err := failed(C.go_config(path, (*C.char)(unsafe.Pointer(unsafe.SliceData(schema))), C.size_t(len(schema)),
		C.uint64_t(c.version), mode, C.bool(c.inMemory), (*C.uint8_t)(unsafe.SliceData(c.key)), C.size_t(len(c.key)),
		C.int64_t(c.timeout), C.uintptr_t(migration), &config))
	free := func() {
		C.go_release(unsafe.Pointer(config))
		if migration != 0 {
			migration.Delete()
		}
	}
	if err != nil {
		free()
		return nil, nil, err
	}
	return config, free, nil
}

// PropertyInfo is a property of a class.
type PropertyInfo struct {
	Name string
	// Type is int, bool, string, data, date, float, double, decimal128, objectId, uuid, mixed, or the name of a class.
	Type string
	// Collection is "" for one value, "list", "set" or "dictionary".
	Collection string
	Optional   bool
	Indexed    bool
	FullText   bool

	key  int64
	kind int // of the collection, as in the C API
}

// ClassInfo is a class.
type ClassInfo struct {
	Name       string
	PrimaryKey string
	Embedded   bool
	Properties []PropertyInfo

	key    uint32
	byName map[string]*PropertyInfo
}

var collectionKinds = map[string]int{"": 0, "list": 1, "set": 2, "dictionary": 4}

func schemaJSON(classes []ClassInfo) any {
	endings := map[string]string{"list": "[]", "set": "<>", "dictionary": "{}"}
	list := []any{}
	for _, class := range classes {
		properties := map[string]any{}
		for _, property := range class.Properties {
			text := property.Type
			if property.Optional && simpleTypes[property.Type] {
				text += "?"
			}
			if !property.Indexed && !property.FullText {
				properties[property.Name] = text + endings[property.Collection]
				continue
			}
			settings := map[string]any{"type": property.Type, "optional": property.Optional, "indexed": true}
			if property.Collection != "" {
				settings["type"], settings["objectType"] = property.Collection, property.Type
			}
			if property.FullText {
				settings["indexed"] = "full-text"
			}
			properties[property.Name] = settings
		}
		found := map[string]any{"name": class.Name, "properties": properties}
		if class.PrimaryKey != "" {
			found["primaryKey"] = class.PrimaryKey
		}
		if class.Embedded {
			found["embedded"] = true
		}
		list = append(list, found)
	}
	return list
}

var simpleTypes = map[string]bool{
	"int": true, "bool": true, "string": true, "data": true, "date": true, "float": true, "double": true,
	"decimal128": true, "objectId": true, "uuid": true,
}

// schema is the classes of an open file, and where the fields of structs are in them. It never changes.
type schema struct {
	classes  map[string]*ClassInfo
	byKey    map[uint32]*ClassInfo
	bindings map[reflect.Type]*binding
}

// binding is the plan of a struct with the keys of a file.
type binding struct {
	plan  *plan
	class *ClassInfo
	keys  []int64 // of all fields
	plain []int64 // of those whose values are read together
}

// invalidClass is RLM_INVALID_CLASS_KEY.
const invalidClass = 0x7fffffff

func readSchema(realm *C.realm_t, config *config) (*schema, error) {
	var text C.go_bytes
	if err := failed(C.go_schema(realm, &text)); err != nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(text.data))
	var list []struct {
		Name       string
		PrimaryKey string
		Embedded   bool
		Properties map[string]struct {
			Type       string
			ObjectType string
			Optional   bool
			Indexed    any
		}
	}
	if err := json.Unmarshal(unsafe.Slice((*byte)(text.data), int(text.size)), &list); err != nil {
		return nil, err
	}
	found := &schema{
		classes:  map[string]*ClassInfo{},
		byKey:    map[uint32]*ClassInfo{},
		bindings: map[reflect.Type]*binding{},
	}
	for _, each := range list {
		class := &ClassInfo{Name: each.Name, PrimaryKey: each.PrimaryKey, Embedded: each.Embedded}
		class.byName = map[string]*PropertyInfo{}
		name := C.CString(each.Name)
		defer C.free(unsafe.Pointer(name))
		var key C.uint32_t
		if err := failed(C.go_keys(realm, name, &key)); err != nil {
			return nil, err
		}
		class.key = uint32(key)
		if key == invalidClass {
			continue // The file is read only, and does not have a class that was declared.
		}
		for name, settings := range each.Properties {
			property := PropertyInfo{Name: name, Type: settings.Type, Optional: settings.Optional}
			if _, isCollection := collectionKinds[settings.Type]; isCollection {
				property.Collection, property.Type = settings.Type, settings.ObjectType
			} else if settings.Type == "object" {
				property.Type = settings.ObjectType
			}
			property.Indexed, _ = settings.Indexed.(bool)
			property.FullText = settings.Indexed == "full-text"
			property.kind = collectionKinds[property.Collection]
			text := C.CString(name)
			var key C.int64_t
			err := failed(C.go_property(realm, C.uint32_t(class.key), text, &key))
			C.free(unsafe.Pointer(text))
			if err != nil {
				return nil, err
			}
			property.key = int64(key)
			class.Properties = append(class.Properties, property)
		}
		sort.Slice(class.Properties, func(i, j int) bool { return class.Properties[i].key < class.Properties[j].key })
		for index := range class.Properties {
			class.byName[class.Properties[index].Name] = &class.Properties[index]
		}
		found.classes[class.Name] = class
		found.byKey[class.key] = class
	}
	for _, kind := range config.types {
		if bound, err := found.bind(kind); err == nil {
			found.bindings[kind] = bound
		}
	}
	return found, nil
}

func (s *schema) bind(kind reflect.Type) (*binding, error) {
	plan, err := planOf(kind)
	if err != nil {
		return nil, err
	}
	class, err := s.class(plan.class.Name)
	if err != nil {
		return nil, err
	}
	bound := &binding{plan: plan, class: class}
	for index := range plan.fields {
		property, err := class.property(plan.fields[index].name)
		if err != nil {
			return nil, err
		}
		bound.keys = append(bound.keys, property.key)
		if plan.fields[index].isPlain {
			bound.plain = append(bound.plain, property.key)
		}
	}
	return bound, nil
}

func (s *schema) binding(kind reflect.Type) (*binding, error) {
	if bound, found := s.bindings[kind]; found {
		return bound, nil
	}
	return nil, refused(3020, "the database was opened without the class of %v, or only reads a file that lacks it", kind)
}

func (s *schema) class(name string) (*ClassInfo, error) {
	if class, found := s.classes[name]; found {
		return class, nil
	}
	return nil, refused(3020, "the database has no class %q", name)
}

func (s *schema) classOf(key uint32) (*ClassInfo, error) {
	if class, found := s.byKey[key]; found {
		return class, nil
	}
	return nil, refused(3020, "the database has no class with the key %d", key)
}

func (c *ClassInfo) property(name string) (*PropertyInfo, error) {
	if property, found := c.byName[name]; found {
		return property, nil
	}
	return nil, refused(3009, "%s has no property %q", c.Name, name)
}

// Schema lists the classes of the file, in the order of their names.
func (db *DB) Schema() []ClassInfo {
	list := []ClassInfo{}
	for _, class := range db.schema.classes {
		list = append(list, *class)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

// Embedded marks a struct whose objects live inside of exactly one other object: embed it in the struct.
type Embedded struct{}

// plan is how the fields of a struct are stored.
type plan struct {
	class      ClassInfo
	fields     []field
	primaryKey int // the index of its field; -1: none
}

type field struct {
	name    string
	index   []int
	offset  uintptr
	kind    reflect.Type
	isPlain bool // whether the value is read together with others
	encode  func(e *encoder, at unsafe.Pointer) error
	decode  func(c *cell, value *value, at unsafe.Pointer) error
	wire    PropertyInfo
}

var plans sync.Map // of reflect.Type: *plan or error

func planOf(kind reflect.Type) (*plan, error) {
	if found, has := plans.Load(kind); has {
		if err, isError := found.(error); isError {
			return nil, err
		}
		return found.(*plan), nil
	}
	made, err := makePlan(kind)
	if err != nil {
		plans.Store(kind, err)
		return nil, err
	}
	plans.Store(kind, made)
	return made, nil
}

// ClassNamer is for structs whose class has another name than the type.
type ClassNamer interface {
	RealmClass() string
}

func classNameOf(kind reflect.Type) string {
	if namer, has := reflect.New(kind).Interface().(ClassNamer); has {
		return namer.RealmClass()
	}
	name, _, _ := strings.Cut(kind.Name(), "[")
	return name
}

func isEmbedded(kind reflect.Type) bool {
	if kind.Kind() != reflect.Struct {
		return false
	}
	marker, has := kind.FieldByName("Embedded")
	return has && marker.Anonymous && marker.Type == reflect.TypeFor[Embedded]()
}

func makePlan(kind reflect.Type) (*plan, error) {
	if kind.Kind() != reflect.Struct || kind.Name() == "" {
		return nil, refused(0, "%v is no struct with a name", kind)
	}
	made := &plan{class: ClassInfo{Name: classNameOf(kind), Embedded: isEmbedded(kind)}, primaryKey: -1}
	for index := range kind.NumField() {
		each := kind.Field(index)
		tag := each.Tag.Get("realm")
		if tag == "-" || !each.IsExported() || each.Type == reflect.TypeFor[Embedded]() {
			continue
		}
		words := strings.Split(tag, ",")
		name := each.Name
		if words[0] != "" {
			name = words[0]
		}
		if taken := slices.ContainsFunc(made.fields, func(other field) bool { return other.name == name }); taken {
			return nil, refused(2016, "%v.%s: another field has the name %q", kind, each.Name, name)
		}
		if !utf8.ValidString(name) {
			return nil, refused(2016, "%v.%s: the name %q is not UTF-8", kind, each.Name, name)
		}
		found := field{name: name, index: each.Index, offset: each.Offset, kind: each.Type}
		found.wire = PropertyInfo{Name: name}
		if err := found.complete(); err != nil {
			return nil, fmt.Errorf("%v.%s: %w", kind, each.Name, err)
		}
		for _, word := range words[1:] {
			switch word {
			case "pk":
				if made.primaryKey >= 0 {
					return nil, refused(2016, "%v.%s: the struct has another primary key", kind, each.Name)
				}
				made.primaryKey = len(made.fields)
				made.class.PrimaryKey = name
			case "index":
				found.wire.Indexed = true
			case "fulltext":
				found.wire.FullText = true
			default:
				return nil, refused(0, "%v.%s: the tag has the unknown word %q", kind, each.Name, word)
			}
		}
		made.class.Properties = append(made.class.Properties, found.wire)
		made.fields = append(made.fields, found)
	}
	return made, nil
}

// Migration is a file that is being changed to a new schema.
type Migration struct {
	Old    *Tx // the file before the migration, to be read by names
	New    *Tx // the file with the new schema
	schema *C.realm_schema_t
}

// Rename gives a property of the new schema the values of one of the old schema.
func (m *Migration) Rename(class, old, new string) error {
	if strings.IndexByte(class+old+new, 0) >= 0 {
		return refused(3000, "a name has a NUL in it")
	}
	texts := []*C.char{C.CString(class), C.CString(old), C.CString(new)}
	for _, text := range texts {
		defer C.free(unsafe.Pointer(text))
	}
	return m.New.write(func(r reader) error {
		return failed(C.go_rename(r.realm, m.schema, texts[0], texts[1], texts[2]))
	})
}

//export goMigrate
func goMigrate(migration C.uintptr_t, old, new *C.realm_t, schema *C.realm_schema_t) (done C.bool) {
	config := cgo.Handle(migration).Value().(*config)
	defer func() {
		// A panic must not pass through the library.
		if found := recover(); found != nil {
			config.failure = fmt.Errorf("crealm: the migration panicked: %v", found)
			done = false
		}
	}()
	config.failure = runMigration(config, old, new, schema)
	return C.bool(config.failure == nil)
}
