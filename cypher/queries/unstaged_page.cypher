// A page of notes whose new embedding is missing or of an older revision
MATCH (n:Note {namespace: $namespace})
WHERE n.id > $after
OPTIONAL MATCH (v:NoteVectors {namespace: $namespace, id: n.id})
WITH n, v
WHERE v.staged IS NULL OR v.staged <> $token + '@' + toString(n.revision)
WITH n ORDER BY n.id LIMIT $page
RETURN n {
  .id, .content, .role, .author, .source_id, .source_revision, .source_position, .source_start,
  .source_end, created_at: n.created_at.epochMillis * 1000 + n.created_at.microsecond % 1000,
  .keywords, .tags, .context, .importance_score, .metadata,
  last_accessed_at: n.last_accessed_at.epochMillis * 1000 + n.last_accessed_at.microsecond % 1000,
  .feedback, .recall_count, .revision, .content_revision, .archived, .given
} AS note
ORDER BY note.id
