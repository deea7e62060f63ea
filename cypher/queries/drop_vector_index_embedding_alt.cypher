// Remove the vector index over the notes' property embedding_alt
DROP INDEX note_embedding_alt IF EXISTS
