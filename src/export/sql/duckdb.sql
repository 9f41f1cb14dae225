-- A row per message: wiretool decode -f json --flat FILE... > messages.jsonl
{{table}}
INSERT INTO messages SELECT * FROM read_json('messages.jsonl', format = 'newline_delimited', maximum_object_size = 268435456, columns = {{columns}});

-- slowest: the subjects whose answers take longest, in ms
SELECT "of" AS subject, count(*) AS answers, quantile_cont(latency_ms, 0.5) AS p50, quantile_cont(latency_ms, 0.99) AS p99, max(latency_ms) AS most
FROM messages
WHERE latency_ms IS NOT NULL AND "of" IS NOT NULL
GROUP BY "of" ORDER BY p99 DESC, subject LIMIT 20;

-- errors: the part of the answers of each peer version that are errors
SELECT coalesce(peer, 'unknown') AS peer_version, count(*) AS answers, count(*) FILTER (WHERE "role" = 'error' OR outcome = 'error') AS errors
FROM messages
WHERE reply_to IS NOT NULL
GROUP BY peer_version ORDER BY errors / answers DESC, peer_version;

-- unanswered: the requests that no message answers, also those that were cancelled; `wiretool lint` names what is waited for
SELECT q.src, q."index", q."time", q.dir, q.subject, q."name"
FROM messages q ANTI JOIN messages a ON a.src = q.src AND a.reply_to = q."index"
WHERE q."role" = 'request'
ORDER BY q.src, q."index";

-- owes: the side that must answer these requests, by connection
SELECT q.src, q.conn, CASE q.dir WHEN 'c2s' THEN 'server' WHEN 's2c' THEN 'client' ELSE 'unknown' END AS owes, count(*) AS requests, min(q."time") AS oldest
FROM messages q ANTI JOIN messages a ON a.src = q.src AND a.reply_to = q."index"
WHERE q."role" = 'request'
GROUP BY q.src, q.conn, owes ORDER BY q.src, q.conn, owes;

-- findings: the broken rules by day, without those that show only at the end, such as unanswered
SELECT CAST("time" AS DATE) AS "day", f.rule AS "rule", f.severity AS severity, count(*) AS findings
FROM (SELECT "time", unnest(from_json(findings, '[{"rule":"VARCHAR","severity":"VARCHAR"}]')) AS f FROM messages WHERE findings IS NOT NULL)
GROUP BY ALL ORDER BY "day", "rule", severity;

-- definitions: tools, prompts and others of a server whose definition in an answer to a list request changes
SELECT peer, host, "of" AS subject, definition ->> '$.name' AS "name", count(DISTINCT definition) AS versions, min("time") AS first_time, max("time") AS last_time
FROM (
  SELECT peer, host, "of", "time", CAST(unnest(CAST(json_extract(message, member) AS JSON[])) AS VARCHAR) AS definition
  FROM (
    SELECT *, '$.result.' || CASE "of" WHEN 'resources/templates/list' THEN 'resourceTemplates' ELSE split_part("of", '/', 1) END AS member
    FROM messages WHERE "of" LIKE '%/list' AND "role" = 'response')
  WHERE json_type(message, member) = 'ARRAY')
WHERE definition ->> '$.name' IS NOT NULL
GROUP BY peer, host, "of", "name" HAVING versions > 1 ORDER BY subject, "name", peer, host;

-- operation: the slowest one with all its parts; put another src and op into root to see that one
WITH RECURSIVE
  root AS (SELECT src, op FROM messages WHERE latency_ms IS NOT NULL AND op IS NOT NULL ORDER BY latency_ms DESC, src, op LIMIT 1),
  parts AS (SELECT src, op FROM root UNION SELECT m.src, m.op FROM messages m JOIN parts p ON m.src = p.src AND m.parent = p.op)
SELECT m."index", m.op, m.parent, m.dir, m.kind, coalesce(m.subject, m."of") AS subject, m."name", m.latency_ms
FROM messages m JOIN parts p ON m.src = p.src AND m.op = p.op
ORDER BY m."index";
