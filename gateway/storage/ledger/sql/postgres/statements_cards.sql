-- name: issue_card
-- Record a card with buttons; a known card changes nothing.
INSERT INTO card (card_id, purpose, channel, person, session_id, data, expires_at)
VALUES (:card_id, :purpose, :channel, :person, :session_id, :data, :expires_at)
ON CONFLICT (card_id) DO NOTHING

-- name: card
-- A card, answered or not.
SELECT card_id, purpose, channel, person, session_id, data, expires_at, choice, chosen_by
FROM card WHERE card_id = :card_id

-- name: open_cards
-- The cards of a purpose and session that were not answered, oldest expiry first.
SELECT card_id, purpose, channel, person, session_id, data, expires_at, choice, chosen_by
FROM card
WHERE choice IS NULL AND expires_at > :now AND purpose = :purpose
  AND (:session_id = '' OR session_id = :session_id)
ORDER BY expires_at

-- name: answer_card
-- Answer a card; changes nothing if it was answered already, by others or in another way. The same
-- answer may be written once more: whether it was is not known where the database's answer is lost.
UPDATE card SET choice = :choice, chosen_by = :chosen_by
WHERE card_id = :card_id
  AND (choice IS NULL OR (choice = :choice AND chosen_by = :chosen_by))

-- name: drop_cards
-- Remove the cards that expired before a moment.
DELETE FROM card WHERE expires_at < :before
