// Strongest links
MATCH (a:Note)-[r:RELATED]->(b:Note)
WHERE NOT a.archived AND NOT b.archived
RETURN a, r, b
ORDER BY r.weight DESC
LIMIT 50;
