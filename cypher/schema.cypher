// Schema of graphmem: identities, lookups, full text. Safe to run again.
CREATE CONSTRAINT graphmem_unique IF NOT EXISTS
FOR (g:GraphMem) REQUIRE g.name IS UNIQUE;

CREATE CONSTRAINT namespace_unique IF NOT EXISTS
FOR (s:Namespace) REQUIRE s.name IS UNIQUE;

CREATE CONSTRAINT note_unique IF NOT EXISTS
FOR (n:Note) REQUIRE (n.namespace, n.id) IS UNIQUE;

CREATE CONSTRAINT note_vectors_unique IF NOT EXISTS
FOR (v:NoteVectors) REQUIRE (v.namespace, v.id) IS UNIQUE;

CREATE CONSTRAINT source_unique IF NOT EXISTS
FOR (s:Source) REQUIRE (s.namespace, s.id) IS UNIQUE;

CREATE CONSTRAINT evolution_event_unique IF NOT EXISTS
FOR (e:EvolutionEvent) REQUIRE (e.namespace, e.id) IS UNIQUE;

CREATE CONSTRAINT related_unique IF NOT EXISTS
FOR ()-[r:RELATED]-() REQUIRE (r.namespace, r.pair) IS UNIQUE;

CREATE CONSTRAINT supersedes_unique IF NOT EXISTS
FOR ()-[r:SUPERSEDES]-() REQUIRE (r.namespace, r.pair) IS UNIQUE;

CREATE INDEX note_chain IF NOT EXISTS
FOR (n:Note) ON (n.namespace, n.source_id, n.source_position, n.id);

CREATE INDEX note_written IF NOT EXISTS
FOR (n:Note) ON (n.namespace, n.written);

CREATE INDEX evolution_event_trigger IF NOT EXISTS
FOR (e:EvolutionEvent) ON (e.namespace, e.trigger_id);

CREATE FULLTEXT INDEX note_terms IF NOT EXISTS
FOR (n:Note) ON EACH [n.terms]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}};
