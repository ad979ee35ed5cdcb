-- readable from: 5
-- How often access and aliases have changed, which every process knows as a whole: it reads them only
-- after a change. Whoever makes one holds the row until its commit, whatever its version.

CREATE TABLE rule_version (number BIGINT NOT NULL) WITH (fillfactor = 10);
INSERT INTO rule_version VALUES (0);

CREATE FUNCTION rules_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    UPDATE rule_version SET number = number + 1;
    RETURN NULL;
END $$;
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION rules_changed SET search_path = %I, pg_temp', current_schema());
END $$;

CREATE TRIGGER access_rule_changed AFTER INSERT OR UPDATE OR DELETE ON access_rule
FOR EACH STATEMENT EXECUTE FUNCTION rules_changed();
CREATE TRIGGER alias_changed AFTER INSERT OR UPDATE OR DELETE ON alias
FOR EACH STATEMENT EXECUTE FUNCTION rules_changed();
