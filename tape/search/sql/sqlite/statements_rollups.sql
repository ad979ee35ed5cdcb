-- name: add_rollup
INSERT INTO rollup (tape, grain, slot, entries, said, answered, failed, refused, changed, anchors,
    first, last, oldest, newest)
VALUES (:tape, :grain, :slot, :entries, :said, :answered, :failed, :refused, :changed, :anchors,
    :first, :last, :oldest, :newest)
ON CONFLICT DO UPDATE SET
    entries = entries + excluded.entries, said = said + excluded.said,
    answered = answered + excluded.answered, failed = failed + excluded.failed,
    refused = refused + excluded.refused, changed = changed + excluded.changed,
    anchors = anchors + excluded.anchors,
    first = min(first, excluded.first), last = max(last, excluded.last),
    oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest)

-- name: add_rollup_lane
INSERT INTO rollup_lane (tape, slot, lane, entries, first, last)
VALUES (:tape, :slot, :lane, :entries, :first, :last)
ON CONFLICT DO UPDATE SET entries = entries + excluded.entries,
    first = min(first, excluded.first), last = max(last, excluded.last)

-- name: clear_rollup
-- All counts of a tape.
DELETE FROM rollup WHERE tape = :tape

-- name: clear_rollup_lane
DELETE FROM rollup_lane WHERE tape = :tape

-- name: recount_lanes
-- The lanes of one block, before they are counted again.
DELETE FROM rollup_lane WHERE tape = :tape AND slot = :slot

-- name: rolled
-- The next counts of a tape by blocks or hours.
SELECT slot, entries, said, answered, failed, refused, changed, anchors, first, last, oldest, newest
FROM rollup
WHERE tape = :tape AND grain = :grain AND slot > :after
ORDER BY slot LIMIT :limit

-- name: rolled_lanes
-- The lanes of some blocks.
SELECT lane, sum(entries) AS entries, min(first) AS first, max(last) AS last
FROM rollup_lane
WHERE tape = :tape AND slot BETWEEN :first AND :last
GROUP BY lane ORDER BY entries DESC, lane LIMIT :limit

-- name: sparks
-- What was said and answered on some tapes, by hours.
SELECT c.name, r.slot, r.said, r.answered
FROM json_each(:names) AS wanted
CROSS JOIN covered AS c ON c.name = wanted.value
CROSS JOIN rollup AS r ON r.tape = c.tape AND r.grain = 'hour' AND r.slot >= :since
