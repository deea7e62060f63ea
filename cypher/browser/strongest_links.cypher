// Strongest links
// The fifty similar pairs of the greatest weight.
WITH 'default' AS namespace
MATCH (a:Note {namespace: namespace})-[r:RELATED]->(b:Note)
WHERE NOT a.archived AND NOT b.archived
RETURN a, r, b
ORDER BY r.weight DESC, r.pair
LIMIT 50;
