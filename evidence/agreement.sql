-- How far two runs of one sweep are apart, in percent of the first one's time:
--   sqlite3 -readonly A.db -cmd "ATTACH 'B.db' AS other" < evidence/agreement.sql
.mode line
WITH difference AS (
  SELECT
    a.time_us AS time_us,
    100 * abs(b.time_us / a.time_us - 1) AS percent
  FROM rows a JOIN other.rows b USING (point_id)
  WHERE a.status = 'ok' AND b.status = 'ok'
),
ordered AS (SELECT percent, row_number() OVER (ORDER BY percent) AS place FROM difference)
SELECT
  (SELECT count(*) FROM difference) AS points,
  (SELECT round(avg(percent), 2) FROM ordered
   WHERE place IN ((SELECT count(*) + 1 FROM ordered) / 2, (SELECT count(*) + 2 FROM ordered) / 2))
    AS median_percent,
  (SELECT round(max(percent), 2) FROM difference WHERE time_us >= 50) AS worst_of_50_us_or_more,
  (SELECT round(max(percent), 2) FROM difference) AS worst_of_all;
