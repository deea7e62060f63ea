// Candidates of a recall: seeds by meaning and by words, expanded over the graph, in one read
MATCH (g:GraphMem {name: 'graphmem'})
OPTIONAL MATCH (s:Namespace {name: $namespace})
// How many notes may be counted and how long they are; unfiltered, the namespace knows.
CALL () {
  WITH 1 AS one
  WHERE NOT $unfiltered
  MATCH (n:Note {namespace: $namespace})
  WHERE n.id IS NOT NULL
    AND ($archived OR NOT n.archived)
    AND ($sources IS NULL OR n.source_id IN $sources)
    AND ($authors IS NULL OR n.author IN $authors)
    AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
    AND ($since IS NULL OR n.created_at >= $since)
    AND ($until IS NULL OR n.created_at < $until)
  RETURN count(n) AS counted, coalesce(sum(n.term_count), 0) AS summed
}
WITH g, s,
     CASE WHEN $unfiltered THEN coalesce(s.notes, 0) ELSE counted END AS note_count,
     CASE WHEN $unfiltered THEN coalesce(s.terms, 0) ELSE summed END AS term_total
CALL () {
  MATCH (n:Note)
  RETURN count(n) AS stored
}
// An index that knows no namespace: fetch more by the share of it that may be seen.
WITH g, s, note_count, term_total,
     CASE
       WHEN note_count = 0 THEN 0
       WHEN $filtered_index THEN $fetch
       ELSE 1 + toInteger($fetch * toFloat(stored) / note_count)
     END AS fetch

// Vector seeds, from the index when that is cheaper than scoring every note ...
CALL (g, note_count, fetch) {
  WITH g, note_count, fetch
  WHERE g.slot = $index_slot AND note_count > $scan_limit AND fetch < note_count
  CALL db.index.vector.queryNodes('vectors_' + g.slot, fetch, $vector) YIELD node AS v, score
  WITH v, score
  WHERE v.namespace = $namespace
  MATCH (n:Note {namespace: $namespace, id: v.id})
  WHERE n.id IS NOT NULL
    AND ($archived OR NOT n.archived)
    AND ($sources IS NULL OR n.source_id IN $sources)
    AND ($authors IS NULL OR n.author IN $authors)
    AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
    AND ($since IS NULL OR n.created_at >= $since)
    AND ($until IS NULL OR n.created_at < $until)
  WITH n, 2 * score - 1 AS cosine
  ORDER BY cosine DESC, n.id
  LIMIT $vector_seeds
  RETURN collect(n) AS indexed
}
// ... or when others filled the index's answer. What is made new before the condition keeps
// the planner from reading every note first.
CALL (g, note_count, indexed) {
  WITH g, note_count, indexed, 1 AS one
  WHERE note_count > 0 AND size(indexed) < $vector_seeds
  MATCH (n:Note {namespace: $namespace})
  WHERE n.id IS NOT NULL
    AND ($archived OR NOT n.archived)
    AND ($sources IS NULL OR n.source_id IN $sources)
    AND ($authors IS NULL OR n.author IN $authors)
    AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
    AND ($since IS NULL OR n.created_at >= $since)
    AND ($until IS NULL OR n.created_at < $until)
  MATCH (v:NoteVectors {namespace: $namespace, id: n.id})
  WITH n, v[g.slot] AS embedding
  WHERE embedding IS NOT NULL AND size(embedding) = size($vector)
  WITH n, 2 * vector.similarity.cosine(embedding, $vector) - 1 AS cosine
  ORDER BY cosine DESC, n.id
  LIMIT $vector_seeds
  RETURN collect(n) AS scanned
}
WITH g, s, note_count, term_total,
     CASE WHEN size(indexed) < $vector_seeds THEN scanned ELSE indexed END AS near

// Lexical seeds: one lookup a term, weighed by how rare the term is. A row without a note
// carries each term's frequency past the sum over notes; long lists are not kept.
CALL (note_count) {
  UNWIND range(0, size($queries) - 1) AS term
  CALL (term) {
    CALL db.index.fulltext.queryNodes('note_terms', $queries[term], $lookup) YIELD node AS n
    WITH n
    WHERE ($archived OR NOT n.archived)
      AND ($sources IS NULL OR n.source_id IN $sources)
      AND ($authors IS NULL OR n.author IN $authors)
      AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
      AND ($since IS NULL OR n.created_at >= $since)
      AND ($until IS NULL OR n.created_at < $until)
    WITH n LIMIT $term_cap + 1
    RETURN collect(n) AS found
  }
  WITH note_count, term, found, size(found) AS frequency
  WITH term, frequency,
       toInteger(round(1e6 * log(1.0 + (note_count - frequency + 0.5) / (frequency + 0.5))))
         AS weight,
       [null] + CASE WHEN frequency > $term_cap THEN [] ELSE found END AS found
  UNWIND found AS n
  WITH n, sum(weight) AS score,
       collect(CASE WHEN n IS NULL THEN {term: term, frequency: frequency} END) AS counts
  ORDER BY n IS NOT NULL, score DESC, n.term_count, n.id
  LIMIT $lexical_seeds + 1
  RETURN collect(n) AS rare, coalesce(head(collect(counts)), []) AS frequencies
}
// When every term is common, the rarest is used all the same.
CALL (frequencies) {
  WITH [count IN frequencies WHERE count.frequency > 0] AS present
  WHERE all(count IN present WHERE count.frequency > $term_cap)
  UNWIND present AS count
  WITH count.term AS term
  CALL (term) {
    CALL db.index.fulltext.queryNodes('note_terms', $queries[term]) YIELD node AS n
    WITH n
    WHERE ($archived OR NOT n.archived)
      AND ($sources IS NULL OR n.source_id IN $sources)
      AND ($authors IS NULL OR n.author IN $authors)
      AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
      AND ($since IS NULL OR n.created_at >= $since)
      AND ($until IS NULL OR n.created_at < $until)
    RETURN count(n) AS frequency
  }
  WITH term ORDER BY frequency, term LIMIT 1
  CALL db.index.fulltext.queryNodes('note_terms', $queries[term]) YIELD node AS n
  WITH n
  WHERE ($archived OR NOT n.archived)
    AND ($sources IS NULL OR n.source_id IN $sources)
    AND ($authors IS NULL OR n.author IN $authors)
    AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
    AND ($since IS NULL OR n.created_at >= $since)
    AND ($until IS NULL OR n.created_at < $until)
  WITH n ORDER BY n.term_count, n.id LIMIT $lexical_seeds
  RETURN collect(n) AS common
}
WITH g, s, note_count, term_total, near, rare + common AS matched, frequencies

// Expansion from the best seeds: RELATED, FOLLOWS both ways, and the source's weightiest.
CALL (near, matched) {
  UNWIND near[..$expand] + matched[..$expand] AS n
  RETURN collect(DISTINCT n) AS starts
}
WITH g, s, note_count, term_total, near, matched, frequencies, starts,
     reduce(walk = {walked: starts, reached: starts}, hop IN range(1, $hops) | {
       walked: walk.reached,
       reached: walk.reached + COLLECT {
       UNWIND walk.reached AS a
       CALL (a) {
         MATCH (a)-[r:RELATED]-(n:Note)
         WHERE r.weight >= $min_weight
           AND ($archived OR NOT n.archived)
           AND ($sources IS NULL OR n.source_id IN $sources)
           AND ($authors IS NULL OR n.author IN $authors)
           AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
           AND ($since IS NULL OR n.created_at >= $since)
           AND ($until IS NULL OR n.created_at < $until)
         RETURN n ORDER BY r.weight DESC, n.id LIMIT $fanout
       }
       RETURN DISTINCT n
     }}) AS along_related,
     reduce(reached = starts, step IN range(1, $window) | reached + COLLECT {
       UNWIND reached AS a
       MATCH (a) ((x)-[:FOLLOWS]->(h:Note) WHERE NOT coalesce(
         ($archived OR NOT h.archived)
         AND ($sources IS NULL OR h.source_id IN $sources)
         AND ($authors IS NULL OR h.author IN $authors)
         AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN h.tags))
         AND ($since IS NULL OR h.created_at >= $since)
         AND ($until IS NULL OR h.created_at < $until)
    , false))* (y)-[:FOLLOWS]->(n:Note)
       WHERE ($archived OR NOT n.archived)
         AND ($sources IS NULL OR n.source_id IN $sources)
         AND ($authors IS NULL OR n.author IN $authors)
         AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
         AND ($since IS NULL OR n.created_at >= $since)
         AND ($until IS NULL OR n.created_at < $until)
       RETURN DISTINCT n
     }) AS before,
     reduce(reached = starts, step IN range(1, $window) | reached + COLLECT {
       UNWIND reached AS a
       MATCH (a) ((x)<-[:FOLLOWS]-(h:Note) WHERE NOT coalesce(
         ($archived OR NOT h.archived)
         AND ($sources IS NULL OR h.source_id IN $sources)
         AND ($authors IS NULL OR h.author IN $authors)
         AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN h.tags))
         AND ($since IS NULL OR h.created_at >= $since)
         AND ($until IS NULL OR h.created_at < $until)
    , false))* (y)<-[:FOLLOWS]-(n:Note)
       WHERE ($archived OR NOT n.archived)
         AND ($sources IS NULL OR n.source_id IN $sources)
         AND ($authors IS NULL OR n.author IN $authors)
         AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
         AND ($since IS NULL OR n.created_at >= $since)
         AND ($until IS NULL OR n.created_at < $until)
       RETURN DISTINCT n
     }) AS after
CALL (starts) {
  UNWIND starts AS a
  WITH DISTINCT a.source_id AS source_id
  WHERE source_id IS NOT NULL
  CALL (source_id) {
    MATCH (:Source {namespace: $namespace, id: source_id})<-[:FROM]-(n:Note)
    WHERE ($archived OR NOT n.archived)
      AND ($sources IS NULL OR n.source_id IN $sources)
      AND ($authors IS NULL OR n.author IN $authors)
      AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
      AND ($since IS NULL OR n.created_at >= $since)
      AND ($until IS NULL OR n.created_at < $until)
    RETURN n ORDER BY n.importance_score DESC, n.id LIMIT $source_notes
  }
  RETURN collect(n) AS of_source
}
CALL (near, matched, along_related, before, after, of_source) {
  UNWIND near + matched + along_related.reached + before + after + of_source AS n
  RETURN collect(DISTINCT n) AS candidates
}
// The links a hop could go along, and what supersedes what; an end need not be a candidate.
CALL (along_related, candidates) {
  CALL (along_related, candidates) {
    UNWIND along_related.walked AS a
    MATCH (a)-[r:RELATED]-()
    WHERE r.weight >= $min_weight
    RETURN DISTINCT r
    UNION ALL
    UNWIND candidates AS a
    MATCH (a)-[r:SUPERSEDES]->()
    RETURN r
  }
  RETURN collect([
    startNode(r).id, endNode(r).id, r.weight, r.cosine,
    r.created_at.epochMillis * 1000 + r.created_at.microsecond % 1000, r.retrievals,
    r.last_retrieved_at.epochMillis * 1000 + r.last_retrieved_at.microsecond % 1000,
    CASE WHEN r.reason IS NOT NULL THEN [startNode(r).id, r.reason, r.before, r.after] END
  ]) AS links
}
// The note each candidate follows, over those that are hidden; it need not be a candidate.
CALL (candidates) {
  UNWIND candidates AS a
  MATCH (a) ((x)-[:FOLLOWS]->(h:Note) WHERE NOT coalesce(
    ($archived OR NOT h.archived)
    AND ($sources IS NULL OR h.source_id IN $sources)
    AND ($authors IS NULL OR h.author IN $authors)
    AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN h.tags))
    AND ($since IS NULL OR h.created_at >= $since)
    AND ($until IS NULL OR h.created_at < $until)
    , false))* (y)-[:FOLLOWS]->(n:Note)
  WHERE ($archived OR NOT n.archived)
    AND ($sources IS NULL OR n.source_id IN $sources)
    AND ($authors IS NULL OR n.author IN $authors)
    AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags))
    AND ($since IS NULL OR n.created_at >= $since)
    AND ($until IS NULL OR n.created_at < $until)
  RETURN collect([a.id, n.id]) AS chained
}
CALL (g, candidates) {
  UNWIND candidates AS n
  OPTIONAL MATCH (v:NoteVectors {namespace: $namespace, id: n.id})
  WITH g, n, v, v[g.slot] AS embedding
  RETURN collect([
    n.id, n.content, n.role, n.author, n.source_id, n.source_revision, n.source_position,
    n.source_start, n.source_end,
    n.created_at.epochMillis * 1000 + n.created_at.microsecond % 1000, n.keywords, n.tags,
    n.context, n.importance_score, n.metadata,
    n.last_accessed_at.epochMillis * 1000 + n.last_accessed_at.microsecond % 1000, n.feedback,
    n.recall_count, n.revision, n.content_revision, n.archived, n.given,
    n.terms[..n.term_count], n.odd_terms,
    CASE WHEN size(embedding) = size($vector)
         THEN 2 * vector.similarity.cosine(embedding, $vector) - 1 END,
    CASE g.slot WHEN 'embedding' THEN v.sentences ELSE v.sentences_alt END
  ]) AS found
}
RETURN note_count, term_total, frequencies, g.model_id AS model_id, g.dimension AS dimension,
       [n IN near | n.id] AS near, [n IN matched | n.id] AS matched, links, chained, found
