-- readable from: 8
-- A server's clock that is set back leaves what was allowed in the future. When it was written last
-- tells by how much at least: then all of a row's times are moved, so that nobody waits for them.
ALTER TABLE send_limit ADD COLUMN seen_at DOUBLE PRECISION NOT NULL DEFAULT 0;

CREATE FUNCTION send_limit_seen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.seen_at := extract(epoch FROM clock_timestamp());
    RETURN NEW;
END $$;

CREATE TRIGGER send_limit_seen BEFORE INSERT OR UPDATE ON send_limit
FOR EACH ROW EXECUTE FUNCTION send_limit_seen();

UPDATE send_limit SET name = name;

-- A clock that is corrected by less than half a second goes unnoticed.
CREATE FUNCTION send_limit_moved(given_row send_limit) RETURNS send_limit LANGUAGE plpgsql AS $$
DECLARE
    back DOUBLE PRECISION := given_row.seen_at - extract(epoch FROM clock_timestamp());
BEGIN
    IF back > 0.5 THEN
        UPDATE send_limit
        SET slots = ARRAY(SELECT one - back FROM unnest(slots) WITH ORDINALITY AS taken(one, place)
                          ORDER BY place),
            closed_until = closed_until - back
        WHERE name = given_row.name
        RETURNING * INTO given_row;
    END IF;
    RETURN given_row;
END $$;

CREATE OR REPLACE FUNCTION send_limit_row(given_name TEXT) RETURNS send_limit LANGUAGE plpgsql AS $$
DECLARE
    found_row send_limit;
BEGIN
    LOOP
        SELECT * INTO found_row FROM send_limit WHERE name = given_name FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO send_limit (name) VALUES (given_name) ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN send_limit_moved(found_row);
END $$;

-- What a platform refuses now: for how many seconds, or a token for good.
CREATE FUNCTION send_limits_closed()
RETURNS TABLE (name TEXT, refused BOOLEAN, seconds DOUBLE PRECISION) LANGUAGE plpgsql AS $$
DECLARE
    now_at DOUBLE PRECISION := extract(epoch FROM clock_timestamp());
BEGIN
    PERFORM send_limit_moved(one) FROM send_limit AS one
    WHERE one.closed_until > now_at AND one.seen_at > now_at
    FOR UPDATE;
    RETURN QUERY SELECT one.name, one.refused, one.closed_until - now_at FROM send_limit AS one
                 WHERE one.refused OR one.closed_until > now_at;
END $$;
