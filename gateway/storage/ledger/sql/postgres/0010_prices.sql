-- What a turn cost is not known where the prices of its model are not: nothing is not the same.
ALTER TABLE usage ALTER COLUMN cost DROP NOT NULL;
