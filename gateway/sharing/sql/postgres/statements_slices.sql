-- name: reserve
-- Allow writes to a platform, at most as many as are wanted; the lists are by priority.
SELECT granted, opens, now_at, closed_until, refused
FROM budget_reserve(:name, :most, :period, :apart, CAST(:share AS integer[]),
                    :lead, CAST(:ahead AS double precision[]), CAST(:wanted AS integer[]))

-- name: close_budget
-- The platform wants no writes for some seconds.
SELECT budget_close(:name, :seconds)

-- name: refuse_budget
-- The platform refuses a token for good (its digest), or accepts it again ('').
SELECT budget_refuse(:name, :token)
