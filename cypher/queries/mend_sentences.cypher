// Remove sentences that make no whole vectors
MATCH (g:GraphMem {name: 'graphmem'})
UNWIND $ids AS id
MATCH (v:NoteVectors {namespace: $namespace, id: id})
SET v += CASE g.slot WHEN 'embedding' THEN {sentences: null} ELSE {sentences_alt: null} END
