-- A row per message: wiretool decode -f json --flat FILE... > messages.jsonl
{{table}}
INSERT INTO messages SELECT * FROM file('messages.jsonl', 'JSONEachRow', {{columns}}) SETTINGS date_time_input_format = 'best_effort', input_format_null_as_default = 0;

-- slowest: the subjects whose answers take longest, in ms
SELECT `of` AS subject, count() AS answers, quantileExactInclusive(0.5)(latency_ms) AS p50, quantileExactInclusive(0.99)(latency_ms) AS p99, max(latency_ms) AS most
FROM messages
WHERE latency_ms IS NOT NULL AND `of` IS NOT NULL
GROUP BY `of` ORDER BY p99 DESC, subject LIMIT 20;

-- errors: the part of the answers of each peer version that are errors
SELECT coalesce(peer, 'unknown') AS peer_version, count() AS answers, countIf(`role` = 'error' OR outcome = 'error') AS errors
FROM messages
WHERE reply_to IS NOT NULL
GROUP BY peer_version ORDER BY errors / answers DESC, peer_version;

-- unanswered: the requests that no message answers, also those that were cancelled; `wiretool lint` names what is waited for
SELECT q.src, q.`index`, q.`time`, q.dir, q.subject, q.`name`
FROM messages AS q LEFT ANTI JOIN messages AS a ON a.src = q.src AND a.reply_to = q.`index`
WHERE q.`role` = 'request'
ORDER BY q.src, q.`index`;

-- owes: the side that must answer these requests, by connection
SELECT q.src, q.conn, multiIf(q.dir = 'c2s', 'server', q.dir = 's2c', 'client', 'unknown') AS owes, count() AS requests, min(q.`time`) AS oldest
FROM messages AS q LEFT ANTI JOIN messages AS a ON a.src = q.src AND a.reply_to = q.`index`
WHERE q.`role` = 'request'
GROUP BY q.src, q.conn, owes ORDER BY q.src, q.conn, owes;

-- findings: the broken rules by day, without those that show only at the end, such as unanswered
SELECT toDate(`time`) AS `day`, JSONExtractString(f, 'rule') AS `rule`, JSONExtractString(f, 'severity') AS severity, count() AS findings
FROM (SELECT `time`, arrayJoin(JSONExtractArrayRaw(assumeNotNull(findings))) AS f FROM messages WHERE findings IS NOT NULL)
GROUP BY `day`, `rule`, severity ORDER BY `day`, `rule`, severity;

-- definitions: tools, prompts and others of a server whose definition in an answer to a list request changes
SELECT peer, host, `of` AS subject, JSONExtractString(definition, 'name') AS `name`, uniqExact(definition) AS versions, min(`time`) AS first_time, max(`time`) AS last_time
FROM (
  SELECT peer, host, `of`, `time`, if(`of` = 'resources/templates/list', 'resourceTemplates', splitByChar('/', assumeNotNull(`of`))[1]) AS member,
    arrayJoin(JSONExtractArrayRaw(assumeNotNull(message), 'result', assumeNotNull(member))) AS definition
  FROM messages WHERE `of` LIKE '%/list' AND `role` = 'response')
WHERE JSONHas(definition, 'name')
GROUP BY peer, host, `of`, `name` HAVING versions > 1 ORDER BY subject, `name`, peer, host;

-- operation: the slowest one with all its parts; put another src and op into root to see that one
WITH RECURSIVE
  root AS (SELECT src, op FROM messages WHERE latency_ms IS NOT NULL AND op IS NOT NULL ORDER BY latency_ms DESC, src, op LIMIT 1),
  parts AS (SELECT src, op FROM root UNION ALL SELECT DISTINCT m.src, m.op FROM messages AS m JOIN parts AS p ON m.src = p.src AND m.parent = p.op)
SELECT DISTINCT m.`index` AS `index`, m.op AS op, m.parent AS parent, m.dir AS dir, m.kind AS kind, coalesce(m.subject, m.`of`) AS subject, m.`name` AS `name`, m.latency_ms AS latency_ms
FROM messages AS m JOIN parts AS p ON m.src = p.src AND m.op = p.op
ORDER BY `index`;
