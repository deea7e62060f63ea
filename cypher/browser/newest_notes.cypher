// Newest notes
// The thirty written last, with their sources.
WITH 'default' AS namespace
MATCH (n:Note {namespace: namespace})
WHERE NOT n.archived
WITH n ORDER BY n.created_at DESC, n.id LIMIT 30
OPTIONAL MATCH (n)-[f:FROM]->(s:Source)
RETURN n, f, s;
