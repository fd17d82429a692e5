package crealm

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"context"
	"iter"
	"reflect"
	"strings"
	"unsafe"
)

// The most rows that one call reads.
const page = 256

// Rows is what a query finds: objects of any class, or values of a collection. It is a description, which may be
// kept and used by several goroutines; each method runs the query.
type Rows struct {
	from     Reader
	class    string
	owner    AnyLink // of a collection; null: the objects of the class
	property string
	isLinks  bool // whether the rows are the objects whose property links to the owner
	text     string
	args     []any
	order    string
	unique   string
	most     int
}

// Results is what a query finds: objects of the class of T.
type Results[T any] struct {
	Rows
}

// Query finds objects: crealm.Query[Person](db, "age > $0 SORT(name ASC)", 30). An empty text finds all. The
// language of queries is described in docs/query-language.md. An argument that is a slice is a list, as for IN.
func Query[T any](from Reader, text string, args ...any) Results[T] {
	return Results[T]{Rows{from: from, class: classNameOf(reflect.TypeFor[T]()), text: text, args: args, most: -1}}
}

// QueryClass finds objects of any class.
func QueryClass(from Reader, class, text string, args ...any) Rows {
	return Rows{from: from, class: class, text: text, args: args, most: -1}
}

// QueryCollection finds elements of a list, a set or a dictionary.
func QueryCollection(from Reader, link Address, property, text string, args ...any) Rows {
	return Rows{from: from, owner: link.Any(), property: property, text: text, args: args, most: -1}
}

// Backlinks finds the objects of the class of T whose property links to an object.
func Backlinks[T any](from Reader, link Address, property string) Results[T] {
	class := classNameOf(reflect.TypeFor[T]())
	return Results[T]{Rows{from: from, class: class, owner: link.Any(), property: property, isLinks: true, most: -1}}
}

// Sort orders the rows: "age DESC, name ASC".
func (r Rows) Sort(order string) Rows {
	r.order = order
	return r
}

// Distinct keeps the first of the rows that are equal in these properties: "city, age". It comes after Sort.
func (r Rows) Distinct(properties string) Rows {
	r.unique = properties
	return r
}

// Limit keeps the first rows. It comes after Sort and Distinct.
func (r Rows) Limit(most int) Rows {
	r.most = max(most, 0)
	return r
}

// Sort orders the rows: "age DESC, name ASC".
func (r Results[T]) Sort(order string) Results[T] {
	return Results[T]{r.Rows.Sort(order)}
}

// Distinct keeps the first of the rows that are equal in these properties: "city, age". It comes after Sort.
func (r Results[T]) Distinct(properties string) Results[T] {
	return Results[T]{r.Rows.Distinct(properties)}
}

// Limit keeps the first rows. It comes after Sort and Distinct.
func (r Results[T]) Limit(most int) Results[T] {
	return Results[T]{r.Rows.Limit(most)}
}

// prepared is a query in the form of the shim.
type prepared struct {
	query  C.go_query
	texts  [3]*C.char
	args   *encoder
	count  C.size_t
	target *ClassInfo // nil: the rows are values
}

func (p *prepared) release() {
	for _, text := range p.texts {
		C.free(unsafe.Pointer(text))
	}
	p.args.release()
}

func (r *Rows) prepare(on reader) (*prepared, error) {
	p := &prepared{args: encode(on.schema), count: C.size_t(len(r.args))}
	p.query.owner, p.query.limit = -1, C.int64_t(r.most)
	for index, text := range []string{r.text, r.order, r.unique} {
		if strings.IndexByte(text, 0) >= 0 {
			p.release()
			return nil, refused(3000, "the query has a NUL in it")
		}
		p.texts[index] = C.CString(text)
	}
	err := r.target(on, p)
	for index := 0; err == nil && index < len(r.args); index++ {
		err = p.args.argument(r.args[index])
	}
	if err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

// argument encodes an argument of a query: a single value, or a list of single values.
func (e *encoder) argument(given any) error {
	start := len(e.bytes)
	if err := e.any(given, nil); err != nil {
		return err
	}
	list := decoder{e.bytes[start:]}
	kind := list.bytes[0]
	if kind == isList {
		list.take(1)
		for range list.count() {
			if isDeep(list.bytes[0]) {
				return refused(3015, "a list among the arguments has a collection in it")
			}
			if _, err := list.value(); err != nil {
				return refused(3000, "an argument is not UTF-8")
			}
		}
		return nil
	}
	if isDeep(kind) {
		return refused(3015, "an argument of a query is no collection but a list")
	}
	return nil
}

func isDeep(kind byte) bool {
	return kind == isList || kind == isDictionary || kind == isSet || kind == isObject
}

func (r *Rows) target(on reader, p *prepared) error {
	if !r.owner.IsNil() {
		p.query.owner, p.query.owner_class = r.owner.raw().target, C.uint32_t(r.owner.class)
	}
	if r.owner.IsNil() || r.isLinks {
		if r.isLinks && r.owner.IsNil() {
			return refused(3016, "the address is null")
		}
		class, err := on.schema.class(r.class)
		if err != nil {
			return err
		}
		p.target, p.query.class_key = class, C.uint32_t(class.key)
		if r.isLinks {
			property, err := class.property(r.property)
			if err != nil {
				return err
			}
			p.query.owner_kind, p.query.owner_property = -1, C.int64_t(property.key)
		}
		return nil
	}
	property, err := on.locate(r.owner, r.property)
	if err != nil {
		return err
	}
	if property.kind == 0 {
		return refused(3001, "%s is no collection", r.property)
	}
	p.query.owner_kind, p.query.owner_property = C.int32_t(property.kind), C.int64_t(property.key)
	p.target = on.schema.classes[property.Type]
	return nil
}

// open makes the results. The caller releases them.
func (p *prepared) open(on reader) (*C.realm_results_t, error) {
	var results *C.realm_results_t
	bytes, size := p.args.raw()
	err := failed(C.go_results(on.realm, p.query, p.texts[0], p.texts[1], p.texts[2], p.count, bytes, size, &results))
	return results, err
}

// with runs a function with the results.
func (r *Rows) with(function func(on reader, p *prepared, results *C.realm_results_t) error) error {
	return r.from.read(func(on reader) error {
		p, err := r.prepare(on)
		if err != nil {
			return err
		}
		defer p.release()
		results, err := p.open(on)
		if err != nil {
			return err
		}
		defer C.go_release(unsafe.Pointer(results))
		return function(on, p, results)
	})
}

// Count is the number of rows.
func (r Rows) Count() (int, error) {
	var count C.size_t
	err := r.from.read(func(on reader) error {
		p, err := r.prepare(on)
		if err != nil {
			return err
		}
		defer p.release()
		bytes, size := p.args.raw()
		return failed(C.go_count(on.realm, p.query, p.texts[0], p.texts[1], p.texts[2], p.count, bytes, size, &count))
	})
	return int(count), err
}

// binder finds the properties that are read; nil: none.
type binder func(on reader) (*binding, error)

// taker takes the rows of a page.
type taker func(on reader, bound *binding, links []C.realm_link_t, values []value) error

// pages reads rows and calls the function with each page, until it returns false. The transaction or snapshot stays the
// same for all pages, and the function may write: a page is complete before it is called.
func (r *Rows) pages(bind binder, take taker, yield func() bool) error {
	from := r.from
	// A database gives each call its newest version: all pages are read from one.
	if db, isDB := from.(*DB); isDB {
		return db.View(context.Background(), func(tx *Tx) error {
			inside := *r
			inside.from = tx
			return inside.pages(bind, take, yield)
		})
	}
	var results *C.realm_results_t
	var bound *binding
	err := from.read(func(on reader) error {
		var err error
		if bound, err = bind(on); err != nil {
			return err
		}
		p, err := r.prepare(on)
		if err != nil {
			return err
		}
		defer p.release()
		if on.isWriting {
			p.query.snapshot = 1
		}
		results, err = p.open(on)
		return err
	})
	if err != nil {
		return err
	}
	defer C.go_release(unsafe.Pointer(results))
	width := 0
	if bound != nil {
		width = len(bound.plain)
	}
	links, values := make([]C.realm_link_t, page), make([]value, page*width)
	for start := 0; ; {
		if err := from.context().Err(); err != nil {
			return err
		}
		var read C.size_t
		err := from.read(func(on reader) error {
			var keys *C.int64_t
			if width > 0 {
				keys = first[C.int64_t](bound.plain)
			}
			raw := rawValues(values)
			err := failed(C.go_fetch(results, C.size_t(start), page, C.size_t(width), keys, raw, &links[0], &read))
			if err != nil {
				return err
			}
			return take(on, bound, links[:read], values)
		})
		if err != nil {
			return err
		}
		start += int(read)
		if !yield() || int(read) < page {
			return nil
		}
	}
}

// Links iterates over the addresses of the objects.
func (r Rows) Links() iter.Seq2[AnyLink, error] {
	return func(yield func(AnyLink, error) bool) {
		var found []AnyLink
		bind := func(reader) (*binding, error) { return nil, nil }
		take := func(_ reader, _ *binding, links []C.realm_link_t, _ []value) error {
			found = found[:0]
			for _, link := range links {
				if link.target >= 0 {
					found = append(found, linkOf(link))
				}
			}
			return nil
		}
		err := r.pages(bind, take, func() bool {
			for _, link := range found {
				if !yield(link, nil) {
					return false
				}
			}
			return true
		})
		if err != nil {
			yield(AnyLink{}, err)
		}
	}
}

// Links iterates over the addresses of the objects.
func (r Results[T]) Links() iter.Seq2[Link[T], error] {
	return func(yield func(Link[T], error) bool) {
		for link, err := range r.Rows.Links() {
			if !yield(Link[T]{link}, err) {
				return
			}
		}
	}
}

// All iterates over the objects, in pages of up to 256 rows of one version. In an Update the loop may change
// objects: it goes over the rows that were there at its beginning. If the sequence ends with an error, that is its
// last element.
func (r Results[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		found := make([]T, page)
		count := 0
		bind := func(on reader) (*binding, error) { return on.schema.binding(reflect.TypeFor[T]()) }
		take := func(on reader, bound *binding, links []C.realm_link_t, values []value) error {
			width := len(bound.plain)
			count = 0
			clear(found)
			var c cell
			for index, link := range links {
				if link.target < 0 {
					continue
				}
				if err := on.fill(&c, bound, linkOf(link), values[index*width:], unsafe.Pointer(&found[count])); err != nil {
					return err
				}
				count++
			}
			return nil
		}
		err := r.pages(bind, take, func() bool {
			for index := range found[:count] {
				if !yield(found[index], nil) {
					return false
				}
			}
			return true
		})
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// Collect reads all objects.
func (r Results[T]) Collect() ([]T, error) {
	list := []T{}
	for object, err := range r.All() {
		if err != nil {
			return nil, err
		}
		list = append(list, object)
	}
	return list, nil
}

// First reads the first object: ErrNotFound if there is none.
func (r Results[T]) First() (*T, error) {
	if r.most != 0 {
		r.most = 1
	}
	for object, err := range r.All() {
		return &object, err
	}
	return nil, ErrNotFound
}

func (r *Rows) aggregate(function int, property string) (found any, err error) {
	err = r.with(func(_ reader, p *prepared, results *C.realm_results_t) error {
		key := int64(0)
		if p.target != nil {
			where, err := p.target.property(property)
			if err != nil {
				return err
			}
			key = where.key
		}
		var raw C.go_bytes
		if err := failed(C.go_aggregate(results, C.int(function), C.int64_t(key), &raw)); err != nil {
			return err
		}
		found, err = decodeBytes(raw)
		return err
	})
	return found, err
}

// Min is the smallest value of a property, nil if no row has one. The property of values of a collection is "".
func (r Rows) Min(property string) (any, error) {
	return r.aggregate(0, property)
}

// Max is the largest value of a property, nil if no row has one.
func (r Rows) Max(property string) (any, error) {
	return r.aggregate(1, property)
}

// Sum is the sum of a property: an int64, a float64, or a Decimal128 for decimals and for sums beyond 64 bits.
func (r Rows) Sum(property string) (any, error) {
	return r.aggregate(2, property)
}

// Average is the mean of a property, nil if no row has a number.
func (r Rows) Average(property string) (any, error) {
	return r.aggregate(3, property)
}

// Delete deletes the objects. The query must be one of an Update.
func (r Rows) Delete() error {
	return r.with(func(on reader, _ *prepared, results *C.realm_results_t) error {
		if !on.isWriting {
			return refused(2005, "a query of a View cannot delete")
		}
		return failed(C.go_delete_all(results))
	})
}

// Update sets properties of all objects, as UPDATE in SQL: Update("age = age + $0", 1). The query must be one of an
// Update. The result is the number of objects.
func (r Rows) Update(assignments string, args ...any) (int, error) {
	var count C.size_t
	err := r.with(func(on reader, _ *prepared, results *C.realm_results_t) error {
		if !on.isWriting {
			return refused(2005, "a query of a View cannot write")
		}
		if strings.IndexByte(assignments, 0) >= 0 {
			return refused(3000, "the text has a NUL in it")
		}
		e := encode(on.schema)
		defer e.release()
		for _, each := range args {
			if err := e.argument(each); err != nil {
				return err
			}
		}
		text := C.CString(assignments)
		defer C.free(unsafe.Pointer(text))
		bytes, size := e.raw()
		return failed(C.go_update(results, text, C.size_t(len(args)), bytes, size, &count))
	})
	return int(count), err
}
