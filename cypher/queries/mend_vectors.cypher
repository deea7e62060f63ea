// Remove embeddings of the wrong length
MATCH (g:GraphMem {name: 'graphmem'})
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
SET n += CASE g.slot WHEN 'embedding' THEN {embedding: null} ELSE {embedding_alt: null} END
