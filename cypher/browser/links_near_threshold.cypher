// Links near the threshold
// Those a slightly different threshold of linking would have added or left out.
WITH 'default' AS namespace, 0.72 AS threshold, 0.05 AS margin
MATCH (a:Note {namespace: namespace})-[r:RELATED]->(b:Note)
WHERE threshold - margin <= r.weight <= threshold + margin
  AND NOT a.archived AND NOT b.archived
RETURN a, r, b
ORDER BY abs(r.weight - threshold), r.pair
LIMIT 40;
