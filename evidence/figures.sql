-- Figures of a sweep from its database:  sqlite3 -readonly FILE.db < evidence/figures.sql
-- Times are sums over the points in seconds.  measuring: the GPU's own time for samples, evictions
-- and parts (events), and counting.  overhead: everything else from the first lease taken to the
-- last row sent, verification included, over measuring.
.mode line
WITH f AS (
  SELECT
    status,
    row ->> '$.started_unix_s' AS start_s,
    row ->> '$.wall_s' AS wall_s,
    row ->> '$.sampling_s' AS sampling_s,
    row ->> '$.gpu_s' AS gpu_s,
    row ->> '$.kernel_s' AS kernel_s,
    row ->> '$.count_s' AS count_s,
    row ->> '$.prepare_s' AS prepare_s,
    row ->> '$.verify_s' AS verify_s,
    row ->> '$.tensor_ops' AS ops,
    row ->> '$.flops' AS flops,
    row ->> '$.padded_rows' AS padded_rows,
    batch,
    row ->> '$.query_tokens' AS query_tokens,
    row ->> '$.local_heads' AS local_heads,
    row ->> '$.rank_batch' AS rank_batch,
    row ->> '$.kv_bytes_model' AS kv_bytes,
    row ->> '$.dram_bytes_read' AS read_bytes,
    row ->> '$.error_vs_reference' AS error
  FROM rows
),
g AS (
  SELECT *,
    -- the reads of the model: cache, and queries of 576 bf16 values
    kv_bytes + 1152.0 * rank_batch * query_tokens * local_heads AS model_bytes,
    flops * (1.0 + padded_rows / (1.0 * query_tokens * local_heads)) AS padded_flops
  FROM f
)
SELECT
  count(*) AS points,
  sum(status = 'ok') AS ok,
  sum(status = 'skipped') AS skipped,
  sum(status = 'failed') AS failed,
  round(max(start_s + wall_s) - min(start_s), 2) AS span_s,
  round(sum(gpu_s), 2) AS gpu_s,
  round(sum(kernel_s), 2) AS kernel_s,
  round(sum(count_s), 2) AS count_s,
  round(sum(sampling_s) - sum(gpu_s), 2) AS sampling_besides_gpu_s,
  round(sum(prepare_s), 2) AS prepare_s,
  round(sum(verify_s), 2) AS verify_s,
  round(max(start_s + wall_s) - min(start_s) - sum(wall_s), 2) AS between_points_s,
  round(100 * ((max(start_s + wall_s) - min(start_s)) / sum(gpu_s + count_s) - 1), 1)
    AS overhead_percent,
  round(100 * ((max(start_s + wall_s) - min(start_s)) / sum(gpu_s) - 1), 1)
    AS overhead_with_counting_percent,
  sum(ops IS NOT NULL) AS with_tensor_ops,
  sum(ops = padded_flops) AS tensor_ops_exact,
  sum(kv_bytes >= 3e8 AND read_bytes IS NOT NULL) AS caches_of_300_mb,
  round(100 * max(CASE WHEN kv_bytes >= 3e8 THEN abs(read_bytes / model_bytes - 1) END), 2)
    AS worst_dram_read_percent,
  round(max(error), 3) AS worst_error
FROM g;
