-- The hub of a synchronised file: what devices and SQL share beside the tables of the classes. Protocol: docs/sync.md.
--
-- Needs PostgreSQL 14. Needs no extension, superuser, replication slot or event trigger. Tables of classes are written
-- as the caller, so that grants and row-level security decide. Marks are written by the owner of this schema: nobody
-- who may change a row can do so unmarked.

CREATE SCHEMA crealm;

-- One row. The incarnation tells a hub from every other one.
CREATE TABLE crealm.hub (
    version int NOT NULL,
    incarnation uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO crealm.hub (version) VALUES (1);

CREATE TABLE crealm.class (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    relation regclass NOT NULL UNIQUE,
    key text NOT NULL,
    -- The column with the owner of a row, if rows belong to owners.
    owner text
);

CREATE TABLE crealm.property (
    class int NOT NULL REFERENCES crealm.class ON DELETE CASCADE,
    name text NOT NULL,
    kind text NOT NULL,
    -- Of a link: the class that it leads to.
    target text,
    PRIMARY KEY (class, name)
);

-- A copy of a file. `reply` is the reply to the last batch, for a device that did not get it.
CREATE TABLE crealm.device (
    id uuid PRIMARY KEY,
    person text NOT NULL,
    batch bigint NOT NULL DEFAULT 0,
    chain text NOT NULL DEFAULT '',
    reply json,
    seen timestamptz NOT NULL DEFAULT now()
);

-- Functions of one expression have no settings and qualified names: so PostgreSQL puts the expression in the place of a
-- call, which is 20 times faster.

-- When the server began to count transactions, in microseconds since 1970. A crash lets it use numbers again: those of
-- transactions that were rolled back shortly before. Statistics begin anew after a crash, also if the first process of
-- the server survived it.
CREATE FUNCTION crealm.boot() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT (extract(epoch FROM greatest(pg_catalog.pg_postmaster_start_time(),
        pg_catalog.pg_stat_get_bgwriter_stat_reset_time())) * 1000000)::pg_catalog.int8
$$;

-- One row for each object that ever was: when it changed last, the clocks of its properties, whether it is deleted.
CREATE TABLE crealm.shadow (
    class int NOT NULL,
    key text COLLATE "C" NOT NULL,
    xid xid8 NOT NULL,
    -- The boot in which the number was given.
    boot bigint NOT NULL DEFAULT crealm.boot(),
    gone boolean NOT NULL,
    -- The largest clock.
    at bigint NOT NULL,
    -- The member with the empty name has the clock of all properties that are not named.
    clock jsonb NOT NULL DEFAULT '{}',
    -- The owner of the row, and the one before: both are told of a change.
    scope text[],
    PRIMARY KEY (class, key)
);
CREATE INDEX shadow_xid ON crealm.shadow (class, xid, key);
CREATE INDEX shadow_boot ON crealm.shadow (class, boot);

-- The caller: the subject of the token of an HTTPS gateway, or the role of the connection. NULL for a gateway without a
-- token, which changes the role of its connection: then nothing that belongs to a person is visible.
CREATE FUNCTION crealm.me() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(nullif(pg_catalog.current_setting('request.jwt.claims', true), '')::pg_catalog.json
            OPERATOR(pg_catalog.->>) 'sub',
        CASE WHEN pg_catalog.current_setting('role') OPERATOR(pg_catalog.=) 'none' THEN session_user::pg_catalog.text END)
$$;

-- The time as devices count it: milliseconds in the upper 48 bits.
CREATE FUNCTION crealm.now() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::pg_catalog.int8 << 16
$$;

-- The latest time that the hub accepts: 60 seconds after its own.
CREATE FUNCTION crealm.latest() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000 + 60000)::pg_catalog.int8 << 16
$$;

-- The identity of the hub. A snapshot has a meaning only in the cluster, timeline and table where it was taken.
CREATE FUNCTION crealm.identity() RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
        substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), 'crealm.shadow'::regclass::oid,
        (SELECT incarnation FROM crealm.hub));
END
$$;

-- The properties that the tables have now. The join is written so that a column is found by its name.
CREATE VIEW crealm.present AS
    SELECT c.id AS class, c.name AS class_name, p.name, p.kind, p.target, a.atttypid, a.atttypmod, a.attnotnull,
        a.attgenerated <> '' OR a.attidentity = 'a' AS is_generated,
        -- Without a length: an explicit cast would shorten a text.
        format_type(a.atttypid, -1) AS type
    FROM crealm.class c
    JOIN crealm.property p ON p.class = c.id
    CROSS JOIN LATERAL (SELECT * FROM pg_catalog.pg_attribute t WHERE t.attrelid = c.relation AND t.attname = p.name
        AND NOT t.attisdropped AND t.attnum > 0 OFFSET 0) a;

-- A digest of hub and tables. Another one than that of `hello` means that they were altered, or that this is another
-- hub: then `push` and `pull` do nothing, and return {"stale":true}.
CREATE FUNCTION crealm.schema_digest() RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN md5(crealm.identity() || coalesce((
        SELECT string_agg(concat_ws(' ', p.class, length(p.name), p.name, p.atttypid, p.atttypmod, p.attnotnull), ','
            ORDER BY p.class, p.name COLLATE "C")
        FROM crealm.present p), ''));
END
$$;

-- Marks. Triggers of a table have three arguments: the class, the column of the primary key, the column of the owner or
-- ''. They mark all rows of a statement at once. The setting `crealm.change` has the clocks of rows that `push` writes:
-- the class, a colon, and a JSON array. It chooses clocks only: a row is marked with or without it.

-- What `crealm.change` says about a class.
CREATE FUNCTION crealm.given(class_id int) RETURNS TABLE (key text, at bigint, clock jsonb) LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    change text := current_setting('crealm.change', true);
BEGIN
    IF split_part(left(change, 12), ':', 1) = class_id::text THEN
        RETURN QUERY SELECT g.k, least(g.at, crealm.latest()), g.c
            FROM json_to_recordset(substr(change, strpos(change, ':') + 1)::json) AS g (k text, at bigint, c jsonb);
    END IF;
END
$$;

-- Raises an error: a table has lost the column of its primary key.
CREATE FUNCTION crealm.no_key(relation regclass, key_name text) RETURNS text LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- No fault of an object: nothing is refused for it.
    RAISE EXCEPTION 'crealm: column % of table %, the primary key, is not there any more',
        quote_ident(key_name), relation USING ERRCODE = '58000';
END
$$;

-- The clocks of properties that a SQL program has changed, but later than all that the hub has: a device may be fast.
CREATE FUNCTION crealm.later(clock jsonb, last bigint) RETURNS jsonb LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(jsonb_object_agg(e.key, last + 1), '{}') FROM jsonb_each(clock) e
$$;

-- Raises an error for a trigger of a table that is not that of the class: whoever may make triggers of a table of his
-- own must not write marks of others.
CREATE FUNCTION crealm.expect_table(class_id int, relation oid) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM crealm.class c WHERE c.id = class_id AND c.relation = expect_table.relation) THEN
        RAISE EXCEPTION 'crealm: % is not the table of this class', relation::regclass USING ERRCODE = '42501';
    END IF;
END
$$;

-- After INSERT, for each statement. Plans are made once for all numbers of rows, with joins that suit many.
CREATE FUNCTION crealm.mark_inserted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET bytea_output = 'hex' SET plan_cache_mode = 'force_generic_plan'
    SET enable_nestloop = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
    PERFORM crealm.expect_table(TG_ARGV[0]::int, TG_RELID);
    INSERT INTO crealm.shadow AS s (class, key, xid, boot, gone, at, clock, scope)
    SELECT TG_ARGV[0]::int, coalesce(n.key, crealm.no_key(TG_RELID, TG_ARGV[1])), pg_current_xact_id(), crealm.boot(),
        false, coalesce(g.at, n.time), coalesce(g.clock, jsonb_build_object('', n.time)),
        CASE WHEN TG_ARGV[2] <> '' THEN array_remove(ARRAY[n.line ->> TG_ARGV[2]], NULL) END
    FROM (SELECT to_jsonb(r.*) AS line, to_jsonb(r.*) ->> TG_ARGV[1] AS key, crealm.now() AS time FROM crealm_new r) n
    LEFT JOIN crealm.given(TG_ARGV[0]::int) g ON g.key = n.key
    ON CONFLICT (class, key) DO UPDATE SET xid = excluded.xid, boot = excluded.boot, gone = false,
        at = CASE WHEN excluded.at >= s.at THEN excluded.at ELSE s.at + 1 END,
        clock = CASE WHEN excluded.at >= s.at THEN excluded.clock ELSE crealm.later(excluded.clock, s.at) END,
        scope = excluded.scope;
    RETURN NULL;
END
$$;

-- After UPDATE, for each statement. Another primary key is another object: the old one is deleted.
CREATE FUNCTION crealm.mark_updated() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET bytea_output = 'hex' SET plan_cache_mode = 'force_generic_plan'
    SET enable_nestloop = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
    PERFORM crealm.expect_table(TG_ARGV[0]::int, TG_RELID);
    INSERT INTO crealm.shadow AS s (class, key, xid, boot, gone, at, clock, scope)
    SELECT TG_ARGV[0]::int, coalesce(f.key, crealm.no_key(TG_RELID, TG_ARGV[1])), pg_current_xact_id(), crealm.boot(),
        f.new IS NULL, f.at, f.clock,
        -- Who lost the row long ago was told then.
        CASE WHEN TG_ARGV[2] <> '' THEN array_remove(ARRAY[f.old ->> TG_ARGV[2], f.new ->> TG_ARGV[2]], NULL) END
    FROM (
        SELECT coalesce(n.key, o.key) AS key, n.line AS new, o.line AS old, coalesce(g.at, n.time, crealm.now()) AS at,
            CASE WHEN g.clock IS NOT NULL THEN g.clock
                WHEN n.line IS NULL THEN '{}'
                WHEN o.line IS NULL THEN jsonb_build_object('', n.time)
                ELSE (SELECT jsonb_object_agg(e.key, n.time) FROM jsonb_each(n.line) e
                    WHERE e.value IS DISTINCT FROM o.line -> e.key) END AS clock
        FROM (SELECT to_jsonb(r.*) AS line, to_jsonb(r.*) ->> TG_ARGV[1] AS key, crealm.now() AS time FROM crealm_new r
            OFFSET 0) n
        FULL JOIN (SELECT to_jsonb(r.*) AS line, to_jsonb(r.*) ->> TG_ARGV[1] AS key FROM crealm_old r OFFSET 0) o
            ON o.key = n.key
        LEFT JOIN crealm.given(TG_ARGV[0]::int) g ON g.key = n.key) f
    -- A row that an UPDATE leaves as it was is not marked.
    WHERE f.clock IS NOT NULL
    ON CONFLICT (class, key) DO UPDATE SET xid = excluded.xid, boot = excluded.boot, gone = excluded.gone,
        at = CASE WHEN excluded.at >= s.at THEN excluded.at ELSE s.at + 1 END,
        clock = CASE WHEN excluded.gone THEN '{}' WHEN excluded.at >= s.at THEN s.clock || excluded.clock
            ELSE s.clock || crealm.later(excluded.clock, s.at) END,
        scope = excluded.scope;
    RETURN NULL;
END
$$;

-- After DELETE, for each statement.
CREATE FUNCTION crealm.mark_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET bytea_output = 'hex' SET plan_cache_mode = 'force_generic_plan'
    SET enable_nestloop = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
    PERFORM crealm.expect_table(TG_ARGV[0]::int, TG_RELID);
    INSERT INTO crealm.shadow AS s (class, key, xid, boot, gone, at, clock, scope)
    SELECT TG_ARGV[0]::int, coalesce(o.key, crealm.no_key(TG_RELID, TG_ARGV[1])), pg_current_xact_id(), crealm.boot(),
        true, coalesce(g.at, crealm.now()), '{}',
        CASE WHEN TG_ARGV[2] <> '' THEN array_remove(ARRAY[o.line ->> TG_ARGV[2]], NULL) END
    FROM (SELECT to_jsonb(r.*) AS line, to_jsonb(r.*) ->> TG_ARGV[1] AS key FROM crealm_old r) o
    LEFT JOIN crealm.given(TG_ARGV[0]::int) g ON g.key = o.key
    ON CONFLICT (class, key) DO UPDATE SET xid = excluded.xid, boot = excluded.boot, gone = true,
        at = CASE WHEN excluded.at >= s.at THEN excluded.at ELSE s.at + 1 END, clock = '{}', scope = excluded.scope;
    RETURN NULL;
END
$$;

CREATE FUNCTION crealm.mark_truncate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM crealm.expect_table(TG_ARGV[0]::int, TG_RELID);
    UPDATE crealm.shadow SET gone = true, xid = pg_current_xact_id(), boot = crealm.boot(),
        at = greatest(at + 1, crealm.now()), clock = '{}'
    WHERE class = TG_ARGV[0]::int AND NOT gone;
    RETURN NULL;
END
$$;

-- Notes the deletion of an object that the hub has never had. Does nothing if it is known. The key is stored as the
-- table would have it: another text would be an error of each pull.
CREATE FUNCTION crealm.bury_unknown(class_id int, key_text text, deleted_at bigint) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET bytea_output = 'hex' AS $$
DECLARE
    key_type text;
BEGIN
    SELECT p.type INTO key_type FROM crealm.present p JOIN crealm.class c ON c.id = p.class AND c.key = p.name
        WHERE c.id = class_id;
    IF key_type IS NULL OR key_text IS NULL THEN
        RAISE EXCEPTION 'crealm: a deletion without class or key' USING ERRCODE = '22004';
    END IF;
    EXECUTE format('SELECT ($1::%s)::text', key_type) INTO key_text USING key_text;
    INSERT INTO crealm.shadow (class, key, xid, gone, at, scope)
    VALUES (class_id, key_text, pg_current_xact_id(), true, least(deleted_at, crealm.latest()), ARRAY[crealm.me()])
    ON CONFLICT (class, key) DO NOTHING;
END
$$;

-- Lets the next pull of every device return objects, though they did not change. Can do no harm.
CREATE FUNCTION crealm.touch(class_id int, keys text[]) RETURNS void LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    UPDATE crealm.shadow SET xid = pg_current_xact_id(), boot = crealm.boot() WHERE class = class_id AND key = ANY (keys)
$$;

-- What is known of objects: the caller may not read the shadow of objects that he does not see.
CREATE FUNCTION crealm.known(class_id int, keys text[])
    RETURNS TABLE (key text, gone boolean, at bigint, clock jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.key, s.gone, s.at, s.clock FROM crealm.shadow s WHERE s.class = class_id AND s.key = ANY (keys)
$$;

-- Registers a device, or finds it. Another person's device is an error.
CREATE FUNCTION crealm.enter(device uuid, OUT batch bigint, OUT chain text) LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found crealm.device;
BEGIN
    INSERT INTO crealm.device AS d (id, person) VALUES (device, crealm.me()) ON CONFLICT (id) DO NOTHING;
    SELECT * INTO found FROM crealm.device d WHERE d.id = device;
    IF found.person IS DISTINCT FROM crealm.me() THEN
        RAISE EXCEPTION 'crealm: the device belongs to another person' USING ERRCODE = '42501';
    END IF;
    UPDATE crealm.device d SET seen = now() WHERE d.id = device AND d.seen < now() - interval '1 minute';
    batch := found.batch;
    chain := found.chain;
END
$$;

-- Raises an error unless the device belongs to the caller: a file must not mix what two persons see.
CREATE FUNCTION crealm.expect_device(device uuid) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM crealm.device d WHERE d.id = device AND d.person = crealm.me()) THEN
        RAISE EXCEPTION 'crealm: the device is unknown, or belongs to another person' USING ERRCODE = '42501';
    END IF;
END
$$;

-- Takes a batch: 'new', 'have' (with the reply of the first time) or 'fork'.
CREATE FUNCTION crealm.take(device uuid, number bigint, before text, chain_after text, OUT answer text, OUT reply json)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found crealm.device;
BEGIN
    SELECT * INTO found FROM crealm.device d WHERE d.id = device AND d.person = crealm.me() FOR UPDATE;
    IF found.id IS NULL THEN
        RAISE EXCEPTION 'crealm: unknown device' USING ERRCODE = '42501';
    END IF;
    IF found.batch = number AND found.chain = chain_after THEN
        answer := 'have';
        reply := found.reply;
    ELSIF found.batch = number - 1 AND found.chain = before THEN
        UPDATE crealm.device d SET batch = number, chain = chain_after WHERE d.id = device;
        answer := 'new';
    ELSE
        answer := 'fork';
    END IF;
END
$$;

CREATE FUNCTION crealm.keep_reply(device_id uuid, answer json) RETURNS void LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    UPDATE crealm.device SET reply = answer WHERE id = device_id AND person = crealm.me()
$$;

CREATE FUNCTION crealm.hello(body json) RETURNS json LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    device record;
    other record;
BEGIN
    IF crealm.me() IS NULL THEN
        RAISE EXCEPTION 'crealm: no person' USING ERRCODE = '42501';
    END IF;
    FOR other IN SELECT c.name, p.kind, own.value ->> c.key AS wanted
            FROM json_each(CASE WHEN json_typeof(body -> 'classes') = 'object' THEN body -> 'classes' ELSE '{}' END) own
            JOIN crealm.class c ON c.name = own.key JOIN crealm.property p ON p.class = c.id AND p.name = c.key
            WHERE p.kind IS DISTINCT FROM own.value ->> c.key LOOP
        RAISE EXCEPTION 'crealm: the primary key of class % is another one here than in the file',
            quote_ident(other.name) USING ERRCODE = '42804', DETAIL = format('Here: %s. In the file: %s.', other.kind,
                coalesce(other.wanted, 'another property'));
    END LOOP;
    SELECT * INTO device FROM crealm.enter((body ->> 'device')::uuid);
    RETURN json_build_object('protocol', 1, 'hub', crealm.identity(), 'batch', device.batch, 'chain', device.chain,
        'schema', crealm.schema_digest(), 'now', crealm.now(),
        'classes', (SELECT coalesce(json_object_agg(c.class_name, c.names), '{}') FROM (
            SELECT p.class_name, json_agg(p.name) AS names FROM crealm.present p
            WHERE has_table_privilege((SELECT k.relation FROM crealm.class k WHERE k.id = p.class), 'SELECT')
            GROUP BY p.class_name) c));
END
$$;

-- The expression that gives the value of a column in a reply.
CREATE FUNCTION crealm.expression(name text, kind text) RETURNS text LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE kind
        WHEN 'date' THEN format('extract(epoch FROM crealm_row.%I)::text', name)
        WHEN 'decimal' THEN format('crealm_row.%I::text', name)
        -- JSON has no NaN, and readers lose the sign of -0.
        WHEN 'double' THEN format('crealm_row.%I::text', name)
        WHEN 'float' THEN format('crealm_row.%I::text', name)
        ELSE format('crealm_row.%I', name) END
$$;

-- The expression that makes a JSON array of these expressions. A function takes 100 arguments.
CREATE FUNCTION crealm.array_of(parts text[]) RETURNS text LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT '(' || string_agg(CASE WHEN n.start = 1 THEN 'left(' ELSE ''', '' || left(substr(' END
        || format('json_build_array(%s)::text', array_to_string(parts[n.start : n.start + 89], ', '))
        || CASE WHEN n.start = 1 THEN ', -1)' ELSE ', 2), -1)' END, ' || ' ORDER BY n.start) || ' || '']'')'
    FROM generate_series(1, cardinality(parts), 90) n (start)
$$;

-- The condition of a subset (see the page Sync) as SQL on `crealm_row`. Names and constants are quoted here.
CREATE FUNCTION crealm.subset(class_id int, condition json) RETURNS text LANGUAGE plpgsql STABLE STRICT
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sign text := condition ->> 0;
    prop record;
    -- A constant of the type of the property; a text is compared byte for byte.
    constant text;
    own text;
    made text;
BEGIN
    IF sign IN ('and', 'or', 'not') THEN
        SELECT string_agg(crealm.subset(class_id, e.value), ' ' || CASE sign WHEN 'or' THEN 'OR' ELSE 'AND' END || ' '
            ORDER BY e.ordinality)
        INTO made FROM json_array_elements(condition) WITH ORDINALITY e WHERE e.ordinality > 1;
        made := coalesce(made, (sign = 'and')::text);
        RETURN CASE sign WHEN 'not' THEN 'NOT ' ELSE '' END || '(' || made || ')';
    END IF;
    SELECT p.name, p.type, p.kind INTO prop FROM crealm.present p WHERE p.class = class_id AND p.name = condition ->> 1;
    IF prop.name IS NULL THEN
        RAISE EXCEPTION 'crealm: a subset names the property %, which the hub does not have',
            quote_ident(condition ->> 1) USING ERRCODE = '42703';
    END IF;
    own := format(CASE WHEN prop.kind = 'string' THEN 'crealm_row.%I COLLATE "C"' ELSE 'crealm_row.%I' END, prop.name);
    IF sign = 'in' THEN
        SELECT string_agg(crealm.subset(class_id, json_build_array('==', prop.name, e.value)), ' OR ') INTO made
            FROM json_array_elements(condition -> 2) e;
        RETURN '(' || coalesce(made, 'false') || ')';
    END IF;
    constant := CASE WHEN condition ->> 2 IS NULL THEN 'NULL' ELSE format('%L::%s', condition ->> 2, prop.type) END;
    made := CASE
        WHEN sign = '==' THEN format('(%s IS NOT DISTINCT FROM %s)', own, constant)
        WHEN sign = '!=' THEN format('(%s IS DISTINCT FROM %s)', own, constant)
        -- In Realm's order, null is before all texts; other comparisons with null do not hold.
        WHEN prop.kind = 'string' AND sign IN ('<', '<=') THEN format('coalesce(%s %s %s, true)', own, sign, constant)
        WHEN sign IN ('<', '>', '<=', '>=') THEN format('coalesce(%s %s %s, false)', own, sign, constant)
        WHEN prop.kind <> 'string' THEN NULL
        WHEN sign = 'BEGINSWITH' THEN format('coalesce(starts_with(%s, %s), false)', own, constant)
        WHEN sign = 'ENDSWITH' THEN format('coalesce(right(%1$s, length(%2$s)) = %2$s, false)', own, constant)
        WHEN sign = 'CONTAINS' THEN format('coalesce(strpos(%s, %s) > 0, false)', own, constant)
        END;
    IF made IS NULL THEN
        RAISE EXCEPTION 'crealm: a subset has an operator that does not fit its property' USING ERRCODE = '42883';
    END IF;
    RETURN made;
END
$$;

-- The rows of one class for a reply: those that a condition on `s` names, at most `max`. subset: the condition of those
-- that the device wants; of others it gets the key only.
CREATE FUNCTION crealm.rows(class_name text, condition text, changed text, cursor_text text, keys text[],
    after_xid text, after_key text, max bigint, subset json, OUT names json, OUT list text, OUT count bigint, OUT last_xid text,
    OUT last_key text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET bytea_output = 'hex'
    SET extra_float_digits = 1 SET jit = off AS $$
DECLARE
    one crealm.class;
    columns text[];
    key_type text;
    last text;
BEGIN
    SELECT * INTO one FROM crealm.class c WHERE c.name = class_name;
    IF one.id IS NULL THEN
        RAISE EXCEPTION 'crealm: no class %', quote_ident(class_name) USING ERRCODE = '42P01';
    END IF;
    -- The key comes first, from the shadow: a deleted row has nothing else.
    SELECT json_agg(p.name ORDER BY p.name <> one.key, p.name COLLATE "C"),
        array_agg(CASE WHEN p.name = one.key THEN format('s.key::%s', p.type) ELSE crealm.expression(p.name, p.kind) END
            ORDER BY p.name <> one.key, p.name COLLATE "C"),
        max(CASE WHEN p.name = one.key THEN p.type END)
    INTO names, columns, key_type FROM crealm.present p WHERE p.class = one.id;
    IF key_type IS NULL THEN
        PERFORM crealm.no_key(one.relation, one.key);
    END IF;
    EXECUTE format($query$
        SELECT string_agg(f.line, ','), count(*), max(lpad(f.xid::text, 20, '0') || f.key COLLATE "C")
        FROM (
            SELECT s.xid, s.key, %4$s AS line
            FROM crealm.shadow s LEFT JOIN %5$s AS crealm_row ON NOT s.gone AND crealm_row.%1$I = s.key::%3$s %7$s
            WHERE s.class = $1 AND %6$s AND ($4 IS NULL OR (s.xid, s.key) > ($4::xid8, $5))
            ORDER BY s.xid, s.key LIMIT $6) f
        $query$, one.key, changed, key_type,
        crealm.array_of(ARRAY[format('CASE WHEN s.gone THEN ''true'' WHEN crealm_row.%I IS NULL THEN ''"out"'' '
            'ELSE ''false'' END::json', one.key), 's.at', '(' || changed || ')'] || columns),
        one.relation, condition, coalesce('AND ' || crealm.subset(one.id, subset), ''))
    INTO list, count, last
    USING one.id, nullif(split_part(cursor_text, '|', 2), '')::pg_snapshot, keys, after_xid, after_key, max,
        nullif(split_part(cursor_text, '|', 1), '')::bigint;
    last_xid := ltrim(left(last, 20), '0');
    last_key := substr(last, 21);
END
$$;

CREATE FUNCTION crealm.pull(body json) RETURNS json LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cursor_text text := body ->> 'cursor';
    newer text := CASE WHEN body ->> 'cursor' = '' THEN 'true' ELSE
        '(s.boot > $7 OR (s.xid >= pg_snapshot_xmin($2) AND NOT pg_visible_in_snapshot(s.xid, $2)))' END;
    booted bigint := nullif(split_part(body ->> 'cursor', '|', 1), '')::bigint;
    snapshot pg_snapshot := nullif(split_part(body ->> 'cursor', '|', 2), '')::pg_snapshot;
    rest bigint := least(greatest((body ->> 'limit')::bigint, 1), 100000);
    after json := body -> 'after';
    compare json := body -> 'compare';
    wanted json := body -> 'where';
    empty jsonb := coalesce(body -> 'empty', '[]')::jsonb;
    one record;
    found record;
    parts text := '';
    is_compared boolean;
BEGIN
    IF body ->> 'schema' IS DISTINCT FROM crealm.schema_digest() THEN
        RETURN '{"stale":true}';
    END IF;
    PERFORM crealm.expect_device((body ->> 'device')::uuid);
    FOR one IN SELECT w.value AS name, c.id, c.key FROM json_array_elements_text(body -> 'classes') WITH ORDINALITY w
            LEFT JOIN crealm.class c ON c.name = w.value ORDER BY w.ordinality LOOP
        CONTINUE WHEN after IS NOT NULL AND one.name < after ->> 'class' COLLATE "C";
        is_compared := compare::text <> '[]'
            AND EXISTS (SELECT FROM json_array_elements_text(compare) c WHERE c = one.name);
        -- Usually nothing is new.
        CONTINUE WHEN snapshot IS NOT NULL AND NOT is_compared AND one.id IS NOT NULL
            AND NOT EXISTS (SELECT FROM crealm.shadow s WHERE s.class = one.id AND s.xid >= pg_snapshot_xmin(snapshot)
                AND NOT pg_visible_in_snapshot(s.xid, snapshot))
            AND NOT EXISTS (SELECT FROM crealm.shadow s WHERE s.class = one.id AND s.boot > booted);
        SELECT * INTO found FROM crealm.rows(one.name, CASE WHEN is_compared THEN 'true' ELSE newer END
                -- Nothing can leave a class without objects.
                || CASE WHEN empty ? one.name THEN format(' AND NOT s.gone AND crealm_row.%I IS NOT NULL', one.key) ELSE '' END,
            CASE WHEN is_compared THEN newer ELSE 'true' END, cursor_text, NULL,
            CASE WHEN one.name = after ->> 'class' THEN after ->> 'xid' END, after ->> 'key',
            CASE WHEN is_compared THEN NULL ELSE rest END, wanted -> one.name);
        IF found.count > 0 THEN
            parts := parts || format(',%s:{"props":%s,"rows":[%s]}', to_json(one.name), found.names, found.list);
        END IF;
        IF NOT is_compared AND found.count = rest THEN
            RETURN format('{"next":%s,"rows":{%s},"after":%s}',
                to_json(crealm.boot() || '|' || pg_current_snapshot()), substr(parts, 2),
                json_build_object('class', one.name, 'xid', found.last_xid, 'key', found.last_key));
        END IF;
        IF NOT is_compared THEN
            rest := rest - found.count;
        END IF;
    END LOOP;
    RETURN format('{"next":%s,"rows":{%s},"after":null}', to_json(crealm.boot() || '|' || pg_current_snapshot()),
        substr(parts, 2));
END
$$;

-- Gives the triggers the clocks of the rows that are written next; NULL: of none.
CREATE FUNCTION crealm.writing(class_id int, changes json) RETURNS void LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('crealm.change', coalesce(class_id || ':' || changes::text, ''), true);
END
$$;

-- The search path for triggers of other people on the tables that are written: they name tables of their schema alone,
-- as they do when a SQL program writes. With NULL: of all classes.
CREATE FUNCTION crealm.writing_path(table_written regclass) RETURNS text LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'pg_catalog, ' || coalesce(string_agg(DISTINCT quote_ident(n.nspname), ', ') || ', ', '') || 'pg_temp'
    FROM crealm.class c JOIN pg_class r ON r.oid = c.relation JOIN pg_namespace n ON n.oid = r.relnamespace
    WHERE table_written IS NULL OR c.relation = table_written
$$;

-- The expression that makes a value of a column out of the member of a change that has it.
-- pair: the expression of the member, a JSON array. place: where the value is in it.
CREATE FUNCTION crealm.value_of(pair text, place int, type text) RETURNS text LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN type IN ('jsonb', 'json') THEN format('nullif((%s -> %s)::text, ''null'')::%s', pair, place, type)
        WHEN right(type, 2) = '[]' THEN format(
            'ARRAY(SELECT crealm_e.value::%s FROM json_array_elements_text(%s -> %s) crealm_e)', left(type, -2), pair,
            place)
        ELSE format('(%s ->> %s)::%s', pair, place, type) END
$$;

-- Applies the changes of objects of one class, at once. Raises an error if one of them cannot be applied so; then
-- `apply_row` applies them one by one.
-- Returns the collections that must be merged first, and the objects that were deleted here (with "gone"): a JSON
-- array, or null.
CREATE FUNCTION crealm.apply_class(class_name text, items json[]) RETURNS json LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET bytea_output = 'hex'
    SET plan_cache_mode = 'force_custom_plan' SET jit = off AS $$
DECLARE
    one crealm.class;
    key_type text;
    keys text[];
    kinds text[];
    times bigint[];
    there text[];
    part record;
    deletions json[];
    renewed text[];
    merges json;
    top bigint := crealm.latest();
    written bigint;
BEGIN
    SELECT * INTO one FROM crealm.class c WHERE c.name = class_name;
    SELECT p.type INTO key_type FROM crealm.present p WHERE p.class = one.id AND p.name = one.key;
    -- Each change is parsed once.
    SELECT array_agg(i.k), array_agg(i.t), array_agg(least(coalesce(i.b, i.clk), top)),
        array_agg(json_build_object('k', u.item -> 'k', 't', 'del', 'clk', i.d)) FILTER (WHERE i.d IS NOT NULL),
        array_agg(i.k) FILTER (WHERE i.d IS NOT NULL)
    INTO keys, kinds, times, deletions, renewed
    FROM unnest(items) u (item), json_to_record(u.item) i (k text, t text, clk bigint, b bigint, d bigint);
    IF key_type IS NULL OR cardinality(keys) <> (SELECT count(DISTINCT k) FROM unnest(keys) k) THEN
        RAISE EXCEPTION 'one by one' USING ERRCODE = '22000';
    END IF;
    IF deletions IS NOT NULL THEN
        -- Objects that were deleted and made again: first the old one goes, with all that it had.
        EXECUTE format('SELECT array_agg(crealm_row.%2$I::text) FROM %1$s AS crealm_row '
            'WHERE crealm_row.%2$I = ANY ($1::%3$s[])', one.relation, one.key, key_type) INTO renewed USING renewed;
        PERFORM crealm.apply_class(class_name, deletions);
    END IF;
    -- In one order, against deadlocks.
    EXECUTE format('SELECT array_agg(f.key) FROM (SELECT crealm_row.%2$I::text AS key FROM %1$s AS crealm_row '
        'WHERE crealm_row.%2$I = ANY ($1::%3$s[]) ORDER BY crealm_row.%2$I::text COLLATE "C" FOR UPDATE) f',
        one.relation, one.key, key_type) INTO there USING keys;

    SELECT array_agg(f.k) FILTER (WHERE f.does = 'delete') AS deleted,
        array_agg(f.clk) FILTER (WHERE f.does = 'delete') AS deleted_clk,
        array_agg(f.k) FILTER (WHERE f.does = 'bury') AS buried,
        array_agg(f.clk) FILTER (WHERE f.does = 'bury') AS buried_clk,
        array_agg(f.k) FILTER (WHERE f.does = 'touch') AS touched,
        json_agg(json_build_object('c', one.name, 'k', f.item -> 'k', 'gone', true))
            FILTER (WHERE f.does = 'touch' AND f.t <> 'del') AS overruled,
        array_agg(f.item) FILTER (WHERE f.does = 'insert') AS new,
        array_agg(f.at) FILTER (WHERE f.does = 'insert') AS new_at,
        array_agg(f.item) FILTER (WHERE f.does = 'update') AS changed,
        array_agg(f.at) FILTER (WHERE f.does = 'update') AS changed_at,
        array_agg(f.clock) FILTER (WHERE f.does = 'update') AS changed_clock,
        count(*) FILTER (WHERE f.does IS NULL) AS wrong
    INTO part
    FROM (
        SELECT i.item, i.k, i.t, i.clk, coalesce(s.at, 0) AS at, coalesce(s.clock, '{}') AS clock, CASE
            WHEN i.t NOT IN ('new', 'set', 'del') THEN NULL
            WHEN t.key IS NULL AND NOT s.gone THEN NULL
            -- An object that was made later than the deletion stays.
            WHEN i.t = 'del' THEN CASE WHEN t.key IS NULL THEN 'bury'
                WHEN (s.clock ->> '')::bigint > i.clk THEN 'touch' ELSE 'delete' END
            WHEN t.key IS NOT NULL THEN 'update'
            WHEN i.t = 'new' AND (s.gone IS NULL OR i.clk > s.at OR i.k = ANY (renewed)) THEN 'insert'
            WHEN s.gone THEN 'touch' END AS does
        FROM unnest(items, keys, kinds, times) i (item, k, t, clk)
        LEFT JOIN unnest(there) t (key) ON t.key = i.k
        LEFT JOIN crealm.known(one.id, keys) s ON s.key = i.k) f;
    IF part.wrong > 0 THEN
        RAISE EXCEPTION 'one by one' USING ERRCODE = '22000';
    END IF;

    IF part.deleted IS NOT NULL THEN
        PERFORM crealm.writing(one.id, (SELECT json_agg(json_build_object('k', d.k, 'at', d.clk))
            FROM unnest(part.deleted, part.deleted_clk) d (k, clk)));
        PERFORM set_config('search_path', crealm.writing_path(one.relation), true);
        EXECUTE format('DELETE FROM %s AS crealm_row WHERE crealm_row.%I = ANY ($1::%s[])', one.relation, one.key,
            key_type) USING part.deleted;
        GET DIAGNOSTICS written = ROW_COUNT;
        PERFORM crealm.writing(NULL, NULL);
        IF written < cardinality(part.deleted) THEN
            RAISE EXCEPTION 'one by one' USING ERRCODE = '42501';
        END IF;
    END IF;
    IF part.buried IS NOT NULL THEN
        PERFORM crealm.bury_unknown(one.id, b.k, b.clk) FROM unnest(part.buried, part.buried_clk) b (k, clk);
    END IF;
    IF part.touched IS NOT NULL THEN
        PERFORM crealm.touch(one.id, part.touched);
    END IF;
    IF part.new IS NOT NULL THEN
        PERFORM crealm.insert_rows(one, key_type, part.new, part.new_at, top);
    END IF;
    IF part.changed IS NOT NULL THEN
        merges := crealm.update_rows(one, key_type, part.changed, part.changed_at, part.changed_clock, top);
    END IF;
    RETURN (SELECT json_agg(e.value) FROM (
        SELECT * FROM json_array_elements(merges) UNION ALL SELECT * FROM json_array_elements(part.overruled)) e);
END
$$;

-- The members of changes, for `insert_rows` and `update_rows`: for each property that some change has, its part ("v":
-- a value, "a": a sum, "m": a collection) and the type of its column; NULL for one that the hub lacks.
CREATE FUNCTION crealm.members(class_id int, key_name text, items json[])
    RETURNS TABLE (part text, name text, type text, is_generated boolean) LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT f.part, f.name, p.type, p.is_generated FROM (
            SELECT DISTINCT m.part, e.name FROM unnest(items) i, json_to_record(i) r (v json, a json, m json),
                LATERAL (VALUES ('v', r.v), ('a', r.a), ('m', r.m)) m (part, members),
                LATERAL json_object_keys(m.members) e (name)) f
        LEFT JOIN crealm.present p ON p.class = class_id AND p.name = f.name AND p.name <> key_name
        ORDER BY f.part, f.name COLLATE "C";
END
$$;

-- The FROM clause that has the changes $1, what is known of their objects ($2: times, $3: clocks), and their members
-- as columns of `crealm_v`, `crealm_a` and `crealm_m`.
CREATE FUNCTION crealm.changes_of(parts text[], names text[]) RETURNS text LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'unnest($1::json[], $2::bigint[], $3::jsonb[]) crealm_u (item, at, clock), '
        'json_to_record(crealm_u.item) crealm_i (k text, clk bigint, b bigint, v json, a json, m json)'
        || coalesce(string_agg(f.source, '' ORDER BY f.part), '')
    FROM (
        SELECT n.part, format(', json_to_record(coalesce(crealm_i.%1$s, ''{}'')) crealm_%1$s (%2$s)', n.part,
            string_agg(format('%I json', n.name), ', ')) AS source
        FROM unnest(parts, names) n (part, name) GROUP BY n.part) f
$$;

-- Inserts the objects of changes, all of which have the same members.
CREATE FUNCTION crealm.insert_rows(one crealm.class, key_type text, items json[], times bigint[], top bigint)
    RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = 'force_custom_plan' SET jit = off AS $$
DECLARE
    member record;
    parts text[] := '{}';
    names text[] := '{}';
    columns text := format('%I', one.key);
    present text := 'true';
    differs text := 'false';
    new_values text := format('crealm_i.k::%s', key_type);
    sources text;
    changes json;
    complete boolean;
    written bigint;
BEGIN
    FOR member IN SELECT * FROM crealm.members(one.id, one.key, items) LOOP
        IF member.type IS NULL OR member.part = 'a' THEN
            RAISE EXCEPTION 'one by one' USING ERRCODE = '42703';
        END IF;
        -- The hub makes its value; the device gets it at its next pull.
        CONTINUE WHEN member.is_generated;
        parts := parts || member.part;
        names := names || member.name;
        columns := columns || format(', %I', member.name);
        present := present || format(' AND crealm_%s.%I IS NOT NULL', member.part, member.name);
        differs := differs || format(' OR (crealm_%s.%I ->> 0)::bigint <> coalesce(crealm_i.b, crealm_i.clk)',
            member.part, member.name);
        new_values := new_values || ', ' || crealm.value_of(format('crealm_%s.%I', member.part, member.name),
            CASE member.part WHEN 'v' THEN 1 ELSE 2 END, member.type);
    END LOOP;
    sources := crealm.changes_of(parts, names);
    -- The time when the object was made is that of all properties but those that were set at another time.
    EXECUTE format($query$
        SELECT bool_and(%2$s), json_agg(json_build_object('k', crealm_i.k,
            'at', greatest(least(crealm_i.clk, $4), crealm_u.at),
            'c', jsonb_build_object('', least(coalesce(crealm_i.b, crealm_i.clk), $4)) || CASE WHEN %3$s THEN (
                SELECT jsonb_object_agg(e.key, least((e.value ->> 0)::bigint, $4))
                FROM (SELECT * FROM json_each(crealm_i.v) UNION ALL SELECT * FROM json_each(crealm_i.m)) e
                WHERE (e.value ->> 0)::bigint <> coalesce(crealm_i.b, crealm_i.clk)) ELSE '{}' END))
        FROM %1$s $query$, sources, present, differs)
        INTO complete, changes USING items, times, NULL::jsonb[], top;
    IF NOT complete THEN
        RAISE EXCEPTION 'one by one' USING ERRCODE = '22000';
    END IF;
    PERFORM crealm.writing(one.id, changes);
    PERFORM set_config('search_path', crealm.writing_path(one.relation), true);
    EXECUTE format('INSERT INTO %s (%s) SELECT %s FROM %s ORDER BY crealm_i.k COLLATE "C"', one.relation, columns,
        new_values, sources) USING items, times, NULL::jsonb[];
    GET DIAGNOSTICS written = ROW_COUNT;
    PERFORM crealm.writing(NULL, NULL);
    IF written < cardinality(items) THEN
        RAISE EXCEPTION 'one by one' USING ERRCODE = '42501';
    END IF;
END
$$;

-- Changes objects that are there. times, clocks: what the hub knows of each of them.
-- Returns the collections that must be merged first: a JSON array, or null.
CREATE FUNCTION crealm.update_rows(one crealm.class, key_type text, items json[], times bigint[], clocks jsonb[],
    top bigint) RETURNS json LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC'
    SET bytea_output = 'hex' SET plan_cache_mode = 'force_custom_plan' SET jit = off AS $$
DECLARE
    member record;
    parts text[] := '{}';
    names text[] := '{}';
    condition text;
    sets text := '';
    wins text := 'false';
    loses text := 'false';
    clock text := '''{}''::jsonb';
    merge text := '''{}''::json[]';
    sources text;
    changes json;
    merges json;
    lost text[];
    expected bigint;
    written bigint;
BEGIN
    FOR member IN SELECT * FROM crealm.members(one.id, one.key, items) LOOP
        IF member.type IS NULL THEN
            RAISE EXCEPTION 'one by one' USING ERRCODE = '42703';
        END IF;
        parts := parts || member.part;
        names := names || member.name;
        IF member.part = 'a' THEN
            wins := wins || format(' OR crealm_a.%I IS NOT NULL', member.name);
            sets := sets || format(
                ', %1$I = CASE WHEN crealm_a.%1$I IS NULL THEN crealm_row.%1$I '
                'ELSE coalesce(crealm_row.%1$I, 0) + (crealm_a.%1$I ->> 1)::bigint END', member.name);
            CONTINUE;
        END IF;
        IF member.part = 'v' THEN
            -- The later clock wins, at equal clocks the later arrival.
            condition := format('least((crealm_v.%1$I ->> 0)::bigint, $4) >= '
                'coalesce((crealm_u.clock ->> %1$L)::bigint, (crealm_u.clock ->> '''')::bigint, 0)', member.name);
            loses := loses || format(' OR (crealm_v.%I IS NOT NULL AND NOT %s)', member.name, condition);
        ELSE
            -- Taken if the hub has the elements that the device had before.
            condition := format('coalesce(to_jsonb(crealm_row.%1$I), ''null'') IN '
                '((crealm_m.%1$I -> 1)::jsonb, (crealm_m.%1$I -> 2)::jsonb)', member.name);
            merge := merge || format(' || CASE WHEN crealm_m.%1$I IS NOT NULL AND NOT %2$s THEN ARRAY[json_build_object('
                '''c'', %3$L, ''k'', crealm_u.item -> ''k'', ''p'', %1$L, ''hub'', to_json(crealm_row.%4$I))] END',
                member.name, condition, one.name, member.name);
        END IF;
        condition := format('(crealm_%s.%I IS NOT NULL AND %s)', member.part, member.name, condition);
        wins := wins || ' OR ' || condition;
        clock := clock || format(' || CASE WHEN %s THEN jsonb_build_object(%L, least((crealm_%s.%I ->> 0)::bigint, $4)) '
            'ELSE ''{}'' END', condition, member.name, member.part, member.name);
        sets := sets || format(', %1$I = CASE WHEN %2$s THEN %3$s ELSE crealm_row.%1$I END', member.name, condition,
            crealm.value_of(format('crealm_%s.%I', member.part, member.name),
                CASE member.part WHEN 'v' THEN 1 ELSE 2 END, member.type));
    END LOOP;
    IF sets = '' THEN
        RETURN NULL;
    END IF;
    sources := crealm.changes_of(parts, names);
    EXECUTE format($query$
        SELECT json_agg(json_build_object('k', f.k, 'at', f.at, 'c', f.clock)) FILTER (WHERE f.wins),
            count(*) FILTER (WHERE f.wins), array_agg(f.k) FILTER (WHERE f.loses),
            json_agg(f.merges) FILTER (WHERE cardinality(f.merges) > 0)
        FROM (
            SELECT crealm_i.k, greatest(least(crealm_i.clk, $4), crealm_u.at) AS at, %3$s AS clock, (%4$s) AS wins,
                (%5$s) AS loses, %6$s AS merges
            FROM %1$s, %2$s AS crealm_row WHERE crealm_row.%7$I = crealm_i.k::%8$s) f
        $query$, sources, one.relation, clock, wins, loses, merge, one.key, key_type)
        INTO changes, expected, lost, merges USING items, times, clocks, top;
    IF lost IS NOT NULL THEN
        -- The device gets the values that won.
        PERFORM crealm.touch(one.id, lost);
    END IF;
    IF expected > 0 THEN
        PERFORM crealm.writing(one.id, changes);
        PERFORM set_config('search_path', crealm.writing_path(one.relation), true);
        EXECUTE format('UPDATE %2$s AS crealm_row SET %3$s FROM %1$s WHERE crealm_row.%5$I = crealm_i.k::%6$s AND (%4$s)',
            sources, one.relation, substr(sets, 3), wins, one.key, key_type) USING items, times, clocks, top;
        GET DIAGNOSTICS written = ROW_COUNT;
        PERFORM crealm.writing(NULL, NULL);
        IF written < expected THEN
            RAISE EXCEPTION 'one by one' USING ERRCODE = '42501';
        END IF;
    END IF;
    -- One array out of one for each object.
    RETURN (SELECT json_agg(m.value) FROM json_array_elements(merges) o, json_array_elements(o.value) m);
END
$$;

-- Applies the changes of one object. Returns what `apply_class` returns.
CREATE FUNCTION crealm.apply_row(item json) RETURNS json LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET bytea_output = 'hex' AS $$
DECLARE
    one crealm.class;
    key_text text := item ->> 'k';
    kind text := item ->> 't';
    top bigint := crealm.latest();
    at bigint := least((item ->> 'clk')::bigint, crealm.latest());
    born bigint := least(coalesce((item ->> 'b')::bigint, (item ->> 'clk')::bigint), crealm.latest());
    key_type text;
    is_there boolean;
    shadow record;
    part record;
    present jsonb;
    hub json;
    new_values jsonb := '{}';
    clocks jsonb := '{}';
    sets text[] := '{}';
    merges json[] := '{}';
    has_lost boolean := false;
    was_renewed boolean := false;
    unknown text;
    written bigint;
BEGIN
    SELECT * INTO one FROM crealm.class c WHERE c.name = item ->> 'c';
    IF one.id IS NULL THEN
        RAISE EXCEPTION 'no class %', quote_ident(item ->> 'c') USING ERRCODE = '42P01';
    END IF;
    IF kind = 'bad' THEN
        RAISE EXCEPTION '%', item ->> 'reason' USING ERRCODE = '22000';
    END IF;
    SELECT p.type INTO key_type FROM crealm.present p WHERE p.class = one.id AND p.name = one.key;
    IF key_type IS NULL THEN
        PERFORM crealm.no_key(one.relation, one.key);
    END IF;
    EXECUTE format('SELECT true FROM %s AS crealm_row WHERE crealm_row.%I = $1::%s FOR UPDATE', one.relation, one.key,
        key_type) INTO is_there USING key_text;
    IF is_there AND kind = 'new' AND item ->> 'd' IS NOT NULL THEN
        PERFORM crealm.apply_row(json_build_object('c', one.name, 'k', item -> 'k', 't', 'del', 'clk', item -> 'd'));
        EXECUTE format('SELECT true FROM %s AS crealm_row WHERE crealm_row.%I = $1::%s', one.relation, one.key,
            key_type) INTO is_there USING key_text;
        was_renewed := is_there IS NULL;
    END IF;
    SELECT * INTO shadow FROM crealm.known(one.id, ARRAY[key_text]);
    IF is_there IS NULL AND NOT shadow.gone THEN
        RAISE EXCEPTION 'the object is not visible' USING ERRCODE = '42501';
    END IF;

    IF kind = 'del' THEN
        IF is_there AND (shadow.clock ->> '')::bigint > at THEN
            -- It was made later than the deletion.
            PERFORM crealm.touch(one.id, ARRAY[key_text]);
        ELSIF is_there THEN
            PERFORM crealm.writing(one.id, json_build_array(json_build_object('k', key_text, 'at',
                greatest(at, shadow.at))));
            PERFORM set_config('search_path', crealm.writing_path(one.relation), true);
            EXECUTE format('DELETE FROM %s AS crealm_row WHERE crealm_row.%I = $1::%s', one.relation, one.key, key_type)
                USING key_text;
            GET DIAGNOSTICS written = ROW_COUNT;
            PERFORM crealm.writing(NULL, NULL);
            IF written = 0 THEN
                RAISE EXCEPTION 'the object may not be deleted' USING ERRCODE = '42501';
            END IF;
        ELSE
            PERFORM crealm.bury_unknown(one.id, key_text, at);
        END IF;
        RETURN NULL;
    END IF;

    IF is_there IS NULL AND NOT was_renewed AND (kind <> 'new' OR shadow.gone AND born <= shadow.at) THEN
        -- Deleted on the hub, or never there: the next pull says so.
        IF shadow.gone IS NULL THEN
            RAISE EXCEPTION 'the object does not exist' USING ERRCODE = '02000';
        END IF;
        PERFORM crealm.touch(one.id, ARRAY[key_text]);
        RETURN json_build_array(json_build_object('c', one.name, 'k', item -> 'k', 'gone', true));
    END IF;

    SELECT string_agg(quote_ident(e.name), ', ') INTO unknown FROM (
        SELECT json_object_keys(item -> 'v') UNION ALL SELECT json_object_keys(item -> 'a')
        UNION ALL SELECT json_object_keys(item -> 'm')) e (name)
    WHERE NOT EXISTS (SELECT FROM crealm.present p WHERE p.class = one.id AND p.name = e.name);
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'the hub has no property %', unknown USING ERRCODE = '42703';
    END IF;

    -- Single values: the later clock wins, at equal clocks the later arrival.
    FOR part IN SELECT e.key AS name, least((e.value ->> 0)::bigint, top) AS clk, e.value -> 1 AS value
        FROM json_each(item -> 'v') e JOIN crealm.present p ON p.class = one.id AND p.name = e.key LOOP
        IF is_there AND part.clk < coalesce((shadow.clock ->> part.name)::bigint, (shadow.clock ->> '')::bigint, 0) THEN
            has_lost := true;
        ELSE
            new_values := new_values || jsonb_build_object(part.name, 0);
            clocks := clocks || jsonb_build_object(part.name, part.clk);
            sets := sets || format('%1$I = crealm_new.%1$I', part.name);
        END IF;
    END LOOP;
    -- Sums.
    FOR part IN SELECT e.key AS name, (e.value ->> 1)::bigint AS delta
        FROM json_each(item -> 'a') e JOIN crealm.present p ON p.class = one.id AND p.name = e.key LOOP
        sets := sets || format('%1$I = coalesce(crealm_row.%1$I, 0) + %2$s', part.name, part.delta);
    END LOOP;
    -- Collections: taken if the hub has the elements that the device had before.
    FOR part IN SELECT e.key AS name, p.kind, least((e.value ->> 0)::bigint, top) AS clk, e.value -> 1 AS before,
            e.value -> 2 AS value
        FROM json_each(item -> 'm') e JOIN crealm.present p ON p.class = one.id AND p.name = e.key LOOP
        IF is_there THEN
            EXECUTE format('SELECT to_jsonb(crealm_row.%1$I), to_json(crealm_row.%1$I) FROM %2$s AS crealm_row '
                'WHERE crealm_row.%3$I = $1::%4$s', part.name, one.relation, one.key, key_type)
                INTO present, hub USING key_text;
            IF coalesce(present, 'null') <> part.before::jsonb AND coalesce(present, 'null') <> part.value::jsonb THEN
                merges := merges || json_build_object('c', one.name, 'k', item -> 'k', 'p', part.name, 'hub', hub);
                CONTINUE;
            END IF;
        END IF;
        clocks := clocks || jsonb_build_object(part.name, part.clk);
        sets := sets || format('%1$I = crealm_new.%1$I', part.name);
    END LOOP;

    IF is_there AND cardinality(sets) = 0 THEN
        IF has_lost THEN
            PERFORM crealm.touch(one.id, ARRAY[key_text]);
        END IF;
        RETURN CASE WHEN cardinality(merges) = 0 THEN NULL ELSE array_to_json(merges) END;
    END IF;
    IF is_there IS NULL THEN
        clocks := jsonb_build_object('', born) || clocks;
    END IF;
    PERFORM crealm.writing(one.id, json_build_array(json_build_object('k', key_text, 'at', greatest(at, shadow.at),
        'c', clocks)));
    PERFORM set_config('search_path', crealm.writing_path(one.relation), true);
    IF is_there THEN
        EXECUTE format('UPDATE %1$s AS crealm_row SET %2$s FROM json_populate_record(NULL::%1$s, $1) AS crealm_new '
            'WHERE crealm_row.%3$I = $2::%4$s', one.relation, array_to_string(sets, ', '), one.key, key_type)
            USING crealm.record_of(item, one.id), key_text;
    ELSE
        EXECUTE format('INSERT INTO %1$s (%2$s) SELECT %3$s FROM json_populate_record(NULL::%1$s, $1) AS crealm_new',
            one.relation, crealm.columns_of(item, one.id, '%I', one.key),
            crealm.columns_of(item, one.id, 'crealm_new.%I', one.key))
            USING crealm.record_of(item, one.id);
    END IF;
    GET DIAGNOSTICS written = ROW_COUNT;
    PERFORM crealm.writing(NULL, NULL);
    IF written = 0 THEN
        RAISE EXCEPTION 'the object may not be changed' USING ERRCODE = '42501';
    END IF;
    IF has_lost THEN
        PERFORM crealm.touch(one.id, ARRAY[key_text]);
    END IF;
    RETURN CASE WHEN cardinality(merges) = 0 THEN NULL ELSE array_to_json(merges) END;
END
$$;

-- The values of a change as one JSON object, with its key. Texts are kept as they are written: `jsonb` would change
-- numbers.
CREATE FUNCTION crealm.record_of(item json, class_id int) RETURNS json LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT json_object_agg(f.name, f.value) FROM (
        SELECT c.key AS name, item -> 'k' AS value FROM crealm.class c WHERE c.id = class_id
        UNION ALL SELECT e.key, e.value -> 1 FROM json_each(item -> 'v') e
        UNION ALL SELECT e.key, e.value -> 2 FROM json_each(item -> 'm') e) f
$$;

-- The columns of a new object.
CREATE FUNCTION crealm.columns_of(item json, class_id int, form text, key_name text) RETURNS text LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(format(form, f.name), ', ' ORDER BY f.name) FROM (
        SELECT key_name AS name
        UNION SELECT e.key FROM json_each(item -> 'v') e
        UNION SELECT e.key FROM json_each(item -> 'm') e) f
    JOIN crealm.present p ON p.class = class_id AND p.name = f.name AND NOT p.is_generated
$$;

-- A link to an object that is not there becomes null, because the device cannot know that the target was deleted.
CREATE FUNCTION crealm.mend_links(class_name text, items json[]) RETURNS void LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = 'force_custom_plan' SET jit = off AS $$
DECLARE
    link record;
    one crealm.class;
    key_type text;
    keys text[];
BEGIN
    SELECT * INTO one FROM crealm.class c WHERE c.name = class_name;
    FOR link IN SELECT p.name, t.relation, t.key FROM crealm.present p JOIN crealm.class t ON t.name = p.target
            WHERE p.class = one.id AND p.kind = 'link' LOOP
        SELECT array_agg(i ->> 'k') INTO keys FROM unnest(items) i
            WHERE i ->> 't' <> 'del' AND i -> 'v' -> link.name ->> 1 IS NOT NULL;
        CONTINUE WHEN keys IS NULL;
        SELECT p.type INTO key_type FROM crealm.present p WHERE p.class = one.id AND p.name = one.key;
        PERFORM set_config('search_path', crealm.writing_path(one.relation), true);
        EXECUTE format('UPDATE %1$s AS crealm_row SET %2$I = NULL WHERE crealm_row.%3$I = ANY ($1::%4$s[]) AND '
            'crealm_row.%2$I IS NOT NULL AND NOT EXISTS (SELECT FROM %5$s AS crealm_target '
            'WHERE crealm_target.%6$I = crealm_row.%2$I)', one.relation, link.name, one.key, key_type, link.relation,
            link.key) USING keys;
    END LOOP;
END
$$;

CREATE FUNCTION crealm.push(body json) RETURNS json LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    batch record;
    taken record;
    item record;
    merged json;
    merges text := '';
    overruled text := '';
    refused_rows json[] := '{}';
    refusals text := '';
    rows text := '';
    reply json;
    state text;
    message text;
BEGIN
    SELECT b.schema, b."where" AS wanted, r.* INTO batch FROM json_to_record(body) b (schema text, batch json, "where" json),
        json_to_record(b.batch) r (device uuid, number bigint, before text, chain text, rows json);
    IF batch.schema IS DISTINCT FROM crealm.schema_digest() THEN
        RETURN '{"stale":true}';
    END IF;
    SELECT * INTO taken FROM crealm.take(batch.device, batch.number, batch.before, batch.chain);
    IF taken.answer = 'fork' THEN
        RETURN '{"fork":true}';
    END IF;
    IF taken.answer = 'have' THEN
        RETURN taken.reply;
    END IF;
    BEGIN
        -- In one order on all devices, against deadlocks.
        FOR item IN SELECT f.name, array_agg(f.value) AS items
            FROM (SELECT e.value ->> 'c' AS name, e.value FROM json_array_elements(batch.rows) e) f
            GROUP BY f.name ORDER BY f.name COLLATE "C" LOOP
            merged := crealm.apply_class(item.name, item.items);
            IF merged IS NOT NULL THEN
                SELECT merges || coalesce(string_agg(',' || m.value::text, '')
                        FILTER (WHERE m.value -> 'gone' IS NULL), ''),
                    overruled || coalesce(string_agg(',' || m.value::text, '')
                        FILTER (WHERE m.value -> 'gone' IS NOT NULL), '')
                INTO merges, overruled FROM json_array_elements(merged) m;
            END IF;
        END LOOP;
        FOR item IN SELECT f.name, array_agg(f.value) AS items
            FROM (SELECT e.value ->> 'c' AS name, e.value FROM json_array_elements(batch.rows) e
                WHERE EXISTS (SELECT FROM crealm.property WHERE kind = 'link')) f
            GROUP BY f.name ORDER BY f.name COLLATE "C" LOOP
            PERFORM crealm.mend_links(item.name, item.items);
        END LOOP;
        PERFORM set_config('search_path', crealm.writing_path(NULL), true);
        SET CONSTRAINTS ALL IMMEDIATE;
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE;
        -- These are no fault of an object.
        IF substr(state, 1, 2) IN ('08', '40', '53', '55', '57', '58', 'XX') THEN
            RAISE;
        END IF;
        merges := '';
        overruled := '';
        FOR item IN SELECT e.value FROM json_array_elements(batch.rows) e
            ORDER BY e.value ->> 'c' COLLATE "C", e.value ->> 'k' COLLATE "C" LOOP
            BEGIN
                SET CONSTRAINTS ALL DEFERRED;
                merged := crealm.apply_row(item.value);
                PERFORM crealm.mend_links(item.value ->> 'c', ARRAY[item.value]);
                PERFORM set_config('search_path', crealm.writing_path(NULL), true);
                SET CONSTRAINTS ALL IMMEDIATE;
                IF merged IS NOT NULL THEN
                    SELECT merges || coalesce(string_agg(',' || m.value::text, '')
                            FILTER (WHERE m.value -> 'gone' IS NULL), ''),
                        overruled || coalesce(string_agg(',' || m.value::text, '')
                            FILTER (WHERE m.value -> 'gone' IS NOT NULL), '')
                    INTO merges, overruled FROM json_array_elements(merged) m;
                END IF;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
                IF substr(state, 1, 2) IN ('08', '40', '53', '55', '57', '58', 'XX') THEN
                    RAISE;
                END IF;
                refused_rows := refused_rows || item.value;
                refusals := refusals || ',' || json_build_object('c', item.value ->> 'c', 'k', item.value -> 'k',
                    'code', state, 'reason', message)::text;
            END;
        END LOOP;
    END;
    PERFORM crealm.writing(NULL, NULL);
    IF cardinality(refused_rows) > 0 THEN
        SELECT string_agg(format('%s:%s', to_json(c.name), crealm.rows_of(c.name, c.keys, batch.wanted -> c.name)), ',') INTO rows FROM (
            SELECT r ->> 'c' AS name, array_agg(r ->> 'k') AS keys FROM unnest(refused_rows) r GROUP BY r ->> 'c') c
        WHERE EXISTS (SELECT FROM crealm.class k WHERE k.name = c.name);
    END IF;
    reply := format('{"batch":%s,"merge":[%s],"overruled":[%s],"refused":[%s],"rows":{%s}}', batch.number,
        substr(merges, 2), substr(overruled, 2), substr(refusals, 2), rows);
    PERFORM crealm.keep_reply(batch.device, reply);
    RETURN reply;
END
$$;

-- The rows with these keys as the caller sees them; those that are not there count as deleted.
CREATE FUNCTION crealm.rows_of(class_name text, keys text[], subset json) RETURNS text LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp SET bytea_output = 'hex' AS $$
DECLARE
    found record;
    one crealm.class;
    key_type text;
    missing text;
    width int;
BEGIN
    SELECT * INTO one FROM crealm.class c WHERE c.name = class_name;
    SELECT max(CASE WHEN p.name = one.key THEN p.type END), count(*) INTO key_type, width FROM crealm.present p
        WHERE p.class = one.id;
    SELECT * INTO found FROM crealm.rows(class_name, 's.key = ANY ($3)', 'true', '', keys, NULL, NULL, NULL, subset);
    EXECUTE format('SELECT string_agg(''[true,0,true,'' || to_json(k::%s)::text || repeat('',null'', $2) || '']'', '
        ''','') '
        'FROM unnest($1) k WHERE NOT EXISTS (SELECT FROM crealm.shadow s WHERE s.class = $3 AND s.key = k)', key_type)
        INTO missing USING keys, width - 1, one.id;
    RETURN format('{"props":%s,"rows":[%s]}', found.names, concat_ws(',', found.list, missing));
END
$$;

-- Every object of a class that the caller sees, with its key and the digest of its values: for tools that compare.
CREATE FUNCTION crealm.listing(body json) RETURNS json LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found record;
BEGIN
    SELECT * INTO found FROM crealm.rows(body ->> 'class', 'NOT s.gone', 'true', '', NULL, NULL, NULL, NULL, NULL);
    RETURN format('{"props":%s,"rows":[%s]}', found.names, found.list);
END
$$;

ALTER TABLE crealm.shadow ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON crealm.shadow FOR SELECT USING (scope IS NULL OR (SELECT crealm.me()) = ANY (scope));

-- Triggers are made by the owner alone.
REVOKE EXECUTE ON FUNCTION crealm.mark_inserted(), crealm.mark_updated(), crealm.mark_deleted(), crealm.mark_truncate()
    FROM PUBLIC;
