// Vector index over embedding_alt that filters by namespace (Neo4j 2026.1 and later)
CYPHER 25
CREATE VECTOR INDEX vectors_embedding_alt IF NOT EXISTS
FOR (v:NoteVectors) ON (v.embedding_alt)
WITH [v.namespace]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimension,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}}
