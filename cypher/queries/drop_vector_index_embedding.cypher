// Remove the vector index over the property embedding
DROP INDEX vectors_embedding IF EXISTS
