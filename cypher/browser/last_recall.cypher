// Last recall as a graph
// The notes the newest counted recall returned, and the links it walked between them.
WITH 'default' AS namespace
MATCH (n:Note {namespace: namespace})
WHERE n.recall_count > 0
WITH namespace, max(n.last_accessed_at) AS at
MATCH (n:Note {namespace: namespace, last_accessed_at: at})
WHERE n.recall_count > 0
WITH at, n ORDER BY n.id LIMIT 50
OPTIONAL MATCH (n)-[r:RELATED {last_retrieved_at: at}]-(other:Note)
OPTIONAL MATCH (n)-[f:FROM]->(s:Source)
RETURN n, r, other, f, s
LIMIT 200;
