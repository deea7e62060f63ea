// Version 3: a style can tell important notes and strong links from others
MATCH (n:Note)
WHERE n.namespace IS NOT NULL AND n.importance_score IS NOT NULL
CALL (n) {
  FOREACH (_ IN CASE WHEN n.importance_score >= 0.4 THEN [1] ELSE [] END | SET n:Important)
  FOREACH (_ IN CASE WHEN n.importance_score < 0.15 THEN [1] ELSE [] END | SET n:Minor)
  WITH n
  MATCH (n)-[r:RELATED]->(:Note)
  SET r.strength =
    CASE WHEN r.weight >= 0.85 THEN 'strong' WHEN r.weight >= 0.72 THEN 'medium' ELSE 'weak' END
} IN TRANSACTIONS OF 5000 ROWS
