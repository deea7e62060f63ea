// What evolved and why
// The newest changes, the notes they changed, and the notes that caused them.
WITH 'default' AS namespace
MATCH (e:EvolutionEvent {namespace: namespace})-[c:CHANGED]->(n:Note)
WITH e, c, n
ORDER BY e.at DESC, e.id
LIMIT 30
OPTIONAL MATCH (e)-[t:TRIGGERED_BY]->(cause:Note)
RETURN e, c, n, t, cause;
