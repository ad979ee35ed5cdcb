-- What the processes know of their accounts on the platforms. A change takes the next version, and
-- whoever takes one holds the only row of `fact_version` until its commit: a reader that has seen a
-- version has seen all before it. A removed fact stays for a while, so that readers hear of it.
CREATE TABLE fact (
    channel TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT NOT NULL,
    version BIGINT NOT NULL,
    ends_at TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (channel, name)
) WITH (fillfactor = 70);
CREATE INDEX fact_newest ON fact (version);
CREATE INDEX fact_ending ON fact (ends_at) WHERE ends_at <> '';

CREATE TABLE fact_version (number BIGINT NOT NULL) WITH (fillfactor = 10);
INSERT INTO fact_version VALUES (0);
