// Notes by id
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
WHERE ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
RETURN n {
  .id, .content, .role, .author, .source_id, .source_revision, .source_position, .source_start,
  .source_end, created_at: n.created_at.epochMillis * 1000 + n.created_at.microsecond % 1000,
  .keywords, .tags, .context, .importance_score, .metadata,
  last_accessed_at: n.last_accessed_at.epochMillis * 1000 + n.last_accessed_at.microsecond % 1000,
  .feedback, .recall_count, .revision, .content_revision, .archived, .given
} AS note
