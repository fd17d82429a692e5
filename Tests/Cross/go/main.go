// A writer and observer of run.py, which describes them.   cross FILE LEDGER NUMBER
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"crealm"
)

type Counter struct {
	ID    int64 `realm:"id,pk"`
	Value int64 `realm:"value"`
}

type Entry struct {
	ID     int64 `realm:"id,pk"`
	Worker int64 `realm:"worker"`
	Number int64 `realm:"number"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "Go:", err)
		os.Exit(1)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func main() {
	path, own := os.Args[1], must(strconv.ParseInt(os.Args[3], 10, 64))
	ledger := must(os.OpenFile(os.Args[2], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644))
	note := func(words ...any) { must(fmt.Fprintln(ledger, words...)) }
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(filepath.Dir(path), name))
		return err == nil
	}
	ctx := context.Background()
	db := must(crealm.Open(path, crealm.Class[Counter](), crealm.Class[Entry]()))
	note("start")
	entries := crealm.Query[Entry](db, "")
	count := func() int { return must(entries.Count()) }
	// A change has positions, and the database may have moved on since: changes are counted. The first one belongs
	// to a version between the two counts.
	before := count()
	first := make(chan bool, 1)
	var changes atomic.Int64
	stop := must(entries.Observe(func(change crealm.Change) {
		if changes.Add(1) == 1 {
			note("between", before, count())
			first <- true
			return
		}
		if len(change.Deletions) > 0 || len(change.Modifications) > 0 {
			note("counted", len(change.Insertions), "changed")
			return
		}
		note("counted", len(change.Insertions))
	}))
	<-first
	for !exists("stop") {
		var number int64
		check(db.Update(ctx, func(tx *crealm.Tx) error {
			counter := must(crealm.Find[Counter](tx, own))
			number = counter.Value + 1
			must(crealm.Create(tx, &Entry{own*1_000_000_000 + number, own, number}))
			check(tx.Set(must(crealm.FindLink[Counter](tx, own)), "value", number))
			return tx.Add(must(crealm.FindLink[Counter](tx, 0)), "value", 1)
		}))
		note("wrote", number)
		time.Sleep(2 * time.Millisecond)
	}
	note("stopped")
	for {
		seen := changes.Load()
		time.Sleep(200 * time.Millisecond)
		if exists("end") && seen == changes.Load() {
			break
		}
	}
	check(db.Refresh(ctx))
	stop()
	note("end", count())
	check(db.Close())
}
