// Remove sentences that make no whole vectors
MATCH (g:GraphMem {name: 'graphmem'})
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
SET n += CASE g.slot WHEN 'embedding' THEN {sentences: null} ELSE {sentences_alt: null} END
