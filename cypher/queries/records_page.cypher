// A page of notes with terms, embeddings and sentences, in order of id
MATCH (g:GraphMem {name: 'graphmem'})
MATCH (n:Note {namespace: $namespace})
WHERE n.id > $after
  AND ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
WITH g, n ORDER BY n.id LIMIT $page
OPTIONAL MATCH (v:NoteVectors {namespace: $namespace, id: n.id})
RETURN n {
  .id, .content, .role, .author, .source_id, .source_revision, .source_position, .source_start,
  .source_end, created_at: n.created_at.epochMillis * 1000 + n.created_at.microsecond % 1000,
  .keywords, .tags, .context, .importance_score, .metadata,
  last_accessed_at: n.last_accessed_at.epochMillis * 1000 + n.last_accessed_at.microsecond % 1000,
  .feedback, .recall_count, .revision, .content_revision, .archived, .given
} AS note, n.terms[..n.term_count] AS terms, n.odd_terms AS odd_terms, v[g.slot] AS embedding,
       CASE g.slot WHEN 'embedding' THEN v.sentences ELSE v.sentences_alt END AS sentences,
       g.dimension AS dimension
ORDER BY note.id
