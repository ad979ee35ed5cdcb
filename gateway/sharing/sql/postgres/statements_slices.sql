-- name: reserve
-- Allow writes to a platform, at most as many as are wanted; the lists are by priority.
SELECT granted, opens, now_at, closed_until
FROM send_limit_reserve(:name, :most, :period, :apart, CAST(:share AS integer[]),
                    :lead, CAST(:ahead AS double precision[]), CAST(:wanted AS integer[]))

-- name: closed_limits
-- What a platform refuses now: until when, or a token for good.
SELECT name, refused, seconds FROM send_limits_closed()

-- name: close_limit
-- The platform wants no writes for some seconds.
SELECT send_limit_close(:name, :seconds)

-- name: refuse_token
-- The platform refuses a token for good, or accepts it again.
SELECT send_limit_refuse(:name, :refused)
