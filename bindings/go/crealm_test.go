// Tests of the package, on its public API. Run them with the race detector: go test -race.
package crealm_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"crealm"
)

type Person struct {
	ID     int64  `realm:"id,pk"`
	Name   string `realm:"name,index"`
	Age    *int64 `realm:"age"`
	Tags   []string
	Friend crealm.Link[Person]
}

type Address struct {
	crealm.Embedded
	Street string
	Number *int32
	Notes  []string
}

type Dog struct {
	Name  string
	Owner crealm.Link[Everything]
}

func (Dog) RealmClass() string { return "Animal" }

type Everything struct {
	ID      crealm.UUID `realm:"id,pk"`
	Yes     bool
	Small   int16
	Single  float32
	Double  *float64
	Text    string `realm:"stored text,fulltext"`
	Bytes   []byte
	NoBytes *[]byte
	Time    time.Time
	Number  crealm.Decimal128
	OID     *crealm.ObjectID
	Any     any
	Home    *Address
	Homes   []Address
	Places  map[string]Address
	Texts   []*string
	Numbers crealm.Set[int64]
	Values  map[string]any
	Best    crealm.Link[Dog]
	Dogs    []crealm.Link[Dog]
	Ignored int `realm:"-"`
}

var ctx = context.Background()

func pointer[T any](value T) *T { return &value }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func open(t *testing.T, options ...crealm.Option) *crealm.DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "test.realm"), options...)
}

func openAt(t *testing.T, path string, options ...crealm.Option) *crealm.DB {
	t.Helper()
	if len(options) == 0 {
		options = []crealm.Option{crealm.Class[Person]()}
	}
	db, err := crealm.Open(path, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func update(t *testing.T, db *crealm.DB, function func(tx *crealm.Tx) error) {
	t.Helper()
	if err := db.Update(ctx, function); err != nil {
		t.Fatal(err)
	}
}

func add(t *testing.T, db *crealm.DB, people ...Person) {
	t.Helper()
	update(t, db, func(tx *crealm.Tx) error {
		_, err := crealm.CreateAll(tx, func(yield func(*Person) bool) {
			for index := range people {
				if !yield(&people[index]) {
					return
				}
			}
		}, crealm.Never)
		return err
	})
}

func TestAnObjectOfEveryTypeComesBackAsItWas(t *testing.T) {
	db := open(t, crealm.Class[Everything](), crealm.Class[Dog](), crealm.Class[Address]())
	var written Everything
	var link crealm.Link[Everything]
	update(t, db, func(tx *crealm.Tx) error {
		rex := must(crealm.Create(tx, &Dog{Name: "Rex"}))
		home := Address{Street: "High Street", Number: pointer(int32(7)), Notes: []string{"a"}}
		written = Everything{
			ID: must(crealm.ParseUUID("01234567-89ab-cdef-0123-456789abcdef")), Yes: true, Small: -5, Single: 1.5,
			Double: pointer(-0.25), Text: "zwölf Boxkämpfer", Bytes: []byte{0, 255}, Time: time.Unix(-1, -5).UTC(),
			Number: must(crealm.ParseDecimal128("1.50")), OID: pointer(must(crealm.ParseObjectID("0123456789abcdef01234567"))),
			Any: []any{int64(1), map[string]any{"k": "v"}, nil}, Home: &home, Homes: []Address{home, home},
			Places: map[string]Address{"work": home}, Texts: []*string{pointer("x"), nil}, Numbers: crealm.Set[int64]{1, 2, 3},
			Values: map[string]any{"n": int64(1), "l": []any{}}, Best: rex, Dogs: []crealm.Link[Dog]{rex, rex},
		}
		link = must(crealm.Create(tx, &written))
		return tx.Set(rex, "Owner", link)
	})
	read := must(crealm.Get(db, link))
	if !reflect.DeepEqual(*read, written) {
		t.Fatalf("%+v\nnot %+v", *read, written)
	}
	found := must(crealm.Find[Everything](db, written.ID))
	if found.Text != written.Text {
		t.Fatal(found.Text)
	}
	owned := must(crealm.Backlinks[Dog](db, link, "Owner").Collect())
	if len(owned) != 1 || owned[0].Name != "Rex" {
		t.Fatal(owned)
	}
	if value := must(crealm.Read[string](db, link, "stored text")); value != written.Text {
		t.Fatal(value)
	}
	if value := must(crealm.Read[crealm.Set[int64]](db, link, "Numbers")); !slices.Equal(value, written.Numbers) {
		t.Fatal(value)
	}
	if value := must(crealm.Read[*Address](db, link, "Home")); value.Street != "High Street" {
		t.Fatal(value)
	}
	for _, err := range []error{
		second(crealm.Read[int64](db, link, "Numbers")), second(crealm.Read[string](db, link, "Small")),
		second(crealm.Read[[]string](db, link, "Text")), second(crealm.Read[chan int](db, link, "Small")),
	} {
		if err == nil {
			t.Error("a property was read as a wrong type")
		}
	}
	if err := db.Verify(); err != nil {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestQueriesReadPagesSortAndCount(t *testing.T) {
	db := open(t)
	people := []Person{}
	for id := range int64(1000) {
		people = append(people, Person{ID: id, Name: fmt.Sprint("name ", id), Age: pointer(id % 100)})
	}
	add(t, db, people...)
	all := must(crealm.Query[Person](db, "").Collect())
	if len(all) != 1000 || all[999].Name != "name 999" || *all[999].Age != 99 {
		t.Fatal(len(all))
	}
	query := crealm.Query[Person](db, "age > $0 AND name CONTAINS[c] $1", 90, "NAME 9")
	if count := must(query.Count()); count != 18 {
		t.Fatal(count)
	}
	if count := must(crealm.Query[Person](db, "id IN $0", []int64{3, 1, 5000}).Count()); count != 2 {
		t.Fatal(count)
	}
	ids := []int64{}
	for person, err := range crealm.Query[Person](db, "").Sort("age DESC, id ASC").Limit(2).All() {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, person.ID)
	}
	if !slices.Equal(ids, []int64{99, 199}) {
		t.Fatal(ids)
	}
	if count := must(crealm.Query[Person](db, "").Distinct("age").Count()); count != 100 {
		t.Fatal(count)
	}
	if sum := must(crealm.Query[Person](db, "").Sum("age")); sum != int64(49500) {
		t.Fatal(sum)
	}
	if most := must(crealm.Query[Person](db, "id > 5000").Max("age")); most != nil {
		t.Fatal(most)
	}
	for range crealm.Query[Person](db, "").All() {
		break // A loop may end early.
	}
	if _, err := crealm.Query[Person](db, "id > 5000").First(); !errors.Is(err, crealm.ErrNotFound) {
		t.Fatal(err)
	}
}

func TestErrorsHaveNumbersAndKinds(t *testing.T) {
	db := open(t)
	for text, want := range map[string]int{"age >": 3008, "agee > 1": 1009, "age > $0": 3015, "age\x00": 3000} {
		_, err := crealm.Query[Person](db, text).Count()
		var found *crealm.Error
		if !errors.As(err, &found) || found.Code != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, err := crealm.Query[Person](db, "agee > 1").Collect()
	if !errors.Is(err, crealm.ErrQuery) || errors.Is(err, crealm.ErrExists) {
		t.Fatal(err)
	}
	add(t, db, Person{ID: 1})
	err = db.Update(ctx, func(tx *crealm.Tx) error {
		_, err := crealm.Create(tx, &Person{ID: 1})
		return err
	})
	if !errors.Is(err, crealm.ErrExists) {
		t.Fatal(err)
	}
	if _, err := crealm.Find[Person](db, 2); !errors.Is(err, crealm.ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := crealm.Query[Dog](db, "").Count(); !errors.Is(err, crealm.ErrNoSuchMember) {
		t.Fatal(err)
	}
	if _, err := crealm.Open("/nonexistent/folder/x.realm", crealm.Class[Person]()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	type wrong struct{ Channel chan int }
	if _, err := crealm.Open(filepath.Join(t.TempDir(), "x.realm"), crealm.Class[wrong]()); err == nil {
		t.Fatal("a channel was stored")
	}
}

func TestAWriteThatFailsOrPanicsIsUndone(t *testing.T) {
	db := open(t)
	stop := errors.New("stop")
	err := db.Update(ctx, func(tx *crealm.Tx) error {
		must(crealm.Create(tx, &Person{ID: 1}))
		return stop
	})
	if err != stop {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_ = db.Update(ctx, func(tx *crealm.Tx) error {
			must(crealm.Create(tx, &Person{ID: 1}))
			panic("stop")
		})
	}()
	if count := must(crealm.Query[Person](db, "").Count()); count != 0 {
		t.Fatal(count)
	}
	add(t, db, Person{ID: 1})
}

func TestAnUpdateChangesObjects(t *testing.T) {
	db := open(t)
	add(t, db, Person{ID: 1, Name: "Ann", Age: pointer(int64(30))}, Person{ID: 2, Name: "Bob"})
	ann := must(crealm.FindLink[Person](db, 1))
	update(t, db, func(tx *crealm.Tx) error {
		tags := tx.Collection(ann, "Tags")
		steps := []error{
			tx.Set(ann, "name", "Anna"), tx.Add(ann, "age", 2), tx.Set(ann, "Friend", ann),
			tags.Append("a"), tags.Insert(0, "b"), tags.Append("c"), tags.Move(0, 2), tags.Replace(0, "x"), tags.Remove(1),
		}
		count, err := crealm.Query[Person](tx, "id == 2").Update("name = $0", "Bobby")
		if count != 1 {
			t.Error(count)
		}
		return errors.Join(append(steps, err)...)
	})
	read := must(crealm.Get(db, ann))
	want := Person{ID: 1, Name: "Anna", Age: pointer(int64(32)), Tags: []string{"x", "b"}, Friend: ann}
	if !reflect.DeepEqual(*read, want) {
		t.Fatalf("%+v", *read)
	}
	update(t, db, func(tx *crealm.Tx) error {
		_, err := crealm.Upsert(tx, &Person{ID: 1, Name: "Zoe"})
		for person, err := range crealm.Query[Person](tx, "").All() {
			if err != nil {
				return err
			}
			link := must(crealm.FindLink[Person](tx, person.ID))
			if err := tx.Set(link, "name", person.Name+"!"); err != nil {
				return err
			}
		}
		return err
	})
	names := []string{}
	for person, err := range crealm.Query[Person](db, "").All() {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, person.Name)
	}
	if !slices.Equal(names, []string{"Zoe!", "Bobby!"}) {
		t.Fatal(names)
	}
	update(t, db, func(tx *crealm.Tx) error { return errors.Join(tx.Delete(ann), crealm.Query[Person](tx, "").Delete()) })
	if crealm.Exists(db, ann) || must(crealm.Query[Person](db, "").Count()) != 0 {
		t.Fatal("the objects exist")
	}
}

func TestATransactionEndsWithItsFunction(t *testing.T) {
	db := open(t)
	var kept *crealm.Tx
	update(t, db, func(tx *crealm.Tx) error { kept = tx; return nil })
	if _, err := crealm.Create(kept, &Person{ID: 1}); !errors.Is(err, crealm.ErrReadOnly) {
		t.Fatal(err)
	}
	if err := db.View(ctx, func(tx *crealm.Tx) error {
		kept = tx
		_, err := crealm.Create(tx, &Person{ID: 1})
		if !errors.Is(err, crealm.ErrReadOnly) {
			t.Error(err)
		}
		return crealm.Query[Person](tx, "").Delete()
	}); !errors.Is(err, crealm.ErrReadOnly) {
		t.Fatal(err)
	}
	if _, err := crealm.Query[Person](kept, "").Count(); err == nil {
		t.Fatal("a view was read after its end")
	}
}

func TestManyGoroutinesReadAndWrite(t *testing.T) {
	db := open(t)
	add(t, db, Person{ID: 0, Name: "counter", Age: pointer(int64(0))})
	counter := must(crealm.FindLink[Person](db, 0))
	var group sync.WaitGroup
	for number := range int64(8) {
		group.Add(2)
		go func() {
			defer group.Done()
			for round := range int64(25) {
				err := db.Update(ctx, func(tx *crealm.Tx) error {
					_, err := crealm.Create(tx, &Person{ID: 1 + number*100 + round, Name: strings.Repeat("x", int(round))})
					return errors.Join(err, tx.Add(counter, "age", 1))
				})
				if err != nil {
					t.Error(err)
				}
			}
		}()
		go func() {
			defer group.Done()
			for range 25 {
				err := db.View(ctx, func(tx *crealm.Tx) error {
					count := must(crealm.Query[Person](tx, "").Count())
					person := must(crealm.Get(tx, counter))
					if int(*person.Age) != count-1 {
						t.Errorf("%d people, but the counter is %d", count, *person.Age)
					}
					read := 0
					for person, err := range crealm.Query[Person](tx, "id > 0").All() {
						if err != nil || strings.Trim(person.Name, "x") != "" {
							t.Error(person.Name, err)
						}
						read++
					}
					if read != count-1 {
						t.Errorf("%d of %d rows", read, count-1)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
	if person := must(crealm.Get(db, counter)); *person.Age != 200 {
		t.Fatal(*person.Age)
	}
	if err := db.Verify(); err != nil {
		t.Fatal(err)
	}
}

func TestErrorsOfManyGoroutinesAreTheirOwn(t *testing.T) {
	db := open(t)
	var group sync.WaitGroup
	for number := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 200 {
				name := fmt.Sprintf("nothing%d", number)
				if _, err := crealm.Query[Person](db, name+" > 1").Count(); err == nil || !strings.Contains(err.Error(), name) {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
}

func TestTheContextEndsWaiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.realm")
	one, two := openAt(t, path), openAt(t, path)
	for _, db := range []*crealm.DB{one, two} {
		update(t, one, func(*crealm.Tx) error {
			short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
			defer cancel()
			err := db.Update(short, func(*crealm.Tx) error { return nil })
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			return nil
		})
	}
	ended, cancel := context.WithCancel(ctx)
	err := one.Update(ended, func(tx *crealm.Tx) error {
		must(crealm.Create(tx, &Person{ID: 1}))
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || must(crealm.Query[Person](one, "").Count()) != 0 {
		t.Fatal(err)
	}
	add(t, two, Person{ID: 1})
	if err := one.View(ended, func(*crealm.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestALockTimeoutEndsWaiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.realm")
	one := openAt(t, path)
	two := openAt(t, path, crealm.Class[Person](), crealm.LockTimeout(20*time.Millisecond))
	update(t, one, func(*crealm.Tx) error {
		if err := two.Update(ctx, func(*crealm.Tx) error { return nil }); !errors.Is(err, crealm.ErrTimedOut) {
			t.Error(err)
		}
		return nil
	})
}

func TestListenersAreTold(t *testing.T) {
	db := open(t)
	add(t, db, Person{ID: 1, Name: "Ann", Age: pointer(int64(30))})
	var mutex sync.Mutex
	told := []crealm.Change{}
	record := func(change crealm.Change) {
		mutex.Lock()
		defer mutex.Unlock()
		told = append(told, change)
	}
	take := func() []crealm.Change {
		if err := db.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
		mutex.Lock()
		defer mutex.Unlock()
		found := told
		told = nil
		return found
	}
	stop := must(crealm.Query[Person](db, "age > $0", 20).Observe(record))
	if found := take(); len(found) != 1 || !reflect.DeepEqual(found[0], crealm.Change{}) {
		t.Fatal(found)
	}
	ann := must(crealm.FindLink[Person](db, 1))
	update(t, db, func(tx *crealm.Tx) error {
		must(crealm.Create(tx, &Person{ID: 2, Age: pointer(int64(10))}))
		must(crealm.Create(tx, &Person{ID: 3, Age: pointer(int64(40))}))
		return tx.Set(ann, "name", "Anna")
	})
	found := take()
	if len(found) != 1 || !slices.Equal(found[0].Insertions, []int{1}) || !slices.Equal(found[0].Modifications, []int{0}) {
		t.Fatal(found)
	}
	stop()
	stop()
	stopObject := must(db.ObserveObject(ann, record, "age"))
	defer stopObject()
	stopList := must(db.ObserveCollection(ann, "Tags", record))
	take()
	update(t, db, func(tx *crealm.Tx) error {
		return errors.Join(tx.Set(ann, "age", 5), tx.Collection(ann, "Tags").Append("x"))
	})
	if found := take(); len(found) != 2 {
		t.Fatal(found)
	}
	stopList()
	update(t, db, func(tx *crealm.Tx) error { return tx.Delete(ann) })
	if found := take(); len(found) != 1 || !found[0].Deleted {
		t.Fatal(found)
	}
}

func TestChangesAreASequence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.realm")
	db, other := openAt(t, path), openAt(t, path)
	short, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	insertions := 0
	for change, err := range crealm.Query[Person](db, "").Changes(short) {
		if err != nil {
			t.Fatal(err)
		}
		insertions += len(change.Insertions)
		if insertions == 3 {
			break
		}
		if len(change.Insertions) == 0 || insertions < 3 {
			// A listener may use the database, and other users of the file are seen.
			add(t, other, Person{ID: int64(insertions + 1)})
		}
	}
	if count := must(crealm.Query[Person](db, "").Count()); count != 3 {
		t.Fatal(count)
	}
	cancel()
	for _, err := range crealm.Query[Person](db, "").Changes(short) {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

func TestEncryptedFilesNeedTheirKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.realm")
	key := []byte(strings.Repeat("k", 64))
	db := openAt(t, path, crealm.Class[Person](), crealm.Key(key))
	add(t, db, Person{ID: 1, Name: "secret"})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if bytes := must(os.ReadFile(path)); strings.Contains(string(bytes), "secret") {
		t.Fatal("the text is in the file")
	}
	for _, options := range [][]crealm.Option{{}, {crealm.Key([]byte(strings.Repeat("x", 64)))}} {
		_, err := crealm.Open(path, append(options, crealm.Class[Person]())...)
		if !errors.Is(err, crealm.ErrInvalidFile) {
			t.Error(err)
		}
	}
	if _, err := crealm.Open(path, crealm.Key(key[:5])); err == nil {
		t.Error("a short key was taken")
	}
	openAt(t, path, crealm.Class[Person](), crealm.Key(key))
}

type Renamed struct {
	ID       int64 `realm:"id,pk"`
	FullName string
	Initial  string
}

func (Renamed) RealmClass() string { return "Person" }

func TestAMigrationRenamesAndFills(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.realm")
	db := openAt(t, path)
	add(t, db, Person{ID: 1, Name: "Ann"}, Person{ID: 2, Name: "Bob"})
	db.Close()
	if _, err := crealm.Open(path, crealm.Class[Renamed]()); !errors.Is(err, crealm.ErrSchema) {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	failing := crealm.Migrate(func(*crealm.Migration) error { return stop })
	if _, err := crealm.Open(path, crealm.Class[Renamed](), crealm.SchemaVersion(1), failing); err != stop {
		t.Fatal(err)
	}
	panicking := crealm.Migrate(func(*crealm.Migration) error { panic("stop") })
	if _, err := crealm.Open(path, crealm.Class[Renamed](), crealm.SchemaVersion(1), panicking); err == nil {
		t.Fatal("a panic is no error")
	}
	migrate := crealm.Migrate(func(m *crealm.Migration) error {
		if err := m.Rename("Person", "name", "FullName"); err != nil {
			return err
		}
		for link, err := range crealm.QueryClass(m.Old, "Person", "").Links() {
			if err != nil {
				return err
			}
			name := must(crealm.Value(m.Old, link, "name")).(string)
			found := must(crealm.FindObject(m.New, "Person", must(crealm.Value(m.Old, link, "id"))))
			if err := m.New.Set(found, "Initial", name[:1]); err != nil {
				return err
			}
		}
		return nil
	})
	db = openAt(t, path, crealm.Class[Renamed](), crealm.SchemaVersion(1), migrate)
	bob := must(crealm.Find[Renamed](db, 2))
	if bob.FullName != "Bob" || bob.Initial != "B" {
		t.Fatal(bob)
	}
	if version, has := db.SchemaVersion(); !has || version != 1 {
		t.Fatal(version)
	}
}

func TestModesOfOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.realm")
	memory := openAt(t, path, crealm.Class[Person](), crealm.InMemory())
	add(t, memory, Person{ID: 1})
	memory.Close()
	db := openAt(t, path)
	if count := must(crealm.Query[Person](db, "").Count()); count != 0 {
		t.Fatal(count)
	}
	if _, err := crealm.DeleteFiles(path); err == nil {
		t.Fatal("an open file was deleted")
	}
	copied := filepath.Join(t.TempDir(), "copy.realm")
	add(t, db, Person{ID: 1})
	if err := db.CopyTo(copied); err != nil {
		t.Fatal(err)
	}
	if err := db.CopyTo(copied); !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	db.Close()
	reading := openAt(t, copied, crealm.Class[Person](), crealm.ReadOnly())
	if err := reading.Update(ctx, func(*crealm.Tx) error { return nil }); !errors.Is(err, crealm.ErrReadOnly) {
		t.Fatal(err)
	}
	if count := must(crealm.Query[Person](reading, "").Count()); count != 1 {
		t.Fatal(count)
	}
	if deleted := must(crealm.DeleteFiles(path)); !deleted {
		t.Fatal("the file was not there")
	}
}

func TestAClosedDatabaseRefuses(t *testing.T) {
	db := open(t)
	sequence := crealm.Query[Person](db, "")
	stop := must(sequence.Observe(func(crealm.Change) {}))
	done := make(chan error)
	go func() {
		for _, err := range sequence.Changes(ctx) {
			if err != nil {
				done <- err
				return
			}
		}
	}()
	time.Sleep(10 * time.Millisecond)
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-done; !errors.Is(err, crealm.ErrClosed) {
		t.Fatal(err)
	}
	_, counted := sequence.Count()
	updated := db.Update(ctx, func(*crealm.Tx) error { return nil })
	viewed := db.View(ctx, func(*crealm.Tx) error { return nil })
	for _, err := range []error{counted, updated, viewed, db.Refresh(ctx)} {
		if !errors.Is(err, crealm.ErrClosed) {
			t.Error(err)
		}
	}
}

func TestDecimalsKeepTheirDigits(t *testing.T) {
	most := strings.Repeat("9", 34)
	for _, text := range []string{"0", "1.50", "-0.001", "1E+10", "1.5E-10", "NaN", "-Infinity", most} {
		if found := must(crealm.ParseDecimal128(text)).String(); found != text {
			t.Errorf("%s, not %s", found, text)
		}
	}
	for _, text := range []string{"", "x", "1.2.3", "1e", most + "9", "1E+6145", "1E-6177", "."} {
		if found, err := crealm.ParseDecimal128(text); err == nil {
			t.Errorf("%q: %v", text, found)
		}
	}
	if !must(crealm.ParseDecimal128("1.0")).Equal(crealm.DecimalOf(1)) || crealm.DecimalOf(-1).Equal(crealm.DecimalOf(1)) {
		t.Error("decimals are compared by value")
	}
}

func TestWrongCallsAreErrors(t *testing.T) {
	db := open(t, crealm.Class[Everything](), crealm.Class[Dog](), crealm.Class[Address](), crealm.Class[Person]())
	wrong := "\xff\xfe"
	add(t, db, Person{ID: 1})
	ann := must(crealm.FindLink[Person](db, 1))
	refused := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
	for _, argument := range []any{
		[]any{[]any{1}}, map[string]any{"a": 1}, []any{map[string]any{}}, make(chan int), struct{}{}, wrong, []string{wrong},
		uint64(1 << 63), func() {},
	} {
		_, err := crealm.Query[Person](db, "name == $0", argument).Count()
		refused(fmt.Sprintf("the argument %#v", argument), err)
		_, err = crealm.Find[Person](db, argument)
		refused("as a primary key", err)
		refused("in an update", db.Update(ctx, func(tx *crealm.Tx) error {
			_, err := crealm.Query[Person](tx, "").Update("age = $0", argument)
			return err
		}))
		refused("as the key of an object", db.Update(ctx, func(tx *crealm.Tx) error {
			_, err := tx.CreateObject("Person", map[string]any{"id": argument}, crealm.Never)
			return err
		}))
		refused("as a place", db.Update(ctx, func(tx *crealm.Tx) error {
			return tx.Collection(ann, "Tags", argument).Append("x")
		}))
		refused("as a text", db.Update(ctx, func(tx *crealm.Tx) error { return tx.Set(ann, "name", argument) }))
	}
	var none crealm.Link[Person]
	_, err := crealm.Get(db, none)
	refused("a null address", err)
	_, err = crealm.Value(db, none, "name")
	refused("a null address", err)
	_, err = crealm.Backlinks[Person](db, none, "Friend").Count()
	refused("a null address", err)
	_, err = crealm.Backlinks[Person](db, ann, "name").Count()
	refused("a property that is no link", err)
	_, err = crealm.QueryCollection(db, ann, "name", "").Count()
	refused("a property that is no collection", err)
	_, err = db.ObserveCollection(ann, "name", func(crealm.Change) {})
	refused("a property that is no collection", err)
	_, err = db.ObserveObject(none, func(crealm.Change) {})
	refused("a null address", err)
	_, err = crealm.Query[Person](db, "").Observe(func(crealm.Change) {}, "nothing")
	refused("a key path that leads nowhere", err)
	_, err = crealm.Query[Person](db, "agee > 1").Observe(func(crealm.Change) {})
	refused("a query that is wrong", err)
	_, err = crealm.Query[Person](db, "").Sort("age\x00").Count()
	refused("a NUL", err)
	_, err = crealm.Query[Person](db, "").Sort("nothing ASC").Collect()
	refused("an unknown property", err)
	_, err = crealm.Query[Person](db, "").Sum("nothing")
	refused("an unknown property", err)
	_, err = crealm.Open(string([]byte{'a', 0}), crealm.Class[Person]())
	refused("a path with a NUL", err)
	update(t, db, func(tx *crealm.Tx) error {
		tags := tx.Collection(ann, "Tags")
		for index, err := range []error{
			tags.Insert(5, "x"), tags.Insert(-5, 1), tags.Replace(0, "x"), tags.Remove(-1), tags.Remove(7), tags.Move(0, 1),
			tags.Move(-2, -3), tags.Put("a", "b"), tags.Add("x"), tags.Append(5), tags.Append([]any{1}), tags.Append(nil),
			tx.Collection(ann, "name").Append("x"), tx.Collection(ann, "nothing").Clear(), tx.Collection(none, "Tags").Clear(),
			tx.Collection(ann, "Tags", 0, "x").Append("x"), tx.Set(none, "name", "x"), tx.Delete(none), tx.Add(ann, "name", 1),
			tx.Set(ann, "name", nil), tx.Set(ann, "Tags", "x"), tx.Set(ann, "id", nil),
			tx.Set(ann, "name", strings.Repeat("x", 17<<20)),
		} {
			if err == nil {
				t.Errorf("change %d was accepted", index)
			}
		}
		return nil
	})
	if read := must(crealm.Get(db, ann)); read.Name != "" || len(read.Tags) != 0 {
		t.Error(read)
	}
	if err := db.Verify(); err != nil {
		t.Error(err)
	}
}

// Work may wait for a database at the moment when it is closed.
func TestClosingWhileOthersCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.realm")
	writer := openAt(t, path)
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		defer group.Done()
		for id := int64(0); ; id++ {
			select {
			case <-done:
				return
			default:
				add(t, writer, Person{ID: id})
			}
		}
	}()
	for range 60 {
		db := must(crealm.Open(path, crealm.Class[Person]()))
		stop := must(crealm.Query[Person](db, "").Observe(func(crealm.Change) {}))
		must(crealm.Query[Person](db, "").Count())
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		stop()
	}
	close(done)
	group.Wait()
}

// The library handles SIGSEGV for files that lose pages. Faults of the program must still reach Go.
func TestNilPointersStillPanic(t *testing.T) {
	db := open(t)
	add(t, db, Person{ID: 1})
	for range 100 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			var none *Person
			_ = db.Update(ctx, func(tx *crealm.Tx) error {
				_, err := crealm.Create(tx, &Person{Name: none.Name})
				return err
			})
		}()
	}
	if count := must(crealm.Query[Person](db, "").Count()); count != 1 {
		t.Fatal(count)
	}
}

func TestGoroutinesShareATransaction(t *testing.T) {
	db := open(t)
	share := func(tx *crealm.Tx, work func(number int64) error) error {
		failures := make(chan error, 8)
		for number := range int64(8) {
			go func() { failures <- work(number) }()
		}
		var joined error
		for range 8 {
			joined = errors.Join(joined, <-failures)
		}
		return joined
	}
	update(t, db, func(tx *crealm.Tx) error {
		return share(tx, func(number int64) error {
			for id := number * 100; id < number*100+50; id++ {
				link, err := crealm.Create(tx, &Person{ID: id, Name: fmt.Sprint(id)})
				if err := errors.Join(err, tx.Add(link, "age", 1), tx.Collection(link, "Tags").Append("x")); err == nil {
					return errors.New("a number was added to null")
				}
				if _, err := crealm.Find[Person](tx, id); err != nil {
					return err
				}
			}
			return nil
		})
	})
	err := db.View(ctx, func(tx *crealm.Tx) error {
		return share(tx, func(int64) error {
			count := 0
			for person, err := range crealm.Query[Person](tx, "").All() {
				if err != nil || person.Name != fmt.Sprint(person.ID) {
					return fmt.Errorf("%v: %w", person, err)
				}
				count++
			}
			if count != 400 {
				return fmt.Errorf("%d people", count)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	// A goroutine that goes on after its transaction gets errors.
	var late sync.WaitGroup
	late.Add(1)
	update(t, db, func(tx *crealm.Tx) error {
		go func() {
			defer late.Done()
			for range 2000 {
				if _, err := crealm.Query[Person](tx, "").Count(); err != nil {
					return
				}
			}
			t.Error("no error after the end")
		}()
		return nil
	})
	late.Wait()
}

func TestValuesThatContainThemselvesAreRefused(t *testing.T) {
	type Holder struct{ Any any }
	db := open(t, crealm.Class[Holder]())
	list := []any{nil}
	list[0] = list
	pairs := map[string]any{}
	pairs["self"] = pairs
	var pointing any
	pointing = &pointing
	type nested []nested
	inside := nested{nil}
	inside[0] = inside
	for index, each := range []any{list, pairs, pointing, inside} {
		err := db.Update(ctx, func(tx *crealm.Tx) error {
			_, err := crealm.Create(tx, &Holder{each})
			return err
		})
		if code(err) != 3018 {
			t.Error(index, err)
		}
		if _, err := crealm.Query[Holder](db, "Any == $0", each).Count(); code(err) != 3018 {
			t.Error(index, err)
		}
	}
}

func code(err error) int {
	var found *crealm.Error
	if errors.As(err, &found) {
		return found.Code
	}
	return 0
}

func TestTimesBeyondTimeAreTimestamps(t *testing.T) {
	for _, each := range []crealm.Timestamp{{Seconds: math.MaxInt64}, {Seconds: math.MaxInt64 - 62135596799}} {
		if found, fits := each.Time(); fits {
			t.Errorf("%v is %v", each, found)
		}
	}
	last := crealm.Timestamp{Seconds: math.MaxInt64 - 62135596800, Nanoseconds: 999_999_999}
	if found, fits := last.Time(); !fits || !found.After(time.Now()) {
		t.Error(found, fits)
	}
}

func TestTheSequenceOfCreateAllMayReadTheTransaction(t *testing.T) {
	db := open(t, crealm.Class[Person]())
	update(t, db, func(tx *crealm.Tx) error {
		if _, err := crealm.Create(tx, &Person{ID: 1, Name: "Ann"}); err != nil {
			return err
		}
		count, err := crealm.CreateAll(tx, func(yield func(*Person) bool) {
			for index := range 600 {
				ann := must(crealm.Find[Person](tx, 1))
				if !yield(&Person{ID: int64(10 + index), Name: ann.Name}) {
					return
				}
			}
		}, crealm.Never)
		if count != 600 {
			t.Error(count)
		}
		return err
	})
	if count := must(crealm.Query[Person](db, "name == 'Ann'").Count()); count != 601 {
		t.Error(count)
	}
}

func TestNilIsRefused(t *testing.T) {
	db := open(t, crealm.Class[Person]())
	update(t, db, func(tx *crealm.Tx) error {
		if _, err := crealm.Create[Person](tx, nil); code(err) != 3000 {
			t.Error(err)
		}
		one := func(yield func(*Person) bool) { yield(nil) }
		if _, err := crealm.CreateAll(tx, one, crealm.Never); code(err) != 3000 {
			t.Error(err)
		}
		return nil
	})
	if _, err := crealm.Query[Person](db, "").Observe(nil); code(err) != 3000 {
		t.Error(err)
	}
	update(t, db, func(tx *crealm.Tx) error {
		ann := must(crealm.Create(tx, &Person{ID: 1}))
		if err := tx.Collection(ann, "Tags").Insert(-1, "x"); code(err) != 3017 {
			t.Error(err)
		}
		return nil
	})
}

func TestNamesWithNULAreRefused(t *testing.T) {
	db := open(t, crealm.Class[Person]())
	update(t, db, func(tx *crealm.Tx) error {
		_, err := crealm.Create(tx, &Person{ID: 1})
		return err
	})
	if _, err := crealm.Query[Person](db, "").Observe(func(crealm.Change) {}, "name\x00"); code(err) != 3000 {
		t.Error(err)
	}
	ann := must(crealm.FindLink[Person](db, 1))
	if _, err := db.ObserveObject(ann, func(crealm.Change) {}, "name\x00"); code(err) != 3000 {
		t.Error(err)
	}
}

func TestStructsThatContradictThemselvesAreRefused(t *testing.T) {
	type twice struct {
		One, Other int64 `realm:"same"`
	}
	type keys struct {
		One   int64 `realm:"one,pk"`
		Other int64 `realm:"other,pk"`
	}
	type unreadable struct {
		Text string `realm:"\xff"`
	}
	type listKey struct {
		Tags []string `realm:",pk"`
	}
	for index, class := range []crealm.Option{
		crealm.Class[twice](), crealm.Class[keys](), crealm.Class[unreadable](), crealm.Class[listKey](),
	} {
		db, err := crealm.Open(filepath.Join(t.TempDir(), "test.realm"), class)
		if !errors.Is(err, crealm.ErrSchema) {
			t.Error(index, err)
		}
		if db != nil {
			db.Close()
		}
	}
	type indexed struct {
		Tags []string `realm:"tags,index"`
	}
	db := open(t, crealm.Class[indexed]())
	property := db.Schema()[0].Properties[0]
	if property.Collection != "list" || property.Type != "string" || !property.Indexed {
		t.Errorf("%+v", property)
	}
}

func TestAReadOnlyFileMayLackAClass(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.realm")
	db := openAt(t, path, crealm.Class[Person]())
	db.Close()
	type Thing struct{ Number int64 }
	db = openAt(t, path, crealm.ReadOnly(), crealm.Class[Person](), crealm.Class[Thing]())
	if count := must(crealm.Query[Person](db, "").Count()); count != 0 {
		t.Error(count)
	}
	if _, err := crealm.Query[Thing](db, "").Count(); !errors.Is(err, crealm.ErrNoSuchMember) {
		t.Error(err)
	}
}

func TestAListenerMayCloseTheDatabase(t *testing.T) {
	for round := range 2 {
		db := open(t, crealm.Class[Person]())
		closed := make(chan error, 10)
		must(crealm.Query[Person](db, "").Observe(func(crealm.Change) { closed <- db.Close() }))
		if round == 1 {
			_ = db.Update(ctx, func(tx *crealm.Tx) error {
				_, err := crealm.Create(tx, &Person{ID: 1})
				return err
			})
		}
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("Close waits for the listener that calls it")
		}
	}
}
