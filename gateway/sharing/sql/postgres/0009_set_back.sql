-- readable from: 8
-- A server's clock that is set back leaves what was allowed in the future. When it was written last
-- tells by how much at least: then all of a row's times are moved, so that nobody waits for them.
ALTER TABLE send_limit ADD COLUMN seen_at DOUBLE PRECISION NOT NULL DEFAULT 0;

-- A clock that is corrected by less than this goes unnoticed.
CREATE FUNCTION send_limit_moved(given_row send_limit) RETURNS send_limit LANGUAGE plpgsql AS $$
DECLARE
    back DOUBLE PRECISION := given_row.seen_at - extract(epoch FROM clock_timestamp());
BEGIN
    IF back > 0.5 THEN
        given_row.slots := ARRAY(SELECT one - back FROM unnest(given_row.slots)
                                 WITH ORDINALITY AS taken(one, place) ORDER BY place);
        given_row.closed_until := given_row.closed_until - back;
        given_row.seen_at := given_row.seen_at - back;
        UPDATE send_limit SET slots = given_row.slots, closed_until = given_row.closed_until,
                              seen_at = given_row.seen_at
        WHERE name = given_row.name;
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

CREATE OR REPLACE FUNCTION send_limit_reserve(
    given_name TEXT, most INTEGER, period DOUBLE PRECISION, apart DOUBLE PRECISION,
    share INTEGER[], lead DOUBLE PRECISION, ahead DOUBLE PRECISION[], wanted INTEGER[],
    OUT granted DOUBLE PRECISION[], OUT opens DOUBLE PRECISION[], OUT now_at DOUBLE PRECISION,
    OUT closed_until DOUBLE PRECISION
) LANGUAGE plpgsql AS $$
DECLARE
    found_row send_limit := send_limit_row(given_name);
    taken DOUBLE PRECISION[] := found_row.slots;
    size INTEGER := cardinality(taken);
    slot DOUBLE PRECISION;
    rest INTEGER;
BEGIN
    now_at := extract(epoch FROM clock_timestamp());
    granted := '{}';
    opens := '{}';
    closed_until := found_row.closed_until;
    FOR rank IN 1 .. cardinality(wanted) LOOP
        rest := wanted[rank];
        LOOP
            slot := greatest(now_at + lead, closed_until, taken[size] + apart,
                             taken[size - share[rank] + 1] + period);
            EXIT WHEN rest <= 0 OR slot > now_at + lead + ahead[rank];
            granted := granted || slot;
            taken := taken || slot;
            size := size + 1;
            rest := rest - 1;
        END LOOP;
        opens := opens || slot;
    END LOOP;
    IF granted <> '{}' THEN
        UPDATE send_limit SET slots = taken[greatest(1, size - most + 1) : size], seen_at = now_at
        WHERE name = given_name;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION send_limit_close(given_name TEXT, seconds DOUBLE PRECISION) RETURNS VOID
LANGUAGE plpgsql AS $$
DECLARE
    now_at DOUBLE PRECISION;
BEGIN
    PERFORM send_limit_row(given_name);
    now_at := extract(epoch FROM clock_timestamp());
    UPDATE send_limit
    SET closed_until = greatest(closed_until, now_at + seconds), seen_at = greatest(seen_at, now_at)
    WHERE name = given_name;
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

UPDATE send_limit SET seen_at = extract(epoch FROM clock_timestamp());
