// Store notes and their vectors; counters of use are taken from the plan for new notes only
UNWIND $rows AS row
MERGE (n:Note {namespace: $namespace, id: row.id})
ON CREATE SET n += row.first.properties,
  n.last_accessed_at = datetime(row.first.times.last_accessed_at)
SET n += row.properties,
    n.created_at = datetime(row.times.created_at),
    n.last_accessed_at = coalesce(datetime(row.times.last_accessed_at), n.last_accessed_at),
    n.written = $writes
FOREACH (_ IN CASE WHEN n.importance_score >= 0.4 THEN [1] ELSE [] END | SET n:Important)
FOREACH (_ IN CASE WHEN n:Important AND n.importance_score < 0.4 THEN [1] ELSE [] END |
  REMOVE n:Important)
FOREACH (_ IN CASE WHEN n.importance_score < 0.15 THEN [1] ELSE [] END | SET n:Minor)
FOREACH (_ IN CASE WHEN n:Minor AND n.importance_score >= 0.15 THEN [1] ELSE [] END |
  REMOVE n:Minor)
FOREACH (vectors IN CASE WHEN row.vectors IS NULL THEN [] ELSE [row.vectors] END |
  MERGE (v:NoteVectors {namespace: $namespace, id: row.id})
  SET v += vectors)
