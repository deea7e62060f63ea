// History of a note
// Put a note's id in place of the null; without one, the note that changed most is shown.
WITH 'default' AS namespace, null AS id
MATCH (e:EvolutionEvent {namespace: namespace})-[:CHANGED]->(n:Note)
WHERE id IS NULL OR n.id = id
WITH n, count(e) AS changes
ORDER BY changes DESC, n.id
LIMIT 1
MATCH (e:EvolutionEvent)-[c:CHANGED]->(n)
WITH n, e, c
ORDER BY e.revision
LIMIT 50
OPTIONAL MATCH (e)-[t:TRIGGERED_BY]->(cause:Note)
RETURN n, c, e, t, cause;
