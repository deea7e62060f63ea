// Counts of what a scope may see
CALL () {
  MATCH (n:Note {namespace: $namespace})
  WHERE n.id IS NOT NULL
    AND ($sources IS NULL OR n.source_id IN $sources)
    AND ($authors IS NULL OR n.author IN $authors)
  RETURN count(n) AS notes, count(CASE WHEN n.archived THEN 1 END) AS archived,
         count(DISTINCT n.source_id) AS sources,
         // A chain of k notes has k - 1 links.
         count(n.source_position)
           - count(DISTINCT CASE WHEN n.source_position IS NOT NULL THEN n.source_id END)
           AS follows, coalesce(sum(n.recall_count), 0) AS recalls,
         coalesce(sum(COUNT { (n)<-[:CHANGED]-(:EvolutionEvent) }), 0) AS events
}
CALL () {
  MATCH (n:Note {namespace: $namespace})-[r:RELATED]->(m:Note)
  WHERE n.id IS NOT NULL
    AND ($sources IS NULL OR (n.source_id IN $sources AND m.source_id IN $sources))
    AND ($authors IS NULL OR (n.author IN $authors AND m.author IN $authors))
  RETURN count(r) AS related
}
CALL () {
  MATCH (n:Note {namespace: $namespace})-[r:SUPERSEDES]->(m:Note)
  WHERE n.id IS NOT NULL
    AND ($sources IS NULL OR (n.source_id IN $sources AND m.source_id IN $sources))
    AND ($authors IS NULL OR (n.author IN $authors AND m.author IN $authors))
  RETURN count(r) AS superseding
}
OPTIONAL MATCH (g:GraphMem {name: 'graphmem'})
RETURN notes, archived, sources, recalls, events, related, superseding, follows,
       g.schema_version AS schema_version, g.model_id AS model_id, g.dimension AS dimension
