// Notes whose parts do not agree
MATCH (g:GraphMem {name: 'graphmem'})
MATCH (n:Note {namespace: $namespace})
WHERE n.id IS NOT NULL
  AND ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
OPTIONAL MATCH (v:NoteVectors {namespace: $namespace, id: n.id})
WITH n,
     n.terms IS NULL OR n.term_count IS NULL OR size(n.terms) <> n.term_count + 1
       OR n.terms[-1] <> CASE WHEN n.archived THEN $archive_owner ELSE $current_owner END
       AS terms_differ,
     COLLECT { MATCH (n)-[:FROM]->(s:Source) RETURN s.id }
       <> CASE WHEN n.source_id IS NULL THEN [] ELSE [n.source_id] END AS source_differs,
     n.embedding IS NOT NULL OR n.embedding_alt IS NOT NULL OR n.sentences IS NOT NULL
       OR n.sentences_alt IS NOT NULL AS vectors_misplaced,
     size(v[g.slot]) <> g.dimension AS vector_differs,
     size(CASE g.slot WHEN 'embedding' THEN v.sentences ELSE v.sentences_alt END) % g.dimension
       <> 0 AS sentences_differ
WITH n, terms_differ, source_differs, vectors_misplaced,
     coalesce(vector_differs, false) AS vector_differs,
     coalesce(sentences_differ, false) AS sentences_differ
WHERE terms_differ OR source_differs OR vectors_misplaced OR vector_differs OR sentences_differ
RETURN n.id AS id, n.source_id AS source_id, terms_differ, source_differs, vectors_misplaced,
       vector_differs, sentences_differ
ORDER BY id
