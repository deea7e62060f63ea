// Store notes; counters of use are taken from the plan for new notes only
UNWIND $rows AS row
MERGE (n:Note {namespace: $namespace, id: row.id})
ON CREATE SET n += row.first
SET n += row.properties, n.written = $writes
FOREACH (_ IN CASE WHEN n.importance_score >= 0.4 THEN [1] ELSE [] END | SET n:Important)
FOREACH (_ IN CASE WHEN n:Important AND n.importance_score < 0.4 THEN [1] ELSE [] END |
  REMOVE n:Important)
FOREACH (_ IN CASE WHEN n.importance_score < 0.15 THEN [1] ELSE [] END | SET n:Minor)
FOREACH (_ IN CASE WHEN n:Minor AND n.importance_score >= 0.15 THEN [1] ELSE [] END |
  REMOVE n:Minor)
