// Remove the vector index over the notes' property embedding
DROP INDEX note_embedding IF EXISTS
