// Embeddings of the notes written after a known write of their namespace
MATCH (g:GraphMem {name: 'graphmem'})
MATCH (n:Note {namespace: $namespace})
WHERE n.written > $writes
MATCH (v:NoteVectors {namespace: $namespace, id: n.id})
WHERE v[g.slot] IS NOT NULL
RETURN n.id AS id, n.archived AS archived, v[g.slot] AS embedding
