// Version 6: a note's vectors lie on a node of their own, where no click on the note lists them
DROP INDEX note_embedding IF EXISTS;

DROP INDEX note_embedding_alt IF EXISTS;

MATCH (n:Note)
WHERE n.namespace IS NOT NULL AND n.id IS NOT NULL AND n.revision IS NOT NULL
  AND (n.embedding IS NOT NULL OR n.embedding_alt IS NOT NULL OR n.sentences IS NOT NULL
    OR n.sentences_alt IS NOT NULL OR n.staged IS NOT NULL)
CALL (n) {
  MERGE (v:NoteVectors {namespace: n.namespace, id: n.id})
  // What another client has moved already is not read a second time.
  ON CREATE SET v.embedding = n.embedding, v.embedding_alt = n.embedding_alt,
    v.sentences = n.sentences, v.sentences_alt = n.sentences_alt, v.staged = n.staged
  REMOVE n.embedding, n.embedding_alt, n.sentences, n.sentences_alt, n.staged
} IN TRANSACTIONS OF 1000 ROWS;
