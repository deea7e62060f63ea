// Embeddings of the notes written after a known write of their namespace
MATCH (g:GraphMem {name: 'graphmem'})
MATCH (n:Note {namespace: $namespace})
WHERE n.written > $writes AND n[g.slot] IS NOT NULL
RETURN n.id AS id, n.archived AS archived, n[g.slot] AS embedding
