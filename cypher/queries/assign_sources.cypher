// Tie notes to their source
UNWIND $rows AS row
MATCH (n:Note {namespace: $namespace, id: row.id})
OPTIONAL MATCH (n)-[old:FROM]->(:Source)
DELETE old
WITH DISTINCT n, row.source_id AS source_id
WHERE source_id IS NOT NULL
MERGE (s:Source {namespace: $namespace, id: source_id})
MERGE (n)-[:FROM]->(s)
