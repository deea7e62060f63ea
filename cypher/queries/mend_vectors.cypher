// Remove embeddings of the wrong length
MATCH (g:GraphMem {name: 'graphmem'})
UNWIND $ids AS id
MATCH (v:NoteVectors {namespace: $namespace, id: id})
SET v += CASE g.slot WHEN 'embedding' THEN {embedding: null} ELSE {embedding_alt: null} END
