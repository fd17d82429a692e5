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

-- When the server began to count transactions, in microseconds since 1970. A crash lets it use numbers again: those of
-- transactions that were rolled back shortly before. Statistics begin anew after a crash, also if the first process of
-- the server survived it.
CREATE FUNCTION crealm.boot() RETURNS bigint LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (extract(epoch FROM greatest(pg_postmaster_start_time(),
        (SELECT stats_reset FROM pg_stat_bgwriter))) * 1000000)::bigint
$$;

-- One row for each object that ever was: when it changed last, the clocks of its properties, whether it is deleted.
CREATE TABLE crealm.shadow (
    class int NOT NULL,
    key text NOT NULL,
    xid xid8 NOT NULL,
    -- The boot in which the number was given.
    boot bigint NOT NULL DEFAULT crealm.boot(),
    gone boolean NOT NULL,
    -- The largest clock.
    at bigint NOT NULL,
    clock jsonb NOT NULL DEFAULT '{}',
    -- The owner of the row, and the one before: both are told of a change.
    scope text[],
    PRIMARY KEY (class, key)
);
CREATE INDEX shadow_xid ON crealm.shadow (class, xid, key);
CREATE INDEX shadow_boot ON crealm.shadow (class, boot);

-- The caller: the subject of the token of an HTTPS gateway, or the role of the connection. NULL for a gateway without a
-- token, which changes the role of its connection: then nothing that belongs to a person is visible.
CREATE FUNCTION crealm.me() RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub',
        CASE WHEN current_setting('role') = 'none' THEN session_user::text END)
$$;

-- The time as devices count it: milliseconds in the upper 48 bits.
CREATE FUNCTION crealm.now() RETURNS bigint LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint << 16
$$;

-- The identity of the hub. A snapshot has a meaning only in the cluster, timeline and table where it was taken.
CREATE FUNCTION crealm.identity() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
        substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), 'crealm.shadow'::regclass::oid, incarnation)
    FROM crealm.hub
$$;

-- The properties that the tables have now.
CREATE VIEW crealm.present AS
    SELECT c.id AS class, c.name AS class_name, p.name, p.kind, p.target,
        format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull
    FROM crealm.class c
    JOIN crealm.property p ON p.class = c.id
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.relation AND a.attname = p.name AND NOT a.attisdropped
        AND a.attnum > 0;

-- A digest of hub and tables. Another one than that of `hello` means that they were altered, or that this is another
-- hub: then `push` and `pull` do nothing, and return {"stale":true}.
CREATE FUNCTION crealm.schema_digest() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT md5(crealm.identity()
        || coalesce(string_agg(concat_ws(' ', class, quote_ident(name), type, attnotnull), ',' ORDER BY class, name),
            ''))
    FROM crealm.present
$$;

-- Marks a changed row. Argument 0: the class; argument 1: the column of the primary key.
--
-- The setting `crealm.change` names the one row that `push` is about to write, with the clocks of its properties. It
-- chooses clocks only: a row is marked with or without it.
CREATE FUNCTION crealm.mark() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET bytea_output = 'hex' AS $$
DECLARE
    class_id int := TG_ARGV[0]::int;
    key_name text := TG_ARGV[1];
    new_row jsonb := CASE WHEN TG_OP = 'DELETE' THEN NULL ELSE to_jsonb(NEW) END;
    old_row jsonb := CASE WHEN TG_OP = 'INSERT' THEN NULL ELSE to_jsonb(OLD) END;
    given jsonb := nullif(current_setting('crealm.change', true), '')::jsonb;
    owner_name text;
    scopes text[];
    key_text text := coalesce(new_row, old_row) ->> key_name;
    time bigint;
    last bigint;
    clocks jsonb;
BEGIN
    IF key_text IS NULL THEN
        RAISE EXCEPTION 'crealm: column % of table % is not there any more: run "crealm sync init" again',
            quote_ident(key_name), TG_RELID::regclass;
    END IF;
    IF TG_OP = 'UPDATE' AND old_row ->> key_name IS DISTINCT FROM key_text THEN
        -- Another primary key is another object.
        PERFORM crealm.bury(class_id, old_row ->> key_name);
        old_row := NULL;
    END IF;
    SELECT s.at INTO last FROM crealm.shadow s WHERE s.class = class_id AND s.key = key_text;
    IF given ->> 'class' = class_id::text AND given ->> 'key' = key_text THEN
        time := (given ->> 'at')::bigint;
        clocks := given -> 'clocks';
    ELSE
        time := greatest(crealm.now(), last + 1);
        SELECT coalesce(jsonb_object_agg(e.key, time), '{}') INTO clocks FROM jsonb_each(new_row) e
            WHERE old_row IS NULL OR e.value IS DISTINCT FROM old_row -> e.key;
        IF TG_OP = 'UPDATE' AND clocks = '{}' THEN
            RETURN NULL;
        END IF;
    END IF;
    SELECT c.owner INTO owner_name FROM crealm.class c WHERE c.id = class_id;
    IF owner_name IS NOT NULL THEN
        scopes := array_remove(ARRAY[old_row ->> owner_name, new_row ->> owner_name], NULL);
    END IF;
    INSERT INTO crealm.shadow AS s (class, key, xid, gone, at, clock, scope)
    VALUES (class_id, key_text, pg_current_xact_id(), TG_OP = 'DELETE', time, coalesce(clocks, '{}'), scopes)
    ON CONFLICT (class, key) DO UPDATE SET xid = excluded.xid, boot = excluded.boot, gone = excluded.gone,
        at = greatest(s.at, excluded.at),
        clock = CASE WHEN excluded.gone THEN '{}' ELSE s.clock || excluded.clock END,
        -- Who lost the row long ago was told then.
        scope = excluded.scope;
    RETURN NULL;
END
$$;

CREATE FUNCTION crealm.mark_truncate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE crealm.shadow SET gone = true, xid = pg_current_xact_id(), boot = crealm.boot(),
        at = greatest(at + 1, crealm.now()), clock = '{}'
    WHERE class = TG_ARGV[0]::int AND NOT gone;
    RETURN NULL;
END
$$;

-- Notes that an object is deleted whose row is not there (any more).
CREATE FUNCTION crealm.bury(class_id int, key_text text) RETURNS void LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO crealm.shadow AS s (class, key, xid, gone, at)
    VALUES (class_id, key_text, pg_current_xact_id(), true, crealm.now())
    ON CONFLICT (class, key) DO UPDATE SET xid = excluded.xid, boot = excluded.boot, gone = true,
        at = greatest(s.at + 1, excluded.at),
        clock = '{}'
$$;
REVOKE EXECUTE ON FUNCTION crealm.bury FROM PUBLIC;

-- Notes the deletion of an object that the hub has never had. Does nothing if it is known.
CREATE FUNCTION crealm.bury_unknown(class_id int, key_text text) RETURNS void LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO crealm.shadow (class, key, xid, gone, at, scope)
    VALUES (class_id, key_text, pg_current_xact_id(), true, crealm.now(), ARRAY[crealm.me()])
    ON CONFLICT (class, key) DO NOTHING
$$;

-- Lets the next pull of every device return an object, though it did not change. Can do no harm.
CREATE FUNCTION crealm.touch(class_id int, key_text text) RETURNS void LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    UPDATE crealm.shadow SET xid = pg_current_xact_id(), boot = crealm.boot() WHERE class = class_id AND key = key_text
$$;

-- What is known of an object: the caller may not read the shadow of objects that he does not see.
CREATE FUNCTION crealm.known(class_id int, key_text text, OUT gone boolean, OUT at bigint, OUT clock jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.gone, s.at, s.clock FROM crealm.shadow s WHERE s.class = class_id AND s.key = key_text
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
BEGIN
    IF crealm.me() IS NULL THEN
        RAISE EXCEPTION 'crealm: no person' USING ERRCODE = '42501';
    END IF;
    SELECT * INTO device FROM crealm.enter((body ->> 'device')::uuid);
    RETURN json_build_object('protocol', 1, 'hub', crealm.identity(), 'batch', device.batch, 'chain', device.chain,
        'schema', crealm.schema_digest(), 'now', crealm.now(),
        'classes', (SELECT coalesce(json_object_agg(c.class_name, c.names), '{}') FROM (
            SELECT p.class_name, json_agg(p.name) AS names FROM crealm.present p
            WHERE has_table_privilege((SELECT k.relation FROM crealm.class k WHERE k.id = p.class), 'SELECT')
            GROUP BY p.class_name) c));
END
$$;

-- The expression that gives the text of a column in a reply.
CREATE FUNCTION crealm.expression(name text, kind text) RETURNS text LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('coalesce(to_json(%s)::text, ''null'')', CASE kind
        WHEN 'date' THEN format('extract(epoch FROM crealm_row.%I)::text', name)
        WHEN 'decimal' THEN format('crealm_row.%I::text', name)
        -- JSON has no NaN, and readers lose the sign of -0.
        WHEN 'double' THEN format('crealm_row.%I::text', name)
        WHEN 'float' THEN format('crealm_row.%I::text', name)
        ELSE format('crealm_row.%I', name) END)
$$;

-- The rows of one class for a reply: those that a condition on `s` names.
CREATE FUNCTION crealm.rows(class_name text, condition text, changed text, cursor_text text, keys text[],
    after_xid text, after_key text, max bigint, OUT names json, OUT list text, OUT count bigint, OUT last_xid text,
    OUT last_key text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET bytea_output = 'hex'
    SET extra_float_digits = 1 AS $$
DECLARE
    one crealm.class;
    columns text;
    key_type text;
BEGIN
    SELECT * INTO one FROM crealm.class c WHERE c.name = class_name;
    IF one.id IS NULL THEN
        RAISE EXCEPTION 'crealm: no class %', quote_ident(class_name) USING ERRCODE = '42P01';
    END IF;
    -- The key comes first, from the shadow: a deleted row has nothing else.
    SELECT json_agg(p.name ORDER BY p.name <> one.key, p.name),
        string_agg(CASE WHEN p.name = one.key THEN NULL ELSE crealm.expression(p.name, p.kind) END, ' || '','' || '
            ORDER BY p.name),
        max(CASE WHEN p.name = one.key THEN p.type END)
    INTO names, columns, key_type FROM crealm.present p WHERE p.class = one.id;
    EXECUTE format($query$
        SELECT string_agg(f.line, ',' ORDER BY f.xid, f.key), count(*),
            (array_agg(f.xid ORDER BY f.xid DESC, f.key DESC))[1]::text,
            (array_agg(f.key ORDER BY f.xid DESC, f.key DESC))[1]
        FROM (
            SELECT s.xid, s.key, '[' || CASE WHEN crealm_row.%1$I IS NULL THEN 'true' ELSE 'false' END || ','
                || s.at || ',' || (%2$s)::text || ',' || to_json(s.key::%3$s)::text || %4$s || ']' AS line
            FROM crealm.shadow s LEFT JOIN %5$s AS crealm_row ON NOT s.gone AND crealm_row.%1$I = s.key::%3$s
            WHERE s.class = $1 AND %6$s AND ($4 IS NULL OR (s.xid, s.key) > ($4::xid8, $5))
            ORDER BY s.xid, s.key LIMIT $6) f
        $query$, one.key, changed, key_type,
        CASE WHEN columns IS NULL THEN '''''' ELSE ''','' || ' || columns END, one.relation, condition)
    INTO list, count, last_xid, last_key
    USING one.id, nullif(split_part(cursor_text, '|', 2), '')::pg_snapshot, keys, after_xid, after_key, max,
        nullif(split_part(cursor_text, '|', 1), '')::bigint;
END
$$;

CREATE FUNCTION crealm.pull(body json) RETURNS json LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cursor_text text := body ->> 'cursor';
    newer text := CASE WHEN body ->> 'cursor' = '' THEN 'true' ELSE
        '(s.boot > $7 OR (s.xid >= pg_snapshot_xmin($2) AND NOT pg_visible_in_snapshot(s.xid, $2)))' END;
    rest bigint := least(greatest((body ->> 'limit')::bigint, 1), 100000);
    after json := body -> 'after';
    name text;
    found record;
    parts text := '';
    is_compared boolean;
BEGIN
    IF body ->> 'schema' IS DISTINCT FROM crealm.schema_digest() THEN
        RETURN '{"stale":true}';
    END IF;
    PERFORM crealm.expect_device((body ->> 'device')::uuid);
    FOR name IN SELECT value FROM json_array_elements_text(body -> 'classes') LOOP
        CONTINUE WHEN after IS NOT NULL AND name < after ->> 'class' COLLATE "C";
        is_compared := EXISTS (SELECT FROM json_array_elements_text(body -> 'compare') c WHERE c = name);
        SELECT * INTO found FROM crealm.rows(name, CASE WHEN is_compared THEN 'true' ELSE newer END,
            CASE WHEN is_compared THEN newer ELSE 'true' END, cursor_text, NULL,
            CASE WHEN name = after ->> 'class' THEN after ->> 'xid' END, after ->> 'key',
            CASE WHEN is_compared THEN NULL ELSE rest + 1 END);
        IF NOT is_compared AND found.count > rest THEN
            -- One row too many: this page ends before it.
            SELECT * INTO found FROM crealm.rows(name, newer, 'true', cursor_text, NULL,
                CASE WHEN name = after ->> 'class' THEN after ->> 'xid' END, after ->> 'key', rest);
            parts := parts || format(',%s:{"props":%s,"rows":[%s]}', to_json(name), found.names, found.list);
            RETURN format('{"next":%s,"rows":{%s},"after":%s}',
                to_json(crealm.boot() || '|' || pg_current_snapshot()), substr(parts, 2),
                json_build_object('class', name, 'xid', found.last_xid, 'key', found.last_key));
        END IF;
        IF NOT is_compared THEN
            rest := greatest(rest - found.count, 1);
        END IF;
        IF found.count > 0 THEN
            parts := parts || format(',%s:{"props":%s,"rows":[%s]}', to_json(name), found.names, found.list);
        END IF;
    END LOOP;
    RETURN format('{"next":%s,"rows":{%s},"after":null}', to_json(crealm.boot() || '|' || pg_current_snapshot()),
        substr(parts, 2));
END
$$;

-- Applies the changes of one object.
-- Returns the collections that must be merged first: a JSON array, or null.
CREATE FUNCTION crealm.apply_row(item json) RETURNS json LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET bytea_output = 'hex' AS $$
DECLARE
    one crealm.class;
    key_text text := item ->> 'k';
    kind text := item ->> 't';
    top bigint := crealm.now() + (60000::bigint << 16);
    at bigint := least((item ->> 'clk')::bigint, crealm.now() + (60000::bigint << 16));
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
    EXECUTE format('SELECT true FROM %s AS crealm_row WHERE crealm_row.%I = $1::%s FOR UPDATE', one.relation, one.key,
        key_type) INTO is_there USING key_text;
    SELECT * INTO shadow FROM crealm.known(one.id, key_text);
    IF is_there IS NULL AND NOT shadow.gone THEN
        RAISE EXCEPTION 'the object is not visible' USING ERRCODE = '42501';
    END IF;

    IF kind = 'del' THEN
        IF is_there THEN
            PERFORM set_config('crealm.change', json_build_object('class', one.id, 'key', key_text, 'at',
                greatest(at, shadow.at), 'clocks', '{}'::json)::text, true);
            EXECUTE format('DELETE FROM %s AS crealm_row WHERE crealm_row.%I = $1::%s', one.relation, one.key, key_type)
                USING key_text;
            GET DIAGNOSTICS written = ROW_COUNT;
            PERFORM set_config('crealm.change', '', true);
            IF written = 0 THEN
                RAISE EXCEPTION 'the object may not be deleted' USING ERRCODE = '42501';
            END IF;
        ELSE
            PERFORM crealm.bury_unknown(one.id, key_text);
        END IF;
        RETURN NULL;
    END IF;

    IF is_there IS NULL AND (shadow.gone IS NULL OR at <= shadow.at) AND (shadow.gone OR kind <> 'new') THEN
        -- Deleted on the hub, or never there: the next pull says so.
        IF shadow.gone IS NULL THEN
            RAISE EXCEPTION 'the object does not exist' USING ERRCODE = '02000';
        END IF;
        PERFORM crealm.touch(one.id, key_text);
        RETURN NULL;
    END IF;
    IF is_there IS NULL AND shadow.gone AND kind <> 'new' THEN
        PERFORM crealm.touch(one.id, key_text);
        RETURN NULL;
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
        IF is_there AND part.clk < coalesce((shadow.clock ->> part.name)::bigint, 0) THEN
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
            PERFORM crealm.touch(one.id, key_text);
        END IF;
        RETURN CASE WHEN cardinality(merges) = 0 THEN NULL ELSE array_to_json(merges) END;
    END IF;
    PERFORM set_config('crealm.change', json_build_object('class', one.id, 'key', key_text, 'at',
        greatest(at, shadow.at), 'clocks', clocks)::text, true);
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
    PERFORM set_config('crealm.change', '', true);
    IF written = 0 THEN
        RAISE EXCEPTION 'the object may not be changed' USING ERRCODE = '42501';
    END IF;
    IF has_lost THEN
        PERFORM crealm.touch(one.id, key_text);
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
    JOIN crealm.present p ON p.class = class_id AND p.name = f.name
$$;

-- A link to an object that is not there becomes null, because the device cannot know that the target was deleted.
CREATE FUNCTION crealm.mend_links(item json) RETURNS void LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    link record;
    one crealm.class;
    key_type text;
BEGIN
    SELECT * INTO one FROM crealm.class c WHERE c.name = item ->> 'c';
    IF one.id IS NULL OR item ->> 't' = 'del' THEN
        RETURN;
    END IF;
    FOR link IN SELECT p.name, t.relation, t.key FROM json_each(item -> 'v') e
        JOIN crealm.present p ON p.class = one.id AND p.name = e.key AND p.kind = 'link'
        JOIN crealm.class t ON t.name = p.target
        WHERE e.value ->> 1 IS NOT NULL LOOP
        SELECT p.type INTO key_type FROM crealm.present p WHERE p.class = one.id AND p.name = one.key;
        EXECUTE format('UPDATE %1$s AS crealm_row SET %2$I = NULL WHERE crealm_row.%3$I = $1::%4$s AND '
            'crealm_row.%2$I IS NOT NULL AND NOT EXISTS (SELECT FROM %5$s AS crealm_target '
            'WHERE crealm_target.%6$I = crealm_row.%2$I)', one.relation, link.name, one.key, key_type, link.relation,
            link.key) USING item ->> 'k';
    END LOOP;
END
$$;

CREATE FUNCTION crealm.push(body json) RETURNS json LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    batch json := body -> 'batch';
    device uuid := (body -> 'batch' ->> 'device')::uuid;
    taken record;
    item record;
    merged json;
    merges text := '';
    refused text := '';
    refused_rows json[] := '{}';
    refusals text := '';
    rows text := '';
    reply json;
    state text;
    message text;
BEGIN
    IF body ->> 'schema' IS DISTINCT FROM crealm.schema_digest() THEN
        RETURN '{"stale":true}';
    END IF;
    SELECT * INTO taken FROM crealm.take(device, (batch ->> 'number')::bigint, batch ->> 'before', batch ->> 'chain');
    IF taken.answer = 'fork' THEN
        RETURN '{"fork":true}';
    END IF;
    IF taken.answer = 'have' THEN
        RETURN taken.reply;
    END IF;
    BEGIN
        -- In one order on all devices, against deadlocks.
        FOR item IN SELECT e.value FROM json_array_elements(batch -> 'rows') e
            ORDER BY e.value ->> 'c' COLLATE "C", e.value ->> 'k' COLLATE "C" LOOP
            merged := crealm.apply_row(item.value);
            IF merged IS NOT NULL THEN
                merges := merges || ',' || (SELECT string_agg(m.value::text, ',') FROM json_array_elements(merged) m);
            END IF;
        END LOOP;
        FOR item IN SELECT e.value FROM json_array_elements(batch -> 'rows') e LOOP
            PERFORM crealm.mend_links(item.value);
        END LOOP;
        SET CONSTRAINTS ALL IMMEDIATE;
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE;
        -- These are no fault of an object.
        IF substr(state, 1, 2) IN ('08', '40', '53', '55', '57', '58', 'XX') THEN
            RAISE;
        END IF;
        merges := '';
        FOR item IN SELECT e.value FROM json_array_elements(batch -> 'rows') e
            ORDER BY e.value ->> 'c' COLLATE "C", e.value ->> 'k' COLLATE "C" LOOP
            BEGIN
                SET CONSTRAINTS ALL DEFERRED;
                merged := crealm.apply_row(item.value);
                PERFORM crealm.mend_links(item.value);
                SET CONSTRAINTS ALL IMMEDIATE;
                IF merged IS NOT NULL THEN
                    merges := merges || ','
                        || (SELECT string_agg(m.value::text, ',') FROM json_array_elements(merged) m);
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
    PERFORM set_config('crealm.change', '', true);
    IF cardinality(refused_rows) > 0 THEN
        SELECT string_agg(format('%s:%s', to_json(c.name), crealm.rows_of(c.name, c.keys)), ',') INTO rows FROM (
            SELECT r ->> 'c' AS name, array_agg(r ->> 'k') AS keys FROM unnest(refused_rows) r GROUP BY r ->> 'c') c
        WHERE EXISTS (SELECT FROM crealm.class k WHERE k.name = c.name);
    END IF;
    reply := format('{"batch":%s,"merge":[%s],"refused":[%s],"rows":{%s}}', batch ->> 'number', substr(merges, 2),
        substr(refusals, 2), rows);
    PERFORM crealm.keep_reply(device, reply);
    RETURN reply;
END
$$;

-- The rows with these keys as the caller sees them; those that are not there count as deleted.
CREATE FUNCTION crealm.rows_of(class_name text, keys text[]) RETURNS text LANGUAGE plpgsql VOLATILE
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
    SELECT * INTO found FROM crealm.rows(class_name, 's.key = ANY ($3)', 'true', '', keys, NULL, NULL, NULL);
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
    SELECT * INTO found FROM crealm.rows(body ->> 'class', 'NOT s.gone', 'true', '', NULL, NULL, NULL, NULL);
    RETURN format('{"props":%s,"rows":[%s]}', found.names, found.list);
END
$$;

ALTER TABLE crealm.shadow ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON crealm.shadow FOR SELECT USING (scope IS NULL OR crealm.me() = ANY (scope));
