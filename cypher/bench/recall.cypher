// The least a recall asks: vector and full-text hits and one hop from the best, with their fields
CALL () {
  CALL db.index.vector.queryNodes('vectors_' + $slot, $k, $vector) YIELD node AS v
  MATCH (n:Note {namespace: v.namespace, id: v.id})
  RETURN collect(n) AS near
}
CALL () {
  CALL db.index.fulltext.queryNodes('note_terms', $terms, {limit: $k}) YIELD node AS n
  RETURN collect(n) AS matched
}
CALL (near, matched) {
  UNWIND near[..$expand] + matched[..$expand] AS a
  CALL (a) {
    MATCH (a)-[r:RELATED]-(n:Note)
    RETURN n ORDER BY r.weight DESC LIMIT $fanout
  }
  RETURN collect(n) AS beside
}
UNWIND near + matched + beside AS n
WITH DISTINCT n
OPTIONAL MATCH (v:NoteVectors {namespace: n.namespace, id: n.id})
RETURN collect({
  note: n {
    .id, .content, .role, .author, .source_id, .source_revision, .source_position, .source_start,
    .source_end, created_at: n.created_at.epochMillis * 1000 + n.created_at.microsecond % 1000,
    .keywords, .tags, .context, .importance_score, .metadata,
    last_accessed_at:
      n.last_accessed_at.epochMillis * 1000 + n.last_accessed_at.microsecond % 1000,
    .feedback, .recall_count, .revision, .content_revision, .archived, .given
  },
  terms: n.terms[..n.term_count],
  odd_terms: n.odd_terms,
  cosine: 2 * vector.similarity.cosine(v[$slot], $vector) - 1
}) AS found
