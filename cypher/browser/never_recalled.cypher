// Notes nobody recalled
// The oldest notes no counted recall ever returned, with their sources.
WITH 'default' AS namespace
MATCH (n:Note {namespace: namespace})
WHERE n.recall_count = 0 AND NOT n.archived
WITH n ORDER BY n.created_at, n.id LIMIT 30
OPTIONAL MATCH (n)-[f:FROM]->(s:Source)
RETURN n, f, s;
