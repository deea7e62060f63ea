// Version 6: a note's vectors lie on a node of their own, where no click on the note lists them
DROP INDEX note_embedding IF EXISTS;

DROP INDEX note_embedding_alt IF EXISTS;

MATCH (n:Note)
WHERE n.namespace IS NOT NULL AND n.id IS NOT NULL AND n.revision IS NOT NULL
  AND (n.embedding IS NOT NULL OR n.embedding_alt IS NOT NULL OR n.sentences IS NOT NULL
    OR n.sentences_alt IS NOT NULL OR n.staged IS NOT NULL)
CALL (n) {
  MERGE (v:NoteVectors {namespace: n.namespace, id: n.id})
  // Found anew, now that its vectors are held: another client may have moved them meanwhile, and
  // after a migration that was cut short an earlier version may have written newer ones.
  WITH v
  MATCH (m:Note {namespace: v.namespace, id: v.id})
  SET v.embedding = coalesce(m.embedding, v.embedding),
      v.embedding_alt = coalesce(m.embedding_alt, v.embedding_alt),
      v.sentences = coalesce(m.sentences, v.sentences),
      v.sentences_alt = coalesce(m.sentences_alt, v.sentences_alt),
      v.staged = coalesce(m.staged, v.staged)
  REMOVE m.embedding, m.embedding_alt, m.sentences, m.sentences_alt, m.staged
} IN TRANSACTIONS OF 1000 ROWS;
