-- name: notify
-- Wake the processes that listen to these channels; both lists are JSON, of the same length.
SELECT pg_notify(channel, payload)
FROM unnest(text_list(:channels), text_list(:payloads)) AS sent (channel, payload)
