// Bare notes, without sources, links or counters: what any load has to pay for
UNWIND $rows AS row
CREATE (n:Note:NoteVectors)
SET n = row
