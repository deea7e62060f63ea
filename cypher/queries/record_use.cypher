// Count one recall on the notes it returned and the links it walked
CALL () {
  UNWIND $ids AS id
  MATCH (n:Note {namespace: $namespace, id: id})
  WHERE ($sources IS NULL OR n.source_id IN $sources)
    AND ($authors IS NULL OR n.author IN $authors)
  SET n.recall_count = n.recall_count + 1,
      n.last_accessed_at = CASE WHEN n.last_accessed_at < $at THEN $at ELSE n.last_accessed_at END
  RETURN count(*) AS notes
}
CALL () {
  UNWIND $pairs AS pair
  MATCH (n:Note)-[r:RELATED {namespace: $namespace, pair: pair}]->(m:Note)
  WHERE ($sources IS NULL OR (n.source_id IN $sources AND m.source_id IN $sources))
    AND ($authors IS NULL OR (n.author IN $authors AND m.author IN $authors))
  SET r.retrievals = r.retrievals + 1,
      r.last_retrieved_at =
        CASE WHEN r.last_retrieved_at >= $at THEN r.last_retrieved_at ELSE $at END
  RETURN count(*) AS links
}
RETURN notes, links
