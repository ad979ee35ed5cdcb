-- readable from: 1
-- A role that uses the tables takes numbers from the sequences, too, such as that of what goes on in
-- rooms.
CREATE OR REPLACE FUNCTION let_use(application name) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place text := quote_ident(current_schema());
    who text := quote_ident(application);
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %s TO %s', place, who);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %s', place, who);
    EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %s TO %s', place, who);
    EXECUTE format('REVOKE UPDATE, DELETE ON entry, append_key, erased, tape FROM %s', who);
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON migration, erased FROM %s', who);
    EXECUTE format('GRANT UPDATE (size, dated, last) ON tape TO %s', who);
    EXECUTE format('GRANT TRUNCATE ON search_covered, search_entry TO %s', who);
    EXECUTE format('GRANT EXECUTE ON FUNCTION tape_erase TO %s', who);
    IF current_setting('server_version_num')::bigint >= 170000 THEN
        EXECUTE format('GRANT MAINTAIN ON ALL TABLES IN SCHEMA %s TO %s', place, who);
    END IF;
END $$;
