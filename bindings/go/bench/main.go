// Measures the package beside mattn/go-sqlite3, in one run: go run . [rows] [rounds]
//
// Both write one transaction of single rows, look rows up by their key and read a text, read two properties of all
// rows, and count with a condition. Nanoseconds a row (microseconds for the count), medians of the rounds.
// go-sqlite3 comes from a proxy, or from Debian's package golang-github-mattn-go-sqlite3-dev:
//
//	go mod edit -replace github.com/mattn/go-sqlite3=/usr/share/gocode/src/github.com/mattn/go-sqlite3
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"crealm"

	_ "github.com/mattn/go-sqlite3"
)

type Person struct {
	ID   int64  `realm:"id,pk"`
	Name string `realm:"name"`
	Age  int64  `realm:"age"`
}

var times = map[string][]float64{}

func measure(name string, count int, run func()) {
	start := time.Now()
	run()
	times[name] = append(times[name], float64(time.Since(start).Nanoseconds())/float64(count))
}

func median(name string) float64 {
	sorted := slices.Sorted(slices.Values(times[name]))
	return sorted[len(sorted)/2]
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func ours(path string, rows int) (sum int64, count int) {
	ctx := context.Background()
	db := must(crealm.Open(path, crealm.Class[Person]()))
	defer db.Close()
	measure("insert ours", rows, func() {
		check(db.Update(ctx, func(tx *crealm.Tx) error {
			for id := range int64(rows) {
				if _, err := crealm.Create(tx, &Person{id, "name " + strconv.FormatInt(id, 10), id % 100}); err != nil {
					return err
				}
			}
			return nil
		}))
	})
	batched := must(crealm.Open(path+"2", crealm.Class[Person]()))
	defer batched.Close()
	measure("insert batches", rows, func() {
		check(batched.Update(ctx, func(tx *crealm.Tx) error {
			_, err := crealm.CreateAll(tx, func(yield func(*Person) bool) {
				for id := range int64(rows) {
					if !yield(&Person{id, "name " + strconv.FormatInt(id, 10), id % 100}) {
						return
					}
				}
			}, crealm.Never)
			return err
		}))
	})
	measure("lookup ours", rows, func() {
		for index := range rows {
			if len(must(crealm.Find[Person](db, int64(index*7919%rows))).Name) < 6 {
				panic("wrong")
			}
		}
	})
	measure("iterate ours", rows, func() {
		for person, err := range crealm.Query[Person](db, "").All() {
			check(err)
			sum += person.Age + int64(len(person.Name))
		}
	})
	measure("count ours", 1000, func() { count = must(crealm.Query[Person](db, "age > $0", 50).Count()) })
	link := must(crealm.FindLink[Person](db, 0))
	check(db.View(ctx, func(tx *crealm.Tx) error {
		measure("one int ours", 1_000_000, func() {
			for range 1_000_000 {
				must(crealm.Read[int64](tx, link, "age"))
			}
		})
		return nil
	}))
	return sum, count
}

func theirs(path string, rows int) (sum int64, count int) {
	base := must(sql.Open("sqlite3", path+"?_journal_mode=WAL&_synchronous=FULL"))
	defer base.Close()
	base.SetMaxOpenConns(1)
	must(base.Exec("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)"))
	measure("insert theirs", rows, func() {
		tx := must(base.Begin())
		insert := must(tx.Prepare("INSERT INTO person VALUES (?, ?, ?)"))
		for id := range int64(rows) {
			must(insert.Exec(id, "name "+strconv.FormatInt(id, 10), id%100))
		}
		check(tx.Commit())
	})
	find := must(base.Prepare("SELECT name FROM person WHERE id = ?"))
	defer find.Close()
	measure("lookup theirs", rows, func() {
		for index := range rows {
			var name string
			check(find.QueryRow(int64(index * 7919 % rows)).Scan(&name))
			if len(name) < 6 {
				panic("wrong")
			}
		}
	})
	measure("iterate theirs", rows, func() {
		all := must(base.Query("SELECT name, age FROM person"))
		defer all.Close()
		for all.Next() {
			var name string
			var age int64
			check(all.Scan(&name, &age))
			sum += age + int64(len(name))
		}
	})
	measure("count theirs", 1000, func() {
		check(base.QueryRow("SELECT count(*) FROM person WHERE age > ?", 50).Scan(&count))
	})
	return sum, count
}

func main() {
	rows, rounds := 200_000, 5
	for index, into := range []*int{&rows, &rounds} {
		if len(os.Args) > index+1 {
			*into = must(strconv.Atoi(os.Args[index+1]))
		}
	}
	folder := must(os.MkdirTemp("", "crealm-bench"))
	defer os.RemoveAll(folder)
	for round := range rounds {
		sum, count := ours(filepath.Join(folder, fmt.Sprint(round, ".realm")), rows)
		otherSum, otherCount := theirs(filepath.Join(folder, fmt.Sprint(round, ".sqlite")), rows)
		if sum != otherSum || count != otherCount {
			panic("the results differ")
		}
	}
	fmt.Printf("%d rows, medians of %d rounds\n", rows, rounds)
	for _, name := range []string{"insert", "lookup", "iterate", "count"} {
		unit := "ns"
		if name == "count" {
			unit = "µs"
		}
		own, peer := median(name+" ours"), median(name+" theirs")
		fmt.Printf("%-8s %7.0f %s  go-sqlite3 %7.0f %s  %.2f x as fast\n", name, own, unit, peer, unit, peer/own)
	}
	batches := median("insert batches")
	fmt.Printf("batches  %7.0f ns  %.2f x as fast as single inserts of go-sqlite3\n", batches, median("insert theirs")/batches)
	fmt.Printf("one int  %7.1f ns\n", median("one int ours"))
}
