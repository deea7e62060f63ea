// Notes near a vector within one namespace, filtered inside the index (Neo4j 2026.1 and later)
CYPHER 25
MATCH (n:Note)
SEARCH n IN (
  VECTOR INDEX note_embedding_alt FOR $vector
  WHERE n.namespace = $namespace
  LIMIT $fetch
) SCORE AS score
RETURN n.id AS id, score
