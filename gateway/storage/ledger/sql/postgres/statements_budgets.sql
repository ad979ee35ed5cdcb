-- name: record_usage
-- Record what a turn used of a model; a turn that ends again replaces its own row.
INSERT INTO usage
    (turn_id, model, day, session_id, person, name, calls, input, cached, output, cost, estimated)
VALUES
    (:turn_id, :model, :day, :session_id, :person, :name, :calls, :input, :cached, :output, :cost,
     :estimated)
ON CONFLICT (turn_id, model) DO UPDATE
SET calls = excluded.calls, input = excluded.input, cached = excluded.cached,
    output = excluded.output, cost = excluded.cost, estimated = excluded.estimated

-- name: list_usage
-- The usage since a day, by day, chat, person, model or turn, or in total; a person has the newest
-- name. `groups` is the number of rows without the limit.
SELECT * FROM (
    SELECT CASE :by WHEN 'day' THEN day WHEN 'chat' THEN session_id WHEN 'person' THEN person
                    WHEN 'model' THEN model WHEN 'turn' THEN turn_id ELSE 'total' END AS key,
           CASE WHEN :by = 'person' THEN (array_agg(name ORDER BY day DESC))[1] ELSE '' END AS name,
           max(day) AS latest, count(DISTINCT turn_id) AS turns, sum(calls)::bigint AS calls,
           sum(input)::bigint AS input, sum(cached)::bigint AS cached,
           sum(output)::bigint AS output, sum(cost) AS cost,
           sum(CASE WHEN cost IS NULL THEN calls ELSE 0 END)::bigint AS unpriced,
           sum(estimated)::bigint AS estimated, sum(refused)::bigint AS refused,
           count(*) OVER () AS groups
    FROM (SELECT turn_id, model, day, session_id, person, name, calls, input, cached, output, cost,
                 estimated, 0 AS refused FROM usage
          UNION ALL
          SELECT NULL, NULL, day, session_id, person, name, 0, 0, 0, 0, NULL, 0, refused FROM budget
          WHERE refused > 0 AND :by NOT IN ('model', 'turn')) AS used
    WHERE day >= :since
    GROUP BY 1) AS summed
ORDER BY CASE WHEN :by IN ('day', 'turn') THEN latest END DESC NULLS LAST,
         cost DESC NULLS LAST, input + output DESC
LIMIT :limit

-- name: spend_turn
-- A person's turn begins; changes nothing once the day's budget is used up. A limit of 0 is none.
-- A turn whose cost is not known counts by its tokens alone.
INSERT INTO budget (day, person, session_id, name, turns)
SELECT :day ::text, :person ::text, :session_id ::text, :name ::text, 1
WHERE (:cost = 0 AND :tokens = 0) OR (
    SELECT (:cost = 0 OR coalesce(sum(cost), 0) < :cost)
       AND (:tokens = 0 OR coalesce(sum(input + cached + output), 0) < :tokens)
    FROM usage WHERE day = :day AND person = :person AND session_id = :session_id)
ON CONFLICT (day, person, session_id) DO UPDATE SET turns = budget.turns + 1
WHERE :turns = 0 OR budget.turns < :turns

-- name: refuse_turn
-- A question was refused because its author's budget is used up.
INSERT INTO budget (day, person, session_id, name, refused)
VALUES (:day, :person, :session_id, :name, 1)
ON CONFLICT (day, person, session_id) DO UPDATE SET refused = budget.refused + 1

-- name: budget
-- What a person has used in a chat on a day.
SELECT turns, refused FROM budget
WHERE day = :day AND person = :person AND session_id = :session_id
