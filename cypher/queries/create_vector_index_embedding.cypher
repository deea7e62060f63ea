// Vector index over the property embedding
CREATE VECTOR INDEX vectors_embedding IF NOT EXISTS
FOR (v:NoteVectors) ON (v.embedding)
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimension,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}}
