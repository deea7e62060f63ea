// Notes near each vector, from the vector index
MATCH (g:GraphMem {name: 'graphmem'})
UNWIND range(0, size($vectors) - 1) AS row
CALL (g, row) {
  CALL db.index.vector.queryNodes('vectors_' + g.slot, $fetch, $vectors[row]) YIELD node AS v, score
  WITH v, score
  WHERE v.namespace = $namespace
  MATCH (n:Note {namespace: $namespace, id: v.id})
  WHERE n.id IS NOT NULL
  AND ($archived OR NOT n.archived)
  AND ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
  AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
  AND ($since IS NULL OR n.created_at >= $since)
  AND ($until IS NULL OR n.created_at < $until)
  RETURN n.id AS id, 2 * score - 1 AS cosine
  ORDER BY cosine DESC, id
  LIMIT $limit
}
RETURN row, id, cosine
ORDER BY row, cosine DESC, id
