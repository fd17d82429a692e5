// Runs the conformance suite, which Tests/Conformance/README.md describes, on the functions that go by names.
package crealm_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"crealm"
)

type object = map[string]any

func classesOf(given any) []crealm.ClassInfo {
	list := []crealm.ClassInfo{}
	for _, each := range given.([]any) {
		class := each.(object)
		found := crealm.ClassInfo{Name: class["name"].(string)}
		found.PrimaryKey, _ = class["primaryKey"].(string)
		found.Embedded, _ = class["embedded"].(bool)
		for name, given := range class["properties"].(object) {
			property := crealm.PropertyInfo{Name: name}
			text, isText := given.(string)
			if !isText {
				text = given.(object)["type"].(string)
				property.FullText = given.(object)["indexed"] == "full-text"
				property.Indexed = given.(object)["indexed"] == true
			}
			for ending, kind := range map[string]string{"[]": "list", "<>": "set", "{}": "dictionary"} {
				if rest, has := strings.CutSuffix(text, ending); has {
					text, property.Collection = rest, kind
				}
			}
			property.Type, property.Optional = strings.CutSuffix(text, "?")
			found.Properties = append(found.Properties, property)
		}
		list = append(list, found)
	}
	return list
}

// conformanceCase is a case that runs: what its steps named, and how its file is opened.
type conformanceCase struct {
	path     string
	classes  []crealm.ClassInfo
	version  uint64
	key      []byte
	readOnly bool
	renamed  []any
	db       *crealm.DB
	objects  map[string]crealm.AnyLink
	told     map[string]*[]crealm.Change
	frozen   map[string]*frozenView
	stops    []func()
}

// frozenView keeps a View open in a goroutine of its own: the version that it reads.
type frozenView struct {
	tx  *crealm.Tx
	end chan struct{}
}

func (c *conformanceCase) open() (*crealm.DB, error) {
	options := []crealm.Option{crealm.Classes(c.classes...), crealm.SchemaVersion(c.version)}
	if c.key != nil {
		options = append(options, crealm.Key(c.key))
	}
	if c.readOnly {
		options = append(options, crealm.ReadOnly())
	}
	renamed := c.renamed
	return crealm.Open(c.path, append(options, crealm.Migrate(func(m *crealm.Migration) error {
		for _, names := range renamed {
			list := names.([]any)
			if err := m.Rename(list[0].(string), list[1].(string), list[2].(string)); err != nil {
				return err
			}
		}
		return nil
	}))...)
}

func (c *conformanceCase) close() {
	for _, stop := range c.stops {
		stop()
	}
	for _, view := range c.frozen {
		close(view.end)
	}
	c.stops, c.frozen = nil, map[string]*frozenView{}
	if c.db != nil {
		c.db.Close()
	}
	c.db = nil
}

func tagOf(given any) (string, any, bool) {
	if members, isObject := given.(object); isObject && len(members) == 1 {
		for name, content := range members {
			return name, content, strings.HasPrefix(name, "$")
		}
	}
	return "", nil, false
}

func number(given any) string {
	return fmt.Sprint(given)
}

// value is the value of a step as one of Go.
func (c *conformanceCase) value(given any) any {
	if tag, content, has := tagOf(given); has {
		switch tag {
		case "$int":
			return must(strconv.ParseInt(content.(string), 10, 64))
		case "$double":
			return must(strconv.ParseFloat(content.(string), 64))
		case "$float":
			return float32(must(strconv.ParseFloat(content.(string), 32)))
		case "$decimal":
			return must(crealm.ParseDecimal128(content.(string)))
		case "$date":
			parts := content.([]any)
			nanoseconds := must(strconv.ParseInt(number(parts[1]), 10, 32))
			return crealm.Timestamp{Seconds: must(strconv.ParseInt(number(parts[0]), 10, 64)), Nanoseconds: int32(nanoseconds)}
		case "$oid":
			return must(crealm.ParseObjectID(content.(string)))
		case "$uuid":
			return must(crealm.ParseUUID(content.(string)))
		case "$data":
			return must(base64.StdEncoding.DecodeString(content.(string)))
		case "$link":
			return c.objects[content.(string)]
		case "$repeat":
			parts := content.([]any)
			return strings.Repeat(parts[0].(string), must(strconv.Atoi(number(parts[1]))))
		}
	}
	switch given := given.(type) {
	case json.Number:
		if whole, err := given.Int64(); err == nil {
			return whole
		}
		return must(given.Float64())
	case []any:
		list := []any{}
		for _, each := range given {
			list = append(list, c.value(each))
		}
		return list
	case object:
		pairs := object{}
		for name, each := range given {
			pairs[name] = c.value(each)
		}
		return pairs
	}
	return given
}

func timeOf(found any) any {
	if moment, isTime := found.(time.Time); isTime {
		seconds, nanoseconds := moment.Unix(), int32(moment.Nanosecond())
		if seconds < 0 && nanoseconds > 0 {
			return crealm.Timestamp{Seconds: seconds + 1, Nanoseconds: nanoseconds - 1_000_000_000}
		}
		return crealm.Timestamp{Seconds: seconds, Nanoseconds: nanoseconds}
	}
	return found
}

// equals says whether what was read is what a step gives.
func (c *conformanceCase) equals(from crealm.Reader, given, found any) bool {
	_, _, isTagged := tagOf(given)
	switch expected := given.(type) {
	case []any:
		if set, isSet := found.(crealm.Set[any]); isSet {
			return len(set) == len(expected) && !slices.ContainsFunc(expected, func(each any) bool {
				return !slices.ContainsFunc(set, func(element any) bool { return c.equals(from, each, element) })
			})
		}
		list, isList := found.([]any)
		return isList && slices.EqualFunc(expected, list, func(each, element any) bool { return c.equals(from, each, element) })
	case json.Number:
		text := expected.String()
		switch found := found.(type) {
		case int64:
			return text == strconv.FormatInt(found, 10)
		case float64:
			return must(expected.Float64()) == found
		case float32:
			return must(expected.Float64()) == float64(found)
		case crealm.Decimal128:
			return must(crealm.ParseDecimal128(text)).Equal(found)
		}
		return false
	case object:
		if link, isLink := found.(crealm.AnyLink); isLink && !isTagged {
			for name, each := range expected {
				value, err := crealm.Value(from, link, name)
				if err != nil || !c.equals(from, each, value) {
					return false
				}
			}
			return true
		}
		if pairs, isMap := found.(map[string]any); isMap && !isTagged {
			return maps.EqualFunc(expected, pairs, func(each, value any) bool { return c.equals(from, each, value) })
		}
	}
	switch wanted := c.value(given).(type) {
	case float64:
		number, is := found.(float64)
		return is && (math.Float64bits(wanted) == math.Float64bits(number) || math.IsNaN(wanted) && math.IsNaN(number))
	case float32:
		number, is := found.(float32)
		return is && (wanted == number || wanted != wanted && number != number)
	case crealm.Decimal128:
		number, is := found.(crealm.Decimal128)
		return is && (wanted.Equal(number) || wanted.IsNaN() && number.IsNaN())
	case []byte:
		bytes, is := found.([]byte)
		return is && slices.Equal(wanted, bytes)
	case crealm.AnyLink:
		if wanted.IsNil() {
			return found == nil
		}
		return found == any(wanted)
	case []any, map[string]any:
		return false
	default:
		return timeOf(found) == timeOf(wanted)
	}
}

func (c *conformanceCase) check(from crealm.Reader, given, found any) error {
	if c.equals(from, given, found) {
		return nil
	}
	return fmt.Errorf("%#v, not %v", found, given)
}

func (c *conformanceCase) rows(from crealm.Reader, target any, step object) crealm.Rows {
	text, _ := step["where"].(string)
	args := []any{}
	given, _ := step["arguments"].([]any)
	for _, each := range given {
		args = append(args, c.value(each))
	}
	var rows crealm.Rows
	if class, isClass := target.(string); isClass {
		rows = crealm.QueryClass(from, class, text, args...)
	} else {
		place := target.([]any)
		rows = crealm.QueryCollection(from, c.objects[place[0].(string)], place[1].(string), text, args...)
	}
	if order, has := step["sort"].(string); has {
		rows = rows.Sort(order)
	}
	if properties, has := step["distinct"].(string); has {
		rows = rows.Distinct(properties)
	}
	if most, has := step["limit"].(json.Number); has {
		rows = rows.Limit(int(must(most.Int64())))
	}
	return rows
}

var errUndo = errors.New("undone")

func (c *conformanceCase) name(step object, link crealm.AnyLink) {
	if name, has := step["as"].(string); has {
		c.objects[name] = link
	}
}

func position(step object, name string) int {
	return int(must(step[name].(json.Number).Int64()))
}

func first[T any](sequence iter.Seq2[T, error]) error {
	for _, err := range sequence {
		if err != nil {
			return err
		}
	}
	return nil
}

// inside is a step that may be in a write: tx is nil outside of one.
func (c *conformanceCase) inside(from crealm.Reader, tx *crealm.Tx, verb string, step object) error {
	what, gives := step[verb], step["gives"]
	name, _ := what.(string)
	switch verb {
	case "get":
		for property, given := range gives.(object) {
			found, err := crealm.Value(from, c.objects[name], property)
			if err == nil {
				err = c.check(from, given, found)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", property, err)
			}
		}
		return nil
	case "valid":
		return c.check(from, gives, crealm.Exists(from, c.objects[name]))
	case "find":
		link, err := crealm.FindObject(from, name, c.value(step["primaryKey"]))
		if errors.Is(err, crealm.ErrNotFound) {
			return c.check(from, gives, nil)
		}
		c.name(step, link)
		if given, has := step["gives"]; has && err == nil {
			return c.check(from, given, link)
		}
		return err
	case "count":
		count, err := c.rows(from, what, object{}).Count()
		return errors.Join(err, c.check(from, gives, int64(count)))
	case "query":
		rows := c.rows(from, what, step)
		if columns, has := gives.(object); has {
			for property, given := range columns {
				found := []any{}
				for link, err := range rows.Links() {
					if err != nil {
						return err
					}
					found = append(found, must(crealm.Value(from, link, property)))
				}
				if err := c.check(from, given, found); err != nil {
					return err
				}
			}
			return nil
		}
		if gives == nil {
			return first(rows.Links())
		}
		count, err := rows.Count()
		if err != nil {
			return err
		}
		return c.check(from, gives, int64(count))
	case "sum", "min", "max", "average":
		rows := c.rows(from, step["of"], step)
		function := map[string]func(string) (any, error){"sum": rows.Sum, "min": rows.Min, "max": rows.Max, "average": rows.Average}
		found, err := function[verb](name)
		if err != nil {
			return err
		}
		return c.check(from, gives, found)
	case "read":
		place := what.([]any)
		found, err := crealm.Value(from, c.objects[place[0].(string)], place[1].(string))
		for _, part := range place[2:] {
			if at, isPosition := part.(json.Number); isPosition {
				found = found.([]any)[must(at.Int64())]
			} else {
				found = found.(map[string]any)[part.(string)]
			}
		}
		if err != nil {
			return err
		}
		return c.check(from, gives, found)
	}
	if tx == nil {
		return &crealm.Error{Code: 0, Message: "a program cannot write without a Tx"}
	}
	switch verb {
	case "create":
		mode := map[any]crealm.UpdateMode{nil: crealm.Never, "modified": crealm.Modified, "all": crealm.All}[step["update"]]
		link, err := tx.CreateObject(name, c.value(step["values"]).(object), mode)
		if err == nil {
			c.name(step, link)
		}
		return err
	case "set":
		for property, given := range step["values"].(object) {
			if err := tx.Set(c.objects[name], property, c.value(given)); err != nil {
				return err
			}
		}
		return nil
	case "delete":
		return tx.Delete(c.objects[name])
	case "deleteAll":
		return c.rows(tx, what, step).Delete()
	}
	list := what.([]any)
	place := []any{}
	for _, part := range list[2:] {
		place = append(place, c.value(part))
	}
	collection := tx.Collection(c.objects[list[0].(string)], list[1].(string), place...)
	given := c.value(step["value"])
	switch verb {
	case "insert":
		if _, has := step["at"]; has {
			return collection.Insert(position(step, "at"), given)
		}
		return collection.Append(given)
	case "replace":
		return collection.Replace(position(step, "at"), given)
	case "move":
		return collection.Move(position(step, "from"), position(step, "to"))
	case "remove":
		if key, has := step["key"].(string); has {
			return collection.RemoveKey(key)
		}
		return collection.Remove(position(step, "at"))
	case "clear":
		return collection.Clear()
	case "put":
		return collection.Put(step["key"].(string), given)
	case "add":
		return collection.Add(given)
	case "discard":
		return collection.Discard(given)
	}
	return fmt.Errorf("unknown step %s", verb)
}

func (c *conformanceCase) step(db *crealm.DB, verb string, step object) error {
	what := step[verb]
	switch verb {
	case "write":
		err := db.Update(ctx, func(tx *crealm.Tx) error {
			err := c.run(what, func(verb string, step object) error { return c.inside(tx, tx, verb, step) })
			if err == nil && step["rollback"] == true {
				return errUndo
			}
			return err
		})
		if err == errUndo {
			return nil
		}
		return err
	case "observe":
		told := &[]crealm.Change{}
		record := func(change crealm.Change) { *told = append(*told, change) }
		paths := []string{}
		given, _ := step["paths"].([]any)
		for _, path := range given {
			paths = append(paths, path.(string))
		}
		var stop func()
		var err error
		place, isPlace := what.([]any)
		if _, content, isLink := tagOf(what); isLink {
			stop, err = db.ObserveObject(c.objects[content.(string)], record, paths...)
		} else if isPlace && step["where"] == nil {
			stop, err = db.ObserveCollection(c.objects[place[0].(string)], place[1].(string), record)
		} else {
			stop, err = c.rows(db, what, step).Observe(record, paths...)
		}
		if err != nil {
			return err
		}
		c.stops = append(c.stops, stop)
		err = db.Refresh(ctx)
		*told = nil
		c.told[step["as"].(string)] = told
		return err
	case "turn":
		return db.Refresh(ctx)
	case "told":
		told := c.told[what.(string)]
		found, wanted := []string{}, []string{}
		for _, change := range *told {
			found = append(found, textOf(change))
		}
		*told = nil
		if gives, has := step["gives"].(object); has {
			wanted = append(wanted, wantedText(gives))
		}
		if !slices.Equal(found, wanted) {
			return fmt.Errorf("%v, not %v", found, wanted)
		}
		return nil
	case "elsewhere":
		other, err := c.open()
		if err != nil {
			return err
		}
		defer other.Close()
		return c.run(what, func(verb string, step object) error { return c.step(other, verb, step) })
	case "freeze":
		view := &frozenView{end: make(chan struct{})}
		started := make(chan struct{})
		go db.View(ctx, func(tx *crealm.Tx) error {
			view.tx = tx
			close(started)
			<-view.end
			return nil
		})
		<-started
		c.frozen[what.(string)] = view
		return nil
	case "frozen":
		view := c.frozen[what.(string)]
		return c.run(step["steps"], func(verb string, step object) error { return c.inside(view.tx, nil, verb, step) })
	case "open":
		settings := what.(object)
		c.close()
		if classes, has := settings["classes"]; has {
			c.classes = classesOf(classes)
		}
		if key, has := settings["key"]; has {
			text, _ := key.(string)
			c.key = must(hex.DecodeString(text))
			if text == "" {
				c.key = nil
			}
		}
		c.readOnly = settings["readOnly"] == true
		if version, has := settings["version"].(json.Number); has {
			c.version = uint64(must(version.Int64()))
		}
		c.renamed, _ = settings["rename"].([]any)
		var err error
		c.db, err = c.open()
		return err
	}
	return c.inside(db, nil, verb, step)
}

func textOf(change crealm.Change) string {
	keys := func(positions []int, names []string) []string {
		texts := slices.Clone(names)
		for _, position := range positions {
			texts = append(texts, strconv.Itoa(position))
		}
		slices.Sort(texts)
		return texts
	}
	return fmt.Sprint(keys(change.Deletions, change.DeletedKeys), keys(change.Insertions, change.InsertedKeys),
		keys(change.Modifications, change.ModifiedKeys), keys(nil, change.Properties), change.Cleared, change.Deleted)
}

func wantedText(gives object) string {
	keys := func(name string) []string {
		texts := []string{}
		list, _ := gives[name].([]any)
		for _, each := range list {
			texts = append(texts, number(each))
		}
		slices.Sort(texts)
		return texts
	}
	return fmt.Sprint(keys("deletions"), keys("insertions"), keys("modifications"), keys("properties"),
		gives["cleared"] == true, gives["deleted"] == true)
}

// run does steps, and compares how they fail with what they say.
func (c *conformanceCase) run(steps any, do func(verb string, step object) error) error {
	for _, each := range steps.([]any) {
		step := each.(object)
		verb := verbOf(step)
		err := do(verb, step)
		wanted, has := step["error"]
		if !has {
			if err != nil && err != errUndo {
				return fmt.Errorf("%s: %w", verb, err)
			}
			continue
		}
		list, isList := wanted.([]any)
		if !isList {
			list = []any{wanted}
		}
		var found *crealm.Error
		matches := errors.As(err, &found) && (found.Code == 0 || slices.ContainsFunc(list, func(code any) bool {
			return number(code) == strconv.Itoa(found.Code)
		}))
		if !matches {
			return fmt.Errorf("%s: %v, not the error %v", verb, err, wanted)
		}
	}
	return nil
}

var verbs = []string{
	"write", "create", "set", "get", "delete", "valid", "find", "count", "query", "sum", "min", "max", "average", "deleteAll",
	"read", "insert", "replace", "move", "add", "discard", "put", "remove", "clear", "observe", "turn", "told", "elsewhere",
	"freeze", "frozen", "open",
}

func verbOf(step object) string {
	for _, verb := range verbs {
		if _, has := step[verb]; has {
			return verb
		}
	}
	panic(fmt.Sprint("no verb in ", step))
}

func TestConformance(t *testing.T) {
	files := must(filepath.Glob("../../Tests/Conformance/*.json"))
	count := 0
	for _, file := range files {
		decoder := json.NewDecoder(must(os.Open(file)))
		decoder.UseNumber()
		var suite object
		if err := decoder.Decode(&suite); err != nil {
			t.Fatal(file, err)
		}
		for _, each := range suite["cases"].([]any) {
			given := each.(object)
			if given["needs"] == "turns" {
				continue // A DB moves to new versions by itself.
			}
			count++
			t.Run(filepath.Base(file)+": "+given["name"].(string), func(t *testing.T) {
				classes := suite["classes"]
				if own, has := given["classes"]; has {
					classes = own
				}
				key, _ := given["key"].(string)
				c := &conformanceCase{path: filepath.Join(t.TempDir(), "case.realm"), classes: classesOf(classes),
					objects: map[string]crealm.AnyLink{}, told: map[string]*[]crealm.Change{}, frozen: map[string]*frozenView{}}
				if key != "" {
					c.key = must(hex.DecodeString(key))
				}
				var err error
				if c.db, err = c.open(); err != nil {
					t.Fatal(err)
				}
				defer c.close()
				if err := c.run(given["steps"], func(verb string, step object) error { return c.step(c.db, verb, step) }); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if count < 150 {
		t.Fatal(count, "cases only")
	}
}
