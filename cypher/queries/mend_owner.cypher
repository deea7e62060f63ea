// Give notes the term of their namespace again
UNWIND $ids AS id
MATCH (n:Note {namespace: $namespace, id: id})
WHERE n.terms IS NOT NULL
WITH n, [
       term IN n.terms
       WHERE NOT term STARTS WITH $current_mark AND NOT term STARTS WITH $archive_mark
     ] AS tokens
SET n.terms = tokens + [CASE WHEN n.archived THEN $archive_owner ELSE $current_owner END],
    n.term_count = size(tokens)
