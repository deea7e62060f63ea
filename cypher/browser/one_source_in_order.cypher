// One source in order
// Put a source's id in place of the null; without one, the source of the newest note is shown.
WITH 'default' AS namespace, null AS id
MATCH (s:Source {namespace: namespace})<-[:FROM]-(newest:Note)
WHERE id IS NULL OR s.id = id
WITH s, max(newest.created_at) AS latest
ORDER BY latest DESC, s.id
LIMIT 1
MATCH (s)<-[f:FROM]-(n:Note)
WITH s, f, n
ORDER BY n.source_position, n.id
LIMIT 60
OPTIONAL MATCH (n)-[c:FOLLOWS]->(before:Note)
RETURN s, f, n, c, before;
