// The notes of every source in order, each with the ones it points at
MATCH (n:Note {namespace: $namespace})
WHERE n.id IS NOT NULL
WITH n, COLLECT { MATCH (n)-[:FOLLOWS]->(m:Note) RETURN m.id } AS follows
WHERE n.source_position IS NOT NULL OR size(follows) > 0
RETURN n.id AS id, n.source_id AS source_id, n.source_position AS position, follows
ORDER BY source_id, position, id
