#!/bin/sh
# Rows of a database as they are kept here: JSON lines, the first 200 samples of each row.
#   evidence/rows_for_keeping.sh FILE.db > rows.jsonl
set -eu
sqlite3 -readonly "$1" "
  SELECT json_set(row, '\$.samples_us', json((
    SELECT json_group_array(value) FROM (
      SELECT value FROM json_each(row, '\$.samples_us') LIMIT 200))))
  FROM rows ORDER BY point"
