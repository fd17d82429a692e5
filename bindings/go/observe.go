package crealm

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"context"
	"encoding/binary"
	"iter"
	"runtime/cgo"
	"strings"
	"sync"
	"unsafe"
)

// Change is what changed: in the rows of a query, in a list or a set (positions), in a dictionary (keys), in an object
// (names of properties). The first change that a listener gets is empty.
type Change struct {
	// Deletions and Modifications are positions before the change, Insertions and ModificationsAfter those after it.
	Deletions, Insertions, Modifications, ModificationsAfter []int
	// DeletedKeys, InsertedKeys and ModifiedKeys are keys of a dictionary.
	DeletedKeys, InsertedKeys, ModifiedKeys []string
	// Properties are the names of the properties of an object that changed.
	Properties []string
	// Cleared says whether all elements were removed, and none was added since.
	Cleared bool
	// Deleted says whether the object, or the object of the collection, was deleted.
	Deleted bool
}

// delivery runs listeners after the realm was given back, so that they may use the database.
type delivery struct {
	mutex     sync.Mutex
	idle      *sync.Cond
	pending   []func()
	isRunning bool
}

func (d *delivery) add(call func()) {
	d.mutex.Lock()
	d.pending = append(d.pending, call)
	d.mutex.Unlock()
}

func (d *delivery) run() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.isRunning {
		return
	}
	d.isRunning = true
	defer func() {
		d.isRunning = false
		if d.idle != nil {
			d.idle.Broadcast()
		}
	}()
	for len(d.pending) > 0 {
		call := d.pending[0]
		d.pending = d.pending[1:]
		func() {
			d.mutex.Unlock()
			defer d.mutex.Lock()
			call()
		}()
	}
}

// isDue says whether listeners wait, and nobody runs them.
func (d *delivery) isDue() bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return len(d.pending) > 0 && !d.isRunning
}

// wait waits until all listeners have run.
func (d *delivery) wait() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.idle == nil {
		d.idle = sync.NewCond(&d.mutex)
	}
	for d.isRunning || len(d.pending) > 0 {
		d.idle.Wait()
	}
}

// listener is what the library keeps: the token is released when it stops.
type listener struct {
	db       *DB
	class    *ClassInfo // of an object
	function func(Change)

	mutex   sync.Mutex
	stopped bool
}

func (l *listener) tell(change Change) {
	l.db.delivery.add(func() {
		select {
		case <-l.db.done:
			return
		default:
		}
		l.mutex.Lock()
		stopped := l.stopped
		l.mutex.Unlock()
		if !stopped {
			l.function(change)
		}
	})
}

//export goChange
func goChange(handle C.uintptr_t, kind C.int, data *C.uint8_t, size C.size_t) {
	l := cgo.Handle(handle).Value().(*listener)
	d := decoder{unsafe.Slice((*byte)(data), int(size))}
	var change Change
	switch kind {
	case 0:
		lists := []*[]int{&change.Deletions, &change.Insertions, &change.Modifications, &change.ModificationsAfter}
		for _, list := range lists {
			for range d.count() {
				*list = append(*list, int(binary.NativeEndian.Uint64(d.take(8))))
			}
		}
		change.Cleared, change.Deleted = d.take(1)[0] != 0, d.take(1)[0] != 0
	case 1:
		for _, list := range []*[]string{&change.DeletedKeys, &change.InsertedKeys, &change.ModifiedKeys} {
			for range d.count() {
				*list = append(*list, string(d.take(d.count())))
			}
		}
		change.Cleared, change.Deleted = d.take(1)[0] != 0, d.take(1)[0] != 0
	default:
		for range d.count() {
			key := int64(binary.NativeEndian.Uint64(d.take(8)))
			for _, property := range l.class.Properties {
				if property.key == key {
					change.Properties = append(change.Properties, property.Name)
				}
			}
		}
		change.Deleted = d.take(1)[0] != 0
	}
	l.tell(change)
}

//export goFreeHandle
func goFreeHandle(handle C.uintptr_t) {
	cgo.Handle(handle).Delete()
}

// register registers a listener on the realm, and stores its token and the handle of what it watches.
type register func(handle C.uintptr_t, token, watched *unsafe.Pointer) error

// observe registers a listener by a function that has the realm.
func (db *DB) observe(class *ClassInfo, function func(Change), register register) (func(), error) {
	if function == nil {
		return nil, refused(3000, "the function is nil")
	}
	if err := db.acquire(context.Background()); err != nil {
		return nil, err
	}
	defer db.unlock()
	l := &listener{db: db, class: class, function: function}
	var token, watched unsafe.Pointer
	if err := register(C.uintptr_t(cgo.NewHandle(l)), &token, &watched); err != nil {
		C.go_release(watched)
		return nil, err
	}
	var once sync.Once
	return func() {
		once.Do(func() {
			l.mutex.Lock()
			l.stopped = true
			l.mutex.Unlock()
			C.go_release(token)
			C.go_release(watched)
		})
	}, nil
}

// cTexts are texts for the library. The second result frees them.
func cTexts(texts []string) (**C.char, func(), error) {
	if len(texts) == 0 {
		return nil, func() {}, nil
	}
	if strings.IndexByte(strings.Join(texts, ""), 0) >= 0 {
		return nil, nil, refused(3000, "the path of a property has a NUL in it")
	}
	array := (**C.char)(C.malloc(C.size_t(len(texts)) * C.size_t(unsafe.Sizeof(uintptr(0)))))
	list := unsafe.Slice(array, len(texts))
	for index, text := range texts {
		list[index] = C.CString(text)
	}
	return array, func() {
		for _, text := range list {
			C.free(unsafe.Pointer(text))
		}
		C.free(unsafe.Pointer(array))
	}, nil
}

// Observe calls a function after each change of the rows, first with an empty change. paths names the properties that
// count, as "name" or "friend.name"; none: all. The function may use the database; changes wait while it runs. The
// query must be one of a *DB. Call the result to stop.
func (r Rows) Observe(function func(Change), paths ...string) (stop func(), err error) {
	db, isDB := r.from.(*DB)
	if !isDB {
		return nil, refused(2005, "queries of a database are observed, not those of a transaction")
	}
	return db.observe(nil, function, func(handle C.uintptr_t, token, watched *unsafe.Pointer) error {
		on := reader{realm: db.realm, schema: db.schema}
		array, free, err := cTexts(paths)
		if err != nil {
			cgo.Handle(handle).Delete()
			return err
		}
		defer free()
		p, err := r.prepare(on)
		if err != nil {
			cgo.Handle(handle).Delete()
			return err
		}
		defer p.release()
		results, err := p.open(on)
		if err != nil {
			cgo.Handle(handle).Delete()
			return err
		}
		*watched = unsafe.Pointer(results)
		key := C.uint32_t(0)
		if p.target != nil {
			key = C.uint32_t(p.target.key)
		}
		return failed(C.go_observe(db.realm, results, array, C.size_t(len(paths)), key, handle, token))
	})
}

// ObserveObject calls a function after each change of an object, first with an empty change.
func (db *DB) ObserveObject(link Address, function func(Change), paths ...string) (stop func(), err error) {
	class, err := db.schema.classOf(link.Any().class)
	if err != nil {
		return nil, err
	}
	return db.observe(class, function, func(handle C.uintptr_t, token, watched *unsafe.Pointer) error {
		array, free, err := cTexts(paths)
		if err != nil {
			cgo.Handle(handle).Delete()
			return err
		}
		defer free()
		return failed(C.go_observe_object(db.realm, link.Any().raw(), array, C.size_t(len(paths)), handle, token, watched))
	})
}

// ObserveCollection calls a function after each change of a list, a set or a dictionary, first with an empty change.
func (db *DB) ObserveCollection(link Address, property string, function func(Change)) (stop func(), err error) {
	where, err := reader{schema: db.schema}.locate(link.Any(), property)
	if err != nil {
		return nil, err
	}
	if where.kind == 0 {
		return nil, refused(3001, "%s is no collection", property)
	}
	return db.observe(nil, function, func(handle C.uintptr_t, token, watched *unsafe.Pointer) error {
		return failed(C.go_observe_collection(db.realm, link.Any().raw(), C.int64_t(where.key), C.int(where.kind), handle,
			token, watched))
	})
}

// Changes iterates over the changes of the rows, beginning with an empty one, until the context ends or the database is
// closed. The last element has the error.
func (r Rows) Changes(ctx context.Context, paths ...string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		var mutex sync.Mutex
		var queue []Change
		arrived := make(chan struct{}, 1)
		stop, err := r.Observe(func(change Change) {
			mutex.Lock()
			queue = append(queue, change)
			mutex.Unlock()
			select {
			case arrived <- struct{}{}:
			default:
			}
		}, paths...)
		if err != nil {
			yield(Change{}, err)
			return
		}
		defer stop()
		db := r.from.(*DB)
		for {
			select {
			case <-ctx.Done():
				yield(Change{}, ctx.Err())
				return
			case <-db.done:
				yield(Change{}, ErrClosed)
				return
			case <-arrived:
			}
			mutex.Lock()
			found := queue
			queue = nil
			mutex.Unlock()
			for _, change := range found {
				if !yield(change, nil) {
					return
				}
			}
		}
	}
}
