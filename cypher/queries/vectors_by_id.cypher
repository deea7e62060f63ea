// Embeddings of notes
MATCH (g:GraphMem {name: 'graphmem'})
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
WHERE ($sources IS NULL OR n.source_id IN $sources)
  AND ($authors IS NULL OR n.author IN $authors)
MATCH (v:NoteVectors {namespace: $namespace, id: n.id})
WHERE v[g.slot] IS NOT NULL
RETURN n.id AS id, v[g.slot] AS embedding
