// Move vectors that lie on notes, as an earlier version wrote them, to nodes of their own
MATCH (s:Namespace {name: $namespace})
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
MERGE (v:NoteVectors {namespace: $namespace, id: id})
SET v.embedding = coalesce(n.embedding, v.embedding),
    v.embedding_alt = coalesce(n.embedding_alt, v.embedding_alt),
    v.sentences = coalesce(n.sentences, v.sentences),
    v.sentences_alt = coalesce(n.sentences_alt, v.sentences_alt),
    n.written = s.writes
REMOVE n.embedding, n.embedding_alt, n.sentences, n.sentences_alt
