// Vector index over the property embedding_alt
CREATE VECTOR INDEX vectors_embedding_alt IF NOT EXISTS
FOR (v:NoteVectors) ON (v.embedding_alt)
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimension,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}}
