package crealm

/*
#include "shim.h"
*/
import "C"

import "context"

func runMigration(config *config, old, new *C.realm_t, raw *C.realm_schema_t) error {
	before, err := readSchema(old, &config0)
	if err != nil {
		return err
	}
	after, err := readSchema(new, config)
	if err != nil {
		return err
	}
	ctx := context.Background()
	migration := &Migration{
		Old:    &Tx{reader: reader{realm: old, schema: before}, ctx: ctx},
		New:    &Tx{reader: reader{realm: new, schema: after, isWriting: true}, ctx: ctx},
		schema: raw,
	}
	defer migration.Old.end()
	defer migration.New.end()
	return config.migrate(migration)
}

var config0 config
