-- name: add_rollups
-- Add counts of entries; the rows are a JSON list. One statement has no two rows of one place.
INSERT INTO rollup AS known (tape, grain, slot, entries, said, answered, failed, refused, changed,
    anchors, first, last, oldest, newest)
SELECT tape, grain, slot, entries, said, answered, failed, refused, changed, anchors, first, last,
    oldest, newest
FROM json_to_recordset(:rows ::json) AS given (tape bigint, grain text, slot bigint, entries bigint,
    said bigint, answered bigint, failed bigint, refused bigint, changed bigint, anchors bigint,
    first bigint, last bigint, oldest text, newest text)
ON CONFLICT (tape, grain, slot) DO UPDATE SET
    entries = known.entries + excluded.entries, said = known.said + excluded.said,
    answered = known.answered + excluded.answered, failed = known.failed + excluded.failed,
    refused = known.refused + excluded.refused, changed = known.changed + excluded.changed,
    anchors = known.anchors + excluded.anchors,
    first = least(known.first, excluded.first), last = greatest(known.last, excluded.last),
    oldest = least(known.oldest, excluded.oldest), newest = greatest(known.newest, excluded.newest)

-- name: add_rollup_lanes
INSERT INTO rollup_lane AS known (tape, slot, lane, entries, first, last)
SELECT tape, slot, lane, entries, first, last
FROM json_to_recordset(:rows ::json) AS given (tape bigint, slot bigint, lane text, entries bigint,
    first bigint, last bigint)
ON CONFLICT (tape, slot, lane) DO UPDATE SET entries = known.entries + excluded.entries,
    first = least(known.first, excluded.first), last = greatest(known.last, excluded.last)

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
SELECT lane, sum(entries)::bigint AS entries, min(first) AS first, max(last) AS last
FROM rollup_lane
WHERE tape = :tape AND slot BETWEEN :first AND :last
GROUP BY lane ORDER BY entries DESC, lane LIMIT :limit

-- name: sparks
-- What was said and answered on some tapes, by hours.
SELECT t.name, r.slot, r.said, r.answered
FROM tape AS t
JOIN rollup AS r ON r.tape = t.tape AND r.grain = 'hour' AND r.slot >= :since
WHERE t.name = ANY (ARRAY(SELECT json_array_elements_text(:names ::json)))
