// Vector index over the notes' property embedding_alt
CREATE VECTOR INDEX note_embedding_alt IF NOT EXISTS
FOR (n:Note) ON (n.embedding_alt)
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimension,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}}
