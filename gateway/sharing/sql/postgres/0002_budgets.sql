-- The rate limits that all processes of a bot share: a row for a bot, or for one of its methods; and
-- a row for each token that its platform refuses for good.
-- Its times are seconds since 1970 by this server's clock, so that one can calculate with them.
-- `slots` has the newest writes that were allowed, oldest first, perhaps some in the near future.
CREATE TABLE send_limit (
    name TEXT COLLATE "C" NOT NULL,
    slots DOUBLE PRECISION[] NOT NULL DEFAULT '{}',
    closed_until DOUBLE PRECISION NOT NULL DEFAULT 0,
    refused BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (name)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

CREATE FUNCTION send_limit_row(given_name TEXT) RETURNS send_limit LANGUAGE plpgsql AS $$
DECLARE
    found_row send_limit;
BEGIN
    LOOP
        SELECT * INTO found_row FROM send_limit WHERE name = given_name FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO send_limit (name) VALUES (given_name) ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN found_row;
END $$;

-- Allow writes, at most `wanted` of each priority; the arrays begin with the highest. No `period`
-- ever has more than `most` slots, two slots are `apart`, a priority gets a slot only where its
-- period has fewer than `share`, and only from `lead` seconds on, and within `ahead` seconds more.
-- `opens` says when each priority could have its next.
CREATE FUNCTION send_limit_reserve(
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
    IF taken[size] > now_at + period THEN -- the clock was set back: as if all were used just now
        taken := array_fill(now_at, ARRAY[most]);
        size := most;
    END IF;
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
        UPDATE send_limit SET slots = taken[greatest(1, size - most + 1) : size]
        WHERE name = given_name;
    END IF;
END $$;

CREATE FUNCTION send_limit_close(given_name TEXT, seconds DOUBLE PRECISION) RETURNS VOID
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM send_limit_row(given_name);
    UPDATE send_limit
    SET closed_until = greatest(closed_until, extract(epoch FROM clock_timestamp()) + seconds)
    WHERE name = given_name;
END $$;

CREATE FUNCTION send_limit_refuse(given_name TEXT, given BOOLEAN) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    PERFORM send_limit_row(given_name);
    UPDATE send_limit SET refused = given WHERE name = given_name;
END $$;
