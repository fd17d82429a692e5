// Package crealm stores structs as objects of a realm: an embedded database in one file.
//
//	type Person struct {
//		ID   int64 `realm:"id,pk"`
//		Name string
//		Age  *int64
//	}
//
//	db, err := crealm.Open("people.realm", crealm.Class[Person]())
//	err = db.Update(ctx, func(tx *crealm.Tx) error {
//		_, err := crealm.Create(tx, &Person{ID: 1, Name: "Ann"})
//		return err
//	})
//	for person, err := range crealm.Query[Person](db, "Name BEGINSWITH $0", "A").All() { … }
//
// Any goroutine may use a DB, at the same time as others. Reading takes a snapshot, which never changes and waits for
// nobody. Update runs one writer at a time. docs/go.md is the guide.
package crealm

/*
#cgo CFLAGS: -I${SRCDIR}/../../include -O2
#cgo LDFLAGS: -lCRealm
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/cgo"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Error is an error of the library. Its Code is the number of the C API (RLM_ERR_… and CREALM_ERR_…); 0 for a refusal
// that comes from this package.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string {
	if e.Code == 0 {
		return "crealm: " + e.Message
	}
	return fmt.Sprintf("crealm: %s (%d)", e.Message, e.Code)
}

// Errors to compare with: errors.Is(err, crealm.ErrNotFound).
var (
	ErrNotFound     = errors.New("crealm: there is no such object")
	ErrExists       = errors.New("crealm: an object with this primary key exists")
	ErrClosed       = errors.New("crealm: the database is closed")
	ErrReadOnly     = errors.New("crealm: not in an Update")
	ErrQuery        = errors.New("crealm: the query is not valid")
	ErrSchema       = errors.New("crealm: the schema is not valid, or differs from that of the file")
	ErrInvalidFile  = errors.New("crealm: the file is damaged, no realm file, or encrypted with another key")
	ErrTimedOut     = errors.New("crealm: another user of the file did not release its lock")
	ErrInterrupted  = errors.New("crealm: interrupted")
	ErrWrongValue   = errors.New("crealm: the property cannot hold the value")
	ErrOutOfBounds  = errors.New("crealm: the position is out of bounds")
	ErrNoSuchMember = errors.New("crealm: there is no such class or property")
)

var kinds = map[int]error{
	1009: ErrQuery, 3008: ErrQuery, 3013: ErrQuery, 3015: ErrQuery,
	1013: ErrExists, 3016: ErrNotFound, 2010: ErrNotFound,
	2014: ErrClosed, 2005: ErrReadOnly,
	1025: ErrSchema, 2016: ErrSchema, 2017: ErrSchema, 2018: ErrSchema, 2019: ErrSchema, 2020: ErrSchema,
	1021: ErrInvalidFile, 1022: ErrInvalidFile, 1011: ErrInvalidFile,
	9003: ErrTimedOut, 9004: ErrInterrupted,
	3001: ErrWrongValue, 3002: ErrWrongValue, 3018: ErrWrongValue, 1001: ErrWrongValue, 3011: ErrWrongValue,
	3017: ErrOutOfBounds, 3009: ErrNoSuchMember, 3020: ErrNoSuchMember,
	1019: fs.ErrNotExist, 1020: fs.ErrExist, 1018: fs.ErrPermission,
}

// Is makes errors.Is find the error of this package, or of io/fs, that the number belongs to.
func (e *Error) Is(target error) bool {
	return kinds[e.Code] == target && target != nil
}

func refused(code int, format string, values ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, values...)}
}

// failed is the error of a call of the shim; nil if it has none.
func failed(block C.go_error) error {
	if block == nil {
		return nil
	}
	text := (*C.char)(unsafe.Add(unsafe.Pointer(block), 4))
	err := &Error{Code: int(C.go_error_code(block)), Message: C.GoString(text)}
	C.free(unsafe.Pointer(block))
	return err
}

// A snapshot is a frozen realm that several readers share.
type snapshot struct {
	realm *C.realm_t
	refs  atomic.Int64
}

func (s *snapshot) release() {
	if s.refs.Add(-1) == 0 {
		C.go_release(unsafe.Pointer(s.realm))
	}
}

// DB is an open realm file.
type DB struct {
	path      string
	config    *config
	realm     *C.realm_t // belongs to the goroutine that has the lock
	scheduler *C.realm_scheduler_t
	schema    *schema

	lock chan struct{} // holds one element while somebody uses the realm

	mutex    sync.Mutex // guards the fields below
	current  *snapshot
	isClosed bool

	wake chan struct{} // work waits for the scheduler
	done chan struct{} // closed by Close
	turn sync.WaitGroup

	delivery delivery
}

// noTimeout is ten years in milliseconds: only waiting with a limit can be interrupted.
const noTimeout = 10 * 365 * 24 * 3600 * 1000

// Open opens or creates a file.
func Open(path string, options ...Option) (*DB, error) {
	config := &config{path: path, timeout: noTimeout}
	for _, option := range options {
		if err := option(config); err != nil {
			return nil, err
		}
	}
	db := &DB{
		path:   path,
		config: config,
		lock:   make(chan struct{}, 1),
		wake:   make(chan struct{}, 1),
		done:   make(chan struct{}),
	}
	if err := db.open(); err != nil {
		return nil, err
	}
	db.turn.Add(1)
	go db.takeTurns()
	return db, nil
}

func (db *DB) open() error {
	raw, free, err := db.config.raw()
	if err != nil {
		return err
	}
	defer free()
	// The library keeps the handle as long as the scheduler.
	handle := C.uintptr_t(cgo.NewHandle(db))
	if err := failed(C.go_open(raw, handle, &db.realm, &db.scheduler)); err != nil {
		if db.config.failure != nil {
			return db.config.failure
		}
		return err
	}
	if db.schema, err = readSchema(db.realm, db.config); err == nil {
		err = db.renew()
	}
	if err != nil {
		C.go_close(db.realm)
		C.go_release(unsafe.Pointer(db.realm))
		C.go_release(unsafe.Pointer(db.scheduler))
	}
	return err
}

// renew makes a snapshot of the version that the realm reads. The caller has the lock.
func (db *DB) renew() error {
	fresh := &snapshot{}
	if err := failed(C.go_freeze(db.realm, &fresh.realm)); err != nil {
		return err
	}
	fresh.refs.Store(1)
	db.mutex.Lock()
	old := db.current
	db.current = fresh
	db.mutex.Unlock()
	if old != nil {
		old.release()
	}
	return nil
}

// Close closes the file. It waits for a running Update: do not call it in one. Views and loops that are running go on to
// their end; listeners are told nothing more.
func (db *DB) Close() error {
	db.mutex.Lock()
	if db.isClosed {
		db.mutex.Unlock()
		return nil
	}
	db.isClosed = true
	db.mutex.Unlock()
	close(db.done)
	db.lock <- struct{}{} // Nobody gets it again.
	db.turn.Wait()
	db.mutex.Lock()
	last := db.current
	db.current = nil
	db.mutex.Unlock()
	last.release()
	C.go_close(db.realm)
	C.go_release(unsafe.Pointer(db.realm))
	C.go_release(unsafe.Pointer(db.scheduler))
	return nil
}

// Path is the path of the file.
func (db *DB) Path() string {
	return db.path
}

// acquire waits for the realm, until the context ends.
func (db *DB) acquire(ctx context.Context) error {
	select {
	case <-db.done:
		return ErrClosed
	default:
	}
	select {
	case db.lock <- struct{}{}:
		// Close may have come first; then nobody waits for this element.
		select {
		case <-db.done:
			<-db.lock
			return ErrClosed
		default:
			return nil
		}
	case <-ctx.Done():
		return ctx.Err()
	case <-db.done:
		return ErrClosed
	}
}

// unlock gives the realm to others, and runs the listeners that are due.
func (db *DB) unlock() {
	<-db.lock
	db.delivery.run()
}

//export goWorkWaits
func goWorkWaits(database C.uintptr_t) {
	db := cgo.Handle(database).Value().(*DB)
	select {
	case db.wake <- struct{}{}:
	default:
	}
}

// takeTurns does what waits for the scheduler: moves to new versions, collects changes.
func (db *DB) takeTurns() {
	defer db.turn.Done()
	for {
		select {
		case <-db.done:
			return
		case <-db.wake:
		}
		if db.acquire(context.Background()) != nil {
			return
		}
		var didWork C.bool
		// What goes wrong in a turn is reported by the next call that meets it.
		if failed(C.go_run(db.scheduler, &didWork)) == nil && bool(didWork) {
			_ = db.renew()
		}
		<-db.lock
		// In a goroutine of their own: a listener may close the database, which waits for this one.
		if db.delivery.isDue() {
			go db.delivery.run()
		}
	}
}

// Refresh moves to the newest version of the file, also of other processes, and runs the listeners that are due.
// Without it that happens soon after each commit. Do not call it in a listener.
func (db *DB) Refresh(ctx context.Context) error {
	if err := db.acquire(ctx); err != nil {
		return err
	}
	err := failed(C.go_refresh(db.realm))
	if err == nil {
		err = db.renew()
	}
	db.unlock()
	db.delivery.wait()
	return err
}

// Update runs a function in a write transaction. If it returns nil, all changes are on disk when Update returns; if it
// returns an error or panics, they are undone. If the context ends, waiting for other writers and long queries end, and
// nothing is committed. An Update in an Update waits for itself: do not do that.
func (db *DB) Update(ctx context.Context, function func(tx *Tx) error) (err error) {
	if err := db.acquire(ctx); err != nil {
		return err
	}
	defer db.unlock()
	defer interruptAfter(ctx, db.realm)()
	if err := failed(C.go_begin(db.realm)); err != nil {
		if ctx.Err() != nil && errors.Is(err, ErrInterrupted) {
			return ctx.Err()
		}
		return err
	}
	tx := &Tx{db: db, reader: reader{realm: db.realm, schema: db.schema, isWriting: true}, ctx: ctx}
	isOpen := true
	defer func() {
		tx.end()
		if isOpen {
			rolledBack := failed(C.go_rollback(db.realm))
			if err == nil {
				err = rolledBack
			}
		}
	}()
	if err := function(tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	tx.end()
	if err := failed(C.go_commit(db.realm)); err != nil {
		return err
	}
	isOpen = false
	return db.renew()
}

// interruptAfter interrupts the calls of a realm from the end of the context on, until the function is called that it
// returns. An interrupt ends the call that runs; one that comes before it is repeated.
func interruptAfter(ctx context.Context, realm *C.realm_t) func() {
	ended, finished := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(finished)
		for {
			C.go_interrupt(realm)
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	return func() {
		close(ended)
		if !stop() {
			<-finished
		}
	}
}

// View runs a function that reads one version of the file. Any number of views run at the same time, also beside an
// Update. The context is asked between the pages of results.
func (db *DB) View(ctx context.Context, function func(tx *Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	shot, err := db.take()
	if err != nil {
		return err
	}
	defer shot.release()
	tx := &Tx{db: db, reader: reader{realm: shot.realm, schema: db.schema}, ctx: ctx}
	defer tx.end()
	return function(tx)
}

// take gives the newest snapshot; the caller releases it.
func (db *DB) take() (*snapshot, error) {
	db.mutex.Lock()
	defer db.mutex.Unlock()
	if db.current == nil {
		return nil, ErrClosed
	}
	db.current.refs.Add(1)
	return db.current, nil
}

// begin implements Reader: each call reads the newest snapshot.
func (db *DB) begin() (reader, error) {
	shot, err := db.take()
	if err != nil {
		return reader{}, err
	}
	return reader{realm: shot.realm, schema: db.schema, shot: shot}, nil
}

func (db *DB) finish(r reader) {
	r.shot.release()
}

// with runs a function between begin and finish.
func with(from Reader, function func(r reader) error) error {
	r, err := from.begin()
	if err != nil {
		return err
	}
	defer from.finish(r)
	return function(r)
}

func (db *DB) read(function func(r reader) error) error {
	return with(db, function)
}

func (db *DB) context() context.Context {
	return context.Background()
}

// Version is the number of the version that readers get.
func (db *DB) Version() (uint64, error) {
	var version C.uint64_t
	err := db.read(func(r reader) error { return failed(C.go_version(r.realm, &version)) })
	return uint64(version), err
}

// SchemaVersion is the schema version of the file; false if it has none.
func (db *DB) SchemaVersion() (uint64, bool) {
	version := ^uint64(0)
	_ = db.read(func(r reader) error {
		version = uint64(C.go_schema_version(r.realm))
		return nil
	})
	return version, version != ^uint64(0)
}

// Verify checks every invariant of the file.
func (db *DB) Verify() error {
	return db.read(func(r reader) error { return failed(C.go_verify(r.realm)) })
}

// CopyTo copies what readers get to a new file, with the key of the options.
func (db *DB) CopyTo(path string, options ...Option) error {
	config := &config{path: path, timeout: noTimeout}
	for _, option := range options {
		if err := option(config); err != nil {
			return err
		}
	}
	raw, free, err := config.raw()
	if err != nil {
		return err
	}
	defer free()
	return db.read(func(r reader) error { return failed(C.go_copy(r.realm, raw)) })
}

// DeleteFiles deletes a realm file; an error if it is open. The result is whether it was there.
func DeleteFiles(path string) (bool, error) {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	var deleted C.bool
	err := failed(C.go_delete_files(text, &deleted))
	return bool(deleted), err
}

// reader is a realm that is read.
type reader struct {
	realm     *C.realm_t
	schema    *schema
	isWriting bool
	shot      *snapshot // of a database
}

// Reader is what can be read: a *DB, each time its newest version, or a *Tx.
type Reader interface {
	begin() (reader, error) // if it has no error, finish follows
	finish(r reader)
	read(function func(r reader) error) error
	context() context.Context
}

// Tx is a transaction: of View to read, of Update also to write. It ends with the function that it was made for; calls
// after that fail. Goroutines may share it; in an Update their calls wait for each other.
type Tx struct {
	db     *DB
	reader reader
	ctx    context.Context
	mutex  sync.RWMutex
	isDone bool
}

func (tx *Tx) end() {
	tx.mutex.Lock()
	tx.isDone = true
	tx.mutex.Unlock()
}

func (tx *Tx) begin() (reader, error) {
	if tx.reader.isWriting {
		tx.mutex.Lock()
	} else {
		tx.mutex.RLock()
	}
	if tx.isDone {
		tx.finish(tx.reader)
		return reader{}, refused(2005, "the transaction has ended")
	}
	return tx.reader, nil
}

func (tx *Tx) finish(reader) {
	if tx.reader.isWriting {
		tx.mutex.Unlock()
	} else {
		tx.mutex.RUnlock()
	}
}

func (tx *Tx) read(function func(r reader) error) error {
	return with(tx, function)
}

// beginWrite is begin for calls that change something.
func (tx *Tx) beginWrite() (reader, error) {
	if !tx.reader.isWriting {
		return reader{}, refused(2005, "a View cannot write")
	}
	return tx.begin()
}

func (tx *Tx) write(function func(r reader) error) error {
	r, err := tx.beginWrite()
	if err != nil {
		return err
	}
	defer tx.finish(r)
	return function(r)
}

func (tx *Tx) context() context.Context {
	return tx.ctx
}
