// Vector index over embedding that filters by namespace (Neo4j 2026.1 and later)
CYPHER 25
CREATE VECTOR INDEX vectors_embedding IF NOT EXISTS
FOR (v:NoteVectors) ON (v.embedding)
WITH [v.namespace]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimension,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}}
