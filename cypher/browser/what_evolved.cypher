// What evolved and why: newest changes with the note that caused them
MATCH (e:EvolutionEvent)-[c:CHANGED]->(n:Note)
OPTIONAL MATCH (e)-[t:TRIGGERED_BY]->(cause:Note)
RETURN e, c, n, t, cause
ORDER BY e.at DESC
LIMIT 25;
