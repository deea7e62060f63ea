// Notes near a vector within one namespace, filtered inside the index (Neo4j 2026.1 and later)
CYPHER 25
MATCH (v:NoteVectors)
SEARCH v IN (
  VECTOR INDEX vectors_embedding FOR $vector
  WHERE v.namespace = $namespace
  LIMIT $fetch
) SCORE AS score
RETURN v.id AS id, score
