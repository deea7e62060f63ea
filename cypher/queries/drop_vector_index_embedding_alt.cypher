// Remove the vector index over the property embedding_alt
DROP INDEX vectors_embedding_alt IF EXISTS
